target triple = "x86_64-unknown-linux-gnu"

declare ptr @malloc(i64)

define double @run(ptr %list, double %value) {
  %new = call ptr @malloc(i64 24)
  %number = getelementptr i8, ptr %new, i64 16
  store double %value, ptr %number, align 8
  %1 = call ptr @ffgrad.object(ptr %new, i32 0)
  store ptr %1, ptr %list, align 8
  store ptr null, ptr %new, align 8
  %first = load ptr, ptr %list, align 8
  %2 = call ptr @ffgrad.object(ptr %first, i32 0)
  %is.end = icmp eq ptr %first, %list
  br i1 %is.end, label %end, label %read

read:                                             ; preds = %0
  %table = load ptr, ptr %2, align 8, !tbaa !0
  %slot = getelementptr ptr, ptr %table, i64 2
  %function = load ptr, ptr %slot, align 8
  %place = getelementptr i8, ptr %2, i64 16
  %found = load double, ptr %place, align 8
  %other = call double %function(ptr %2)
  %sum = fadd double %found, %other
  br label %end

end:                                              ; preds = %read, %0
  %result = phi double [ 0.000000e+00, %0 ], [ %sum, %read ]
  ret double %result
}

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare ptr @ffgrad.object(ptr, i32) #0

attributes #0 = { nofree nosync nounwind willreturn memory(none) "enzyme_ta_norecur" }

!0 = !{!1, !1, i64 0}
!1 = !{!"vtable pointer", !2, i64 0}
!2 = !{!"Simple C++ TBAA"}
