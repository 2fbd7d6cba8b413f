; %scratch is written through a pointer that may point to %y, too: it is marked active.
define void @f(ptr %y, double %v, i1 %inside) {
  %scratch = alloca double
  %p = select i1 %inside, ptr %scratch, ptr %y
  store double %v, ptr %p
  ret void
}
