declare ptr @malloc(i64)

declare void @free(ptr)

declare void @keep(ptr)

define void @f() {
  %memory = call ptr @malloc(i64 64)
  %1 = call ptr @malloc(i64 ptrtoint (ptr getelementptr ([4 x double], ptr null, i32 1) to i64))
  call void @keep(ptr %1)
  call void @ffgrad.free_later(ptr %memory)
  ret void
}

; Function Attrs: nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.free_later(ptr captures(none)) #0

attributes #0 = { nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
