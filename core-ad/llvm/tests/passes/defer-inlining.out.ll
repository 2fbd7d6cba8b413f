declare double @exp(double)

define double @cheap(double %x) {
  %y = fmul double %x, %x
  ret double %y
}

; Function Attrs: noinline
define double @costly(double %x) #0 {
  %y = call double @exp(double %x)
  ret double %y
}

attributes #0 = { noinline "ffgrad.kept" }
