target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

@ffgrad.offset.134217729 = external constant i64

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #0

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fmuladd.f64(double, double, double) #1

; Function Attrs: memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #2

; Function Attrs: nofree noinline nosync nounwind willreturn
define internal double @ffgrad.same.1(double %given) #3 {
  call void @ffgrad.edge(i32 134217729)
  %zero = load double, ptr @ffgrad.offset.134217729, align 8
  %same = fsub double %given, %zero
  ret double %same
}

; Function Attrs: nofree noinline nounwind willreturn memory(none)
define internal { double, double } @turn(double %x) #4 {
  %square = fmul double %x, %x
  %first = insertvalue { double, double } poison, double %x, 0
  %both = insertvalue { double, double } %first, double %square, 1
  ret { double, double } %both
}

define internal void @ffgrad.wrap(ptr noalias readonly %x, ptr noalias readonly %node, i64 %n, ptr noalias %y, ptr noalias %s, ptr noalias %z) {
entry:
  %sum2 = alloca double, align 8
  %second = alloca [4 x double], align 16
  %some = icmp sgt i64 %n, 0
  store double 0.000000e+00, ptr %sum2, align 8, !alias.scope !0
  br i1 %some, label %iteration, label %end

iteration:                                        ; preds = %entry, %iteration
  %0 = phi i64 [ 0, %entry ], [ %1, %iteration ]
  %1 = add i64 %0, 1
  %2 = icmp eq i64 %1, %n
  call void @ffgrad.once.0(ptr %sum2, i64 %0, ptr %node, ptr %x, ptr %y), !alias.scope !0
  call void @ffgrad.iteration.0(ptr %sum2, i64 %0, ptr %node, ptr %x, ptr %y), !alias.scope !0, !noalias !0
  br i1 %2, label %total1, label %iteration

total1:                                           ; preds = %iteration
  %3 = load double, ptr %sum2, align 8, !alias.scope !0
  br label %end

end:                                              ; preds = %total1, %entry
  %4 = phi double [ 0.000000e+00, %entry ], [ %3, %total1 ]
  store double %4, ptr %s, align 8, !alias.scope !0
  br label %again

again:                                            ; preds = %multiplied, %end
  %k = phi i64 [ 0, %end ], [ %k.next, %multiplied ]
  call void @llvm.lifetime.start.p0(ptr %second), !alias.scope !0
  br label %fill

fill:                                             ; preds = %fill, %again
  %f = phi i64 [ 0, %again ], [ %f.next, %fill ]
  %f.at = getelementptr double, ptr %x, i64 %f
  %f.value = load double, ptr %f.at, align 8, !alias.scope !0
  %second.at = getelementptr double, ptr %second, i64 %f
  store double %f.value, ptr %second.at, align 8, !alias.scope !0
  %f.next = add i64 %f, 1
  %f.done = icmp eq i64 %f.next, 4
  br i1 %f.done, label %multiply, label %fill

multiply:                                         ; preds = %multiply, %fill
  %m = phi i64 [ 0, %fill ], [ %m.next, %multiply ]
  %c.at = getelementptr double, ptr %second, i64 %m
  %c = load double, ptr %c.at, align 8, !alias.scope !0
  %mirror = xor i64 %m, 3
  %d.at = getelementptr double, ptr %second, i64 %mirror
  %d = load double, ptr %d.at, align 8, !alias.scope !0
  %factor = fadd double %c, %d
  %z.at = getelementptr double, ptr %z, i64 %m
  %before = load double, ptr %z.at, align 8, !alias.scope !0
  %scaled = fmul double %before, %factor
  store double %scaled, ptr %z.at, align 8, !alias.scope !0
  %m.next = add i64 %m, 1
  %m.done = icmp eq i64 %m.next, 4
  br i1 %m.done, label %multiplied, label %multiply

multiplied:                                       ; preds = %multiply
  call void @llvm.lifetime.end.p0(ptr %second), !alias.scope !0
  %k.next = add i64 %k, 1
  %k.done = icmp sge i64 %k.next, %n
  br i1 %k.done, label %out, label %again

out:                                              ; preds = %multiplied
  ret void
}

; Function Attrs: nofree noinline nosync nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite)
declare void @ffgrad.once.0(ptr noalias captures(none), i64, ptr noalias readonly captures(none), ptr noalias readonly captures(none), ptr noalias captures(none)) #5

; Function Attrs: nofree noinline nosync nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite)
define void @ffgrad.iteration.0(ptr noalias captures(none) %0, i64 %1, ptr noalias readonly captures(none) %2, ptr noalias readonly captures(none) %3, ptr noalias captures(none) %4) #6 {
entry:
  %5 = alloca [4 x double], align 16
  br label %element

element:                                          ; preds = %entry
  %6 = load double, ptr %0, align 8
  call void @llvm.lifetime.start.p0(ptr %5)
  %first = shl i64 %1, 2
  br label %gather

gather:                                           ; preds = %gather, %element
  %i = phi i64 [ 0, %element ], [ %i.next, %gather ]
  %at = add i64 %first, %i
  %node.at = getelementptr i32, ptr %2, i64 %at
  %number = load i32, ptr %node.at, align 4
  %wide = sext i32 %number to i64
  %x.at = getelementptr double, ptr %3, i64 %wide
  %value = load double, ptr %x.at, align 8
  %local.at = getelementptr double, ptr %5, i64 %i
  store double %value, ptr %local.at, align 8
  %i.next = add i64 %i, 1
  %i.done = icmp eq i64 %i.next, 4
  br i1 %i.done, label %scatter, label %gather

scatter:                                          ; preds = %scatter, %gather
  %j = phi i64 [ 0, %gather ], [ %j.next, %scatter ]
  %part = phi double [ 0.000000e+00, %gather ], [ %part.next, %scatter ]
  %a.at = getelementptr double, ptr %5, i64 %j
  %a = load double, ptr %a.at, align 8
  %other = xor i64 %j, 1
  %b.at = getelementptr double, ptr %5, i64 %other
  %b = load double, ptr %b.at, align 8
  %product = fmul double %a, %b
  %part.next = fadd double %part, %product
  %y.at = getelementptr double, ptr %4, i64 %j
  %old = load double, ptr %y.at, align 8
  %new = call double @llvm.fmuladd.f64(double %a, double %b, double %old)
  store double %new, ptr %y.at, align 8
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, 4
  br i1 %j.done, label %scattered, label %scatter

scattered:                                        ; preds = %scatter
  %left = phi double [ %part.next, %scatter ]
  %kept = call double @ffgrad.same.1(double %left)
  %turned = call { double, double } @turn(double %kept)
  %real = extractvalue { double, double } %turned, 0
  %imaginary = extractvalue { double, double } %turned, 1
  %turned.once = fmul double %real, %imaginary
  %sum.next = fadd double %6, %turned.once
  call void @llvm.lifetime.end.p0(ptr %5)
  store double %sum.next, ptr %0, align 8
  ret void
}

attributes #0 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { memory(inaccessiblemem: readwrite) }
attributes #3 = { nofree noinline nosync nounwind willreturn }
attributes #4 = { nofree noinline nounwind willreturn memory(none) }
attributes #5 = { nofree noinline nosync nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" "enzyme_ta_norecur" }
attributes #6 = { nofree noinline nosync nounwind willreturn memory(argmem: readwrite, inaccessiblemem: readwrite) }

!0 = !{!1}
!1 = !{!"ffgrad.iterations", !2}
!2 = !{!"ffgrad.iterations"}
