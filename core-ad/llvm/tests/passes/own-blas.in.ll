; A routine of BLAS with a body, one without, and a function that calls both.
declare void @daxpy_(ptr, ptr, ptr, ptr, ptr, ptr)

define internal void @dscal_(ptr %n, ptr %a, ptr %x, ptr %step) {
  %k = load double, ptr %a
  %v = load double, ptr %x
  %y = fmul double %v, %k
  store double %y, ptr %x
  ret void
}

define void @scaled(ptr %n, ptr %a, ptr %x, ptr %y) {
  call void @dscal_(ptr %n, ptr %a, ptr %x, ptr %n)
  call void @daxpy_(ptr %n, ptr %a, ptr %x, ptr %n, ptr %y, ptr %n)
  ret void
}
