; Two members without a type are cleared one by one; what is read as numbers stays a memset.
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg)
declare void @use(ptr)

define void @view(ptr %block) {
  %members = getelementptr i8, ptr %block, i64 16
  call void @llvm.memset.p0.i64(ptr align 8 %members, i8 0, i64 16, i1 false)
  call void @use(ptr %block)
  ret void
}

define double @numbers() {
  %sums = alloca [2 x double]
  call void @llvm.memset.p0.i64(ptr align 8 %sums, i8 0, i64 16, i1 false)
  %sum = load double, ptr %sums
  ret double %sum
}
