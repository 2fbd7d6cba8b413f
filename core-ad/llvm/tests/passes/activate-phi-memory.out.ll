define void @f(ptr %y, double %v, i1 %inside) {
  %scratch = alloca double, align 8, !enzyme_active_val !0
  %p = select i1 %inside, ptr %scratch, ptr %y
  store double %v, ptr %p, align 8
  ret void
}

!0 = !{}
