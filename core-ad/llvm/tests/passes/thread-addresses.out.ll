target triple = "x86_64-pc-linux-gnu"

@table = internal thread_local global [4 x double] zeroinitializer, align 8

define double @f(double %x) #0 {
  %half = fmul double %x, 5.000000e-01
  %1 = call ptr @ffgrad.thread.0()
  %old = load double, ptr %1, align 8
  store double %x, ptr %1, align 8
  %sum = fadd double %old, %half
  ret double %sum
}

define void @g(double %x) #0 {
  %1 = call ptr @ffgrad.thread.0()
  store double %x, ptr %1, align 8
  ret void
}

define void @h(double %x) #1 {
  %table = call ptr @llvm.threadlocal.address.p0(ptr @table)
  store double %x, ptr %table, align 8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #2

; Function Attrs: noinline nounwind willreturn memory(none)
define internal ptr @ffgrad.thread.0() #3 {
  %1 = call ptr @llvm.threadlocal.address.p0(ptr @table)
  ret ptr %1
}

attributes #0 = { "target-cpu"="x86-64-v4" "target-features"="+avx512f" }
attributes #1 = { "target-cpu"="x86-64-v3" "target-features"="+avx2" }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { noinline nounwind willreturn memory(none) }
