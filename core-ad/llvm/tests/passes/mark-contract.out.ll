define double @f(double %x) {
  %y = fmul contract double %x, %x
  %z = fadd contract double %y, %x
  ret double %z
}
