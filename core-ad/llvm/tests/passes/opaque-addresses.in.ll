; Addresses pass through the function where they are stored and loaded. Null does not, nor what is only compared, nor virtual tables.
target triple = "x86_64-unknown-linux-gnu"

declare ptr @malloc(i64)

define double @run(ptr %list, double %value) {
  %new = call ptr @malloc(i64 24)
  %number = getelementptr i8, ptr %new, i64 16
  store double %value, ptr %number
  store ptr %new, ptr %list
  store ptr null, ptr %new
  %first = load ptr, ptr %list
  %is.end = icmp eq ptr %first, %list
  br i1 %is.end, label %end, label %read

read:
  %table = load ptr, ptr %first, !tbaa !0
  %slot = getelementptr ptr, ptr %table, i64 2
  %function = load ptr, ptr %slot
  %place = getelementptr i8, ptr %first, i64 16
  %found = load double, ptr %place
  %other = call double %function(ptr %first)
  %sum = fadd double %found, %other
  br label %end

end:
  %result = phi double [ 0.0, %0 ], [ %sum, %read ]
  ret double %result
}

!0 = !{!1, !1, i64 0}
!1 = !{!"vtable pointer", !2, i64 0}
!2 = !{!"Simple C++ TBAA"}
