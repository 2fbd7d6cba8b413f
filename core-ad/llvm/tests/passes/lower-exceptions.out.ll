target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

@_ZTIi = external constant ptr
@text = internal constant [4 x i8] c"bad\00"

; Function Attrs: nofree noinline
declare ptr @__cxa_allocate_exception(i64) #0

; Function Attrs: nofree noinline
declare void @__cxa_throw(ptr, ptr, ptr) #0

declare ptr @__cxa_begin_catch(ptr)

declare void @__cxa_end_catch()

; Function Attrs: nounwind memory(none)
declare i32 @llvm.eh.typeid.for.p0(ptr) #1

declare i32 @__gxx_personality_v0(...)

declare i32 @puts(ptr)

; Function Attrs: noreturn
declare void @abort() #2

define internal double @checked(double %u) {
  %1 = alloca { i64 }, align 8
  store { i64 } zeroinitializer, ptr %1, align 8
  %2 = call double @checked.throwing(double %u, ptr %1)
  %3 = load i64, ptr %1, align 8
  %4 = icmp ne i64 %3, 0
  br i1 %4, label %5, label %7

5:                                                ; preds = %0
  %6 = inttoptr i64 %3 to ptr
  call void @ffgrad.eh.leave(ptr %6)
  unreachable

7:                                                ; preds = %0
  ret double %2
}

define void @ffgrad.wrap(ptr %x, ptr %y) personality ptr @__gxx_personality_v0 {
  %1 = alloca { i64 }, align 8
  store { i64 } zeroinitializer, ptr %1, align 8
  %v = load double, ptr %x, align 8
  %wrong = fcmp uno double %v, 0.000000e+00
  br i1 %wrong, label %2, label %try

2:                                                ; preds = %0
  call void @ffgrad.error.1()
  unreachable

try:                                              ; preds = %0
  %3 = call double @checked.throwing(double %v, ptr %1)
  %4 = load i64, ptr %1, align 8
  %5 = icmp ne i64 %4, 0
  br i1 %5, label %pad, label %done

pad:                                              ; preds = %try
  %6 = load i64, ptr %1, align 8
  %7 = inttoptr i64 %6 to ptr
  store i64 0, ptr %1, align 8
  %8 = call i32 @ffgrad.eh.match(ptr %7, ptr @_ZTIi, i32 1, i32 0)
  %9 = insertvalue { ptr, i32 } poison, ptr %7, 0
  %10 = insertvalue { ptr, i32 } %9, i32 %8, 1
  %selector = extractvalue { ptr, i32 } %10, 1
  %is = icmp eq i32 %selector, 1
  br i1 %is, label %handler, label %12

handler:                                          ; preds = %pad
  %raised = extractvalue { ptr, i32 } %10, 0
  %11 = call ptr @ffgrad.eh.begin(ptr %raised)
  %code = load i32, ptr %11, align 4
  call void @ffgrad.eh.end()
  %number = sitofp i32 %code to double
  br label %done

12:                                               ; preds = %pad
  call void @ffgrad.error.2({ ptr, i32 } %10)
  unreachable

done:                                             ; preds = %try, %handler
  %result = phi double [ %3, %try ], [ %number, %handler ]
  store double %result, ptr %y, align 8
  ret void
}

define internal double @checked.throwing(double %0, ptr %1) {
  %low = fcmp olt double %0, 1.000000e-01
  br i1 %low, label %3, label %good

3:                                                ; preds = %2
  %4 = call i64 @ffgrad.caught()
  store i64 %4, ptr %1, align 8
  br label %5

good:                                             ; preds = %2
  %square = fmul double %0, %0
  ret double %square

5:                                                ; preds = %3
  ret double 0.000000e+00
}

; Function Attrs: cold nofree noinline noreturn
declare void @ffgrad.eh.leave(ptr) #3

; Function Attrs: cold noinline noreturn
define internal void @ffgrad.error() #4 {
throw:
  %p = call ptr @__cxa_allocate_exception(i64 4)
  store i32 1, ptr %p, align 4
  call void @__cxa_throw(ptr %p, ptr @_ZTIi, ptr null)
  unreachable
}

; Function Attrs: cold noinline
define internal i64 @ffgrad.caught() #5 personality ptr @__gxx_personality_v0 {
  invoke void @ffgrad.error()
          to label %1 unwind label %2

1:                                                ; preds = %0
  unreachable

2:                                                ; preds = %0
  %3 = landingpad { ptr, i32 }
          catch ptr null
  %4 = extractvalue { ptr, i32 } %3, 0
  %5 = call ptr @ffgrad.eh.take(ptr %4)
  %6 = ptrtoint ptr %5 to i64
  ret i64 %6
}

; Function Attrs: nofree noinline
declare ptr @ffgrad.eh.take(ptr) #0

; Function Attrs: nofree noinline nounwind willreturn memory(inaccessiblemem: readwrite)
declare ptr @ffgrad.eh.begin(ptr) #6

; Function Attrs: nofree noinline nounwind willreturn
declare void @ffgrad.eh.end() #7

; Function Attrs: nofree noinline nounwind willreturn memory(inaccessiblemem: readwrite)
declare i32 @ffgrad.eh.match(ptr, ptr, i32, i32) #6

; Function Attrs: cold noinline noreturn
define internal void @ffgrad.error.1() #4 {
fail:
  %said = call i32 @puts(ptr @text)
  call void @abort()
  unreachable
}

; Function Attrs: cold noinline noreturn
define internal void @ffgrad.error.2({ ptr, i32 } %0) #4 {
other:
  %1 = extractvalue { ptr, i32 } %0, 0
  call void @ffgrad.eh.leave(ptr %1)
  unreachable
}

attributes #0 = { nofree noinline "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
attributes #1 = { nounwind memory(none) }
attributes #2 = { noreturn }
attributes #3 = { cold nofree noinline noreturn "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
attributes #4 = { cold noinline noreturn "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
attributes #5 = { cold noinline "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
attributes #6 = { nofree noinline nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
attributes #7 = { nofree noinline nounwind willreturn "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
