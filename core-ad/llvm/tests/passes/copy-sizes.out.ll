target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

define void @erase(ptr %v, i64 %n) {
  %bytes = mul i64 24, %n
  %second = getelementptr i8, ptr %v, i64 24
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %v, ptr align 8 %second, i64 %bytes, i1 false), !ffgrad.copy_size !0
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %v, ptr align 8 %second, i64 48, i1 false)
  ret void
}

declare ptr @realloc(ptr, i64)

define ptr @doubled(ptr %old, i64 %room) {
  %twice = shl i64 %room, 1
  %bytes = mul i64 %twice, 24
  %new = call ptr @realloc(ptr %old, i64 %bytes), !ffgrad.copy_size !0
  ret ptr %new
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }

!0 = !{i64 24}
