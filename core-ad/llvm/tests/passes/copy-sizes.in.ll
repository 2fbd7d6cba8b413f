; The length of a copy as the front end writes it, a number of structures times their size: the size is noted. A constant length is not.
target triple = "x86_64-unknown-linux-gnu"

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define void @erase(ptr %v, i64 %n) {
  %bytes = mul i64 24, %n
  %second = getelementptr i8, ptr %v, i64 24
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %v, ptr align 8 %second, i64 %bytes, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %v, ptr align 8 %second, i64 48, i1 false)
  ret void
}

; A table that doubles its room: the size is that of one structure.
declare ptr @realloc(ptr, i64)

define ptr @doubled(ptr %old, i64 %room) {
  %twice = shl i64 %room, 1
  %bytes = mul i64 %twice, 24
  %new = call ptr @realloc(ptr %old, i64 %bytes)
  ret ptr %new
}
