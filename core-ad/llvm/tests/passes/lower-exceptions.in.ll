; @checked throws to @ffgrad.wrap's handler; @fail builds what leaves the wrapper.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

@_ZTIi = external constant ptr
@text = internal constant [4 x i8] c"bad\00"

declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare i32 @llvm.eh.typeid.for.p0(ptr)
declare i32 @__gxx_personality_v0(...)
declare i32 @puts(ptr)
declare void @abort() noreturn

define internal double @checked(double %u) {
  %low = fcmp olt double %u, 1.000000e-01
  br i1 %low, label %throw, label %good
throw:
  %p = call ptr @__cxa_allocate_exception(i64 4)
  store i32 1, ptr %p
  call void @__cxa_throw(ptr %p, ptr @_ZTIi, ptr null)
  unreachable
good:
  %square = fmul double %u, %u
  ret double %square
}

define void @ffgrad.wrap(ptr %x, ptr %y) personality ptr @__gxx_personality_v0 {
  %v = load double, ptr %x
  %wrong = fcmp uno double %v, 0.000000e+00
  br i1 %wrong, label %fail, label %try
fail:
  %said = call i32 @puts(ptr @text)
  call void @abort()
  unreachable
try:
  %c = invoke double @checked(double %v) to label %done unwind label %pad
pad:
  %lp = landingpad { ptr, i32 } catch ptr @_ZTIi
  %selector = extractvalue { ptr, i32 } %lp, 1
  %wanted = call i32 @llvm.eh.typeid.for.p0(ptr @_ZTIi)
  %is = icmp eq i32 %selector, %wanted
  br i1 %is, label %handler, label %other
handler:
  %raised = extractvalue { ptr, i32 } %lp, 0
  %object = call ptr @__cxa_begin_catch(ptr %raised)
  %code = load i32, ptr %object
  call void @__cxa_end_catch()
  %number = sitofp i32 %code to double
  br label %done
other:
  resume { ptr, i32 } %lp
done:
  %result = phi double [ %c, %try ], [ %number, %handler ]
  store double %result, ptr %y
  ret void
}
