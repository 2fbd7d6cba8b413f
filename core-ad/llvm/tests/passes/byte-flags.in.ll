; Conditions that are kept: as bytes.
define void @diffef(ptr %cache, ptr %x, i64 %i, double %y) {
entry:
  %place = getelementptr inbounds i1, ptr %cache, i64 %i
  %is.less = fcmp olt double %y, 1.000000e+00
  store i1 %is.less, ptr %place, align 1
  %again = load i1, ptr %place, align 1
  %v = select i1 %again, double %y, double 0.000000e+00
  store double %v, ptr %x, align 8
  ret void
}
