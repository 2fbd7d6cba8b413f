; A comparison of the program that holds for what is no number, one that does not, and one with another number.
define double @ffgrad.wrapper(double %x) {
entry:
  %none = fcmp contract ueq double %x, 0.000000e+00
  %zero = fcmp oeq double %x, 0.000000e+00
  %two = fcmp ueq double %x, 2.000000e+00
  %either = or i1 %zero, %two
  %any = or i1 %none, %either
  %root = call double @llvm.sqrt.f64(double %x)
  %value = select i1 %any, double 0.000000e+00, double %root
  ret double %value
}

declare double @llvm.sqrt.f64(double)
