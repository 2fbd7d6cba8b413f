; What a function has in a vector register must survive the first access to a thread-local variable.
target triple = "x86_64-pc-linux-gnu"

@table = internal thread_local global [4 x double] zeroinitializer, align 8

define double @f(double %x) #0 {
  %half = fmul double %x, 5.000000e-01
  %table = call ptr @llvm.threadlocal.address.p0(ptr @table)
  %old = load double, ptr %table, align 8
  store double %x, ptr %table, align 8
  %sum = fadd double %old, %half
  ret double %sum
}

define void @g(double %x) #0 {
  %table = call ptr @llvm.threadlocal.address.p0(ptr @table)
  store double %x, ptr %table, align 8
  ret void
}

; Without these registers nothing is to be done.
define void @h(double %x) #1 {
  %table = call ptr @llvm.threadlocal.address.p0(ptr @table)
  store double %x, ptr %table, align 8
  ret void
}

declare ptr @llvm.threadlocal.address.p0(ptr)

attributes #0 = { "target-cpu"="x86-64-v4" "target-features"="+avx512f" }
attributes #1 = { "target-cpu"="x86-64-v3" "target-features"="+avx2" }
