; The load through the select becomes one guarded load per object.
define double @f(ptr %u, ptr %frame, i64 %k, i1 %inside) {
  %p = select i1 %inside, ptr %u, ptr %frame
  %q = getelementptr inbounds double, ptr %p, i64 %k
  %v = load double, ptr %q, align 8
  ret double %v
}
