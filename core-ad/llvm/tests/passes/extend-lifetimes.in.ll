; free waits for the end of the entry point; the array whose address @keep may store is allocated on the heap.
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @keep(ptr)

define void @f() {
  %memory = call ptr @malloc(i64 64)
  %array = alloca [4 x double]
  call void @keep(ptr %array)
  call void @free(ptr %memory)
  ret void
}
