; A vector grows: one number is stored at the end, the others are moved.
declare ptr @malloc(i64)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define ptr @grow(ptr %old, i64 %bytes, double %a) {
  %twice = shl i64 %bytes, 1
  %new = call ptr @malloc(i64 %twice)
  %place = getelementptr i8, ptr %new, i64 %bytes
  store double %a, ptr %place
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false)
  ret ptr %new
}
