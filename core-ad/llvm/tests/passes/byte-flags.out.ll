define void @diffef(ptr %cache, ptr %x, i64 %i, double %y) {
entry:
  %place = getelementptr inbounds i1, ptr %cache, i64 %i
  %is.less = fcmp olt double %y, 1.000000e+00
  %0 = zext i1 %is.less to i8
  store i8 %0, ptr %place, align 1
  %1 = load i8, ptr %place, align 1
  %2 = trunc i8 %1 to i1
  %v = select i1 %2, double %y, double 0.000000e+00
  store double %v, ptr %x, align 8
  ret void
}
