define double @f(double %x, double %dx) {
  %y = fmul contract double %x, %x
  %a = fadd reassoc nsz arcp contract double %dx, 0.000000e+00
  %b = fadd reassoc nsz arcp contract double %a, %y
  ret double %b
}
