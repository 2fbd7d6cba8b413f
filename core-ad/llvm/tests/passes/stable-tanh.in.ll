; tanh becomes -sign(x) m / (2 + m) with m = expm1(-2 |x|).
declare double @tanh(double) #0

define double @f(double %x) {
  %y = call double @tanh(double %x)
  ret double %y
}

attributes #0 = { nounwind willreturn memory(none) }
