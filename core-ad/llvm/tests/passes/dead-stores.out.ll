define internal void @ffgrad.gradient(ptr noalias "ffgrad.private" %u, ptr noalias %dx) {
  %a = load double, ptr %u, align 8
  %b = fmul double %a, 2.000000e+00
  %d = load double, ptr %dx, align 8
  %e = fadd double %d, 1.000000e+00
  store double %e, ptr %dx, align 8
  ret void
}
