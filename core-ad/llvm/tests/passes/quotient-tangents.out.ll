define double @quotients(double %a, double %b, double %"a'", double %"b'") {
  %square = fmul contract double %b, %b
  %user = fdiv contract double %a, %square
  %left = fmul double %"a'", %b
  %right = fmul double %"b'", %a
  %above = fsub double %left, %right
  %below = fmul double %b, %b
  %1 = fdiv contract double %a, %b
  %2 = fmul contract double %1, %"b'"
  %3 = fsub contract double %"a'", %2
  %4 = fdiv contract double %3, %b
  %negated = fsub double 0.000000e+00, %"b'"
  %5 = fdiv contract double %"b'", %b
  %6 = fneg contract double %5
  %7 = fdiv contract double %6, %b
  %8 = fdiv contract double %"a'", %b
  %sum = fadd double %4, %7
  %more = fadd double %sum, %8
  %result = fadd double %more, %user
  ret double %result
}

define double @of_magnitude(double %a, double %b, double %"a'") {
  %magnitude = call contract double @llvm.fabs.f64(double %b)
  %left = fmul double %"a'", %magnitude
  %below = fmul double %b, %b
  %1 = fdiv contract double %"a'", %magnitude
  ret double %1
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fabs.f64(double) #0

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
