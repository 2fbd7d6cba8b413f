; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

; Function Attrs: noinline
define void @g(ptr %t, double %a) #1 {
  store double %a, ptr %t, align 8
  ret void
}

define double @f(double %a) {
  %t = alloca [4 x double], align 8
  %c = alloca [4 x double], align 8
  call void @g(ptr %t, double %a)
  call void @ffgrad.copy.0(ptr %c, ptr %t)
  %v = load double, ptr %c, align 8
  ret double %v
}

; Function Attrs: nofree noinline nosync nounwind willreturn memory(argmem: readwrite)
define internal void @ffgrad.copy.0(ptr writeonly captures(none) %0, ptr readonly captures(none) %1) #2 {
  call void @llvm.memcpy.p0.p0.i64(ptr %0, ptr %1, i64 32, i1 false)
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { noinline }
attributes #2 = { nofree noinline nosync nounwind willreturn memory(argmem: readwrite) }
