; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #0

declare void @use(ptr)

define void @view(ptr %block) {
  %members = getelementptr i8, ptr %block, i64 16
  %member = getelementptr inbounds i8, ptr %members, i64 0
  store i64 0, ptr %member, align 8
  %member1 = getelementptr inbounds i8, ptr %members, i64 8
  store i64 0, ptr %member1, align 8
  call void @use(ptr %block)
  ret void
}

define double @numbers() {
  %sums = alloca [2 x double], align 8
  call void @llvm.memset.p0.i64(ptr align 8 %sums, i8 0, i64 16, i1 false)
  %sum = load double, ptr %sums, align 8
  ret double %sum
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: write) }
