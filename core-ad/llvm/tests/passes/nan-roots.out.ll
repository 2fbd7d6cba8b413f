define double @ffgrad.wrapper(double %x) {
entry:
  %0 = fcmp contract one double %x, 0.000000e+00
  %1 = xor i1 %0, true
  %zero = fcmp oeq double %x, 0.000000e+00
  %two = fcmp ueq double %x, 2.000000e+00
  %either = or i1 %zero, %two
  %any = or i1 %1, %either
  %root = call double @llvm.sqrt.f64(double %x)
  %value = select i1 %any, double 0.000000e+00, double %root
  ret double %value
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #0

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

!ffgrad.nan-roots = !{}
