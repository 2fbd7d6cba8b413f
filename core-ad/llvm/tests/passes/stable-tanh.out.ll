; Function Attrs: nounwind willreturn memory(none)
declare double @tanh(double) #0

define double @f(double %x) {
  %negative = fcmp olt double %x, 0.000000e+00
  %sign = select i1 %negative, double -1.000000e+00, double 1.000000e+00
  %size = fmul double %x, %sign
  %down = fmul double %size, -2.000000e+00
  %1 = call double @expm1(double %down)
  %below = fadd double %1, 2.000000e+00
  %ratio = fdiv double %1, %below
  %negated = fneg double %sign
  %tanh = fmul double %ratio, %negated
  ret double %tanh
}

; Function Attrs: nounwind willreturn memory(none)
declare double @expm1(double) #0

attributes #0 = { nounwind willreturn memory(none) }
