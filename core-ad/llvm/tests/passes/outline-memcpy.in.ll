; @g writes %t, which is then copied: the copy becomes a call of an outlined copy.
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @g(ptr %t, double %a) noinline {
  store double %a, ptr %t
  ret void
}

define double @f(double %a) {
  %t = alloca [4 x double]
  %c = alloca [4 x double]
  call void @g(ptr %t, double %a)
  call void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %t, i64 32, i1 false)
  %v = load double, ptr %c
  ret double %v
}
