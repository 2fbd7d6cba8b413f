; @cheap may be inlined; @costly calls exp and stays a call until Enzyme is done.
declare double @exp(double)

define double @cheap(double %x) {
  %y = fmul double %x, %x
  ret double %y
}

define double @costly(double %x) {
  %y = call double @exp(double %x)
  ret double %y
}
