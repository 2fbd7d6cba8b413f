; The memory of std::pmr's resources, by `operator new` (library_calls.rs).
define ptr @ffgrad.resource.allocate(ptr %resource, i64 %bytes, i64 %alignment) alwaysinline {
  %memory = call ptr @_Znwm(i64 %bytes)
  ret ptr %memory
}

define void @ffgrad.resource.deallocate(ptr %resource, ptr %memory, i64 %bytes, i64 %alignment) alwaysinline {
  call void @_ZdlPv(ptr %memory)
  ret void
}

declare ptr @_Znwm(i64)
declare void @_ZdlPv(ptr)
