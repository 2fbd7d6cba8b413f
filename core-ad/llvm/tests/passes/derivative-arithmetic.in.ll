; The user's operation has `contract`; what Enzyme added has no flags and may be reassociated.
define double @f(double %x, double %dx) {
  %y = fmul contract double %x, %x
  %a = fadd double %dx, 0.0
  %b = fadd double %a, %y
  ret double %b
}
