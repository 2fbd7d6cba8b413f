declare void @daxpy_(ptr, ptr, ptr, ptr, ptr, ptr)

define internal void @ffgrad.own.dscal_(ptr %n, ptr %a, ptr %x, ptr %step) {
  %k = load double, ptr %a, align 8
  %v = load double, ptr %x, align 8
  %y = fmul double %v, %k
  store double %y, ptr %x, align 8
  ret void
}

define void @scaled(ptr %n, ptr %a, ptr %x, ptr %y) {
  call void @ffgrad.own.dscal_(ptr %n, ptr %a, ptr %x, ptr %n)
  call void @daxpy_(ptr %n, ptr %a, ptr %x, ptr %n, ptr %y, ptr %n)
  ret void
}
