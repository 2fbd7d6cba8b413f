; The caller drops what is in %u, and only stores to %u depend on it; %dx is a result.
define internal void @ffgrad.gradient(ptr noalias "ffgrad.private" %u, ptr noalias %dx) {
  %a = load double, ptr %u
  %b = fmul double %a, 2.0
  store double %b, ptr %u
  %d = load double, ptr %dx
  %e = fadd double %d, 1.0
  store double %e, ptr %dx
  ret void
}
