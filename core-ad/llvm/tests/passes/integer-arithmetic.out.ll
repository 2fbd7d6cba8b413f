define i32 @status(ptr %s) {
  store i32 0, ptr %s, align 4
  %old = load i32, ptr %s, align 4
  %new = add i32 %old, -100, !enzyme_type !0
  store i32 %new, ptr %s, align 4
  ret i32 %new
}

define double @doubled(double %x) {
  %bits = bitcast double %x to i64
  %more = add i64 %bits, 4503599627370496
  %y = bitcast i64 %more to double
  ret double %y
}

!0 = !{!"Unknown", i32 -1, !1}
!1 = !{!"Integer"}
