; %a is written through the select and read directly: it is marked as captured.
define double @f(double %v, i1 %first) {
  %a = alloca double
  %b = alloca double
  %p = select i1 %first, ptr %a, ptr %b
  store double %v, ptr %p
  %w = load double, ptr %a
  ret double %w
}
