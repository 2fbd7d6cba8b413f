; The memory of std::pmr's resources, by `operator new` (library_calls.rs). What needs more than its 16 bytes of alignment has an operator of its own.
define ptr @ffgrad.resource.allocate(ptr %resource, i64 %bytes, i64 %alignment) alwaysinline {
start:
  %is_aligned = icmp ugt i64 %alignment, 16
  br i1 %is_aligned, label %aligned, label %plain

aligned:
  %memory.aligned = call ptr @_ZnwmSt11align_val_t(i64 %bytes, i64 %alignment)
  ret ptr %memory.aligned

plain:
  %memory = call ptr @_Znwm(i64 %bytes)
  ret ptr %memory
}

define void @ffgrad.resource.deallocate(ptr %resource, ptr %memory, i64 %bytes, i64 %alignment) alwaysinline {
start:
  %is_aligned = icmp ugt i64 %alignment, 16
  br i1 %is_aligned, label %aligned, label %plain

aligned:
  call void @_ZdlPvSt11align_val_t(ptr %memory, i64 %alignment)
  ret void

plain:
  call void @_ZdlPv(ptr %memory)
  ret void
}

declare ptr @_Znwm(i64)
declare ptr @_ZnwmSt11align_val_t(i64, i64)
declare void @_ZdlPv(ptr)
declare void @_ZdlPvSt11align_val_t(ptr, i64)
