; An array of 9600 bytes, released on both ways out; a small one, one with addresses, and one that is aligned to more than malloc's blocks are, stay.
declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.lifetime.end.p0(ptr)

define double @f(ptr %x, i1 %early) {
entry:
  %large = alloca [1200 x double], align 16
  %small = alloca [1024 x double], align 16
  %addresses = alloca [2000 x ptr], align 16
  %aligned = alloca [2000 x float], align 64
  %members = alloca { [600 x double], [1000 x i32] }, align 16
  call void @llvm.lifetime.start.p0(ptr %large)
  %v = load double, ptr %x
  store double %v, ptr %large
  store double %v, ptr %small
  store ptr %x, ptr %addresses
  store double %v, ptr %members
  store float 1.0, ptr %aligned
  br i1 %early, label %first, label %second

first:
  call void @llvm.lifetime.end.p0(ptr %large)
  ret double %v

second:
  %at = getelementptr double, ptr %large, i64 3
  %w = load double, ptr %at
  ret double %w
}
