declare ptr @malloc(i64)

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

define ptr @grow(ptr %old, i64 %bytes, double %a) {
  %twice = shl i64 %bytes, 1
  %new = call ptr @malloc(i64 %twice)
  %place = getelementptr i8, ptr %new, i64 %bytes
  store double %a, ptr %place, align 8
  call void @__enzyme_double(ptr %new)
  call void @__enzyme_double(ptr %old)
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false)
  ret ptr %new
}

; Function Attrs: nofree nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @__enzyme_double(ptr) #1

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) }
