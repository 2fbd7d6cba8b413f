; A memmove: its adjoint is defined before Enzyme asks for it.
target triple = "x86_64-unknown-linux-gnu"

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define void @f(ptr %queue, i64 %bytes) {
  %behind = getelementptr i8, ptr %queue, i64 8
  call void @llvm.memmove.p0.p0.i64(ptr %queue, ptr %behind, i64 %bytes, i1 false)
  ret void
}
