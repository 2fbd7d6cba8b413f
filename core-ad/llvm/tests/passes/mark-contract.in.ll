; The user's operations are marked `contract`.
define double @f(double %x) {
  %y = fmul double %x, %x
  %z = fadd double %y, %x
  ret double %z
}
