; Calls of sin get the vector versions of the machine's libmvec (here of SSE2 only).
declare double @sin(double)

define double @f(double %x) {
  %y = call double @sin(double %x)
  ret double %y
}
