; The first has the mark of the user's operations and stays.
define double @quotients(double %a, double %b, double %"a'", double %"b'") {
  %square = fmul contract double %b, %b
  %user = fdiv contract double %a, %square
  %left = fmul double %"a'", %b
  %right = fmul double %"b'", %a
  %above = fsub double %left, %right
  %below = fmul double %b, %b
  %both = fdiv double %above, %below
  %negated = fsub double 0.000000e+00, %"b'"
  %one = fdiv double %negated, %below
  %above.only = fdiv double %left, %below
  %sum = fadd double %both, %one
  %more = fadd double %sum, %above.only
  %result = fadd double %more, %user
  ret double %result
}

; The square of a magnitude is that of the number.
define double @of_magnitude(double %a, double %b, double %"a'") {
  %magnitude = call contract double @llvm.fabs.f64(double %b)
  %left = fmul double %"a'", %magnitude
  %below = fmul double %b, %b
  %result = fdiv double %left, %below
  ret double %result
}

declare double @llvm.fabs.f64(double)
