; The address of a constant input is stored in a structure.
@enzyme_const = external global i32
@enzyme_dup = external global i32

declare void @__enzyme_double(ptr)
declare void @__enzyme_autodiff_ffgrad(...)
declare void @phase(ptr, double)

define void @wrapped(ptr %k, ptr %e) {
  %d = alloca ptr
  call void @__enzyme_double(ptr %k)
  store ptr %k, ptr %d
  %v = load double, ptr %e
  call void @phase(ptr %d, double %v)
  ret void
}

define void @gradient(ptr %k, ptr %e, ptr %de) {
  %c = load i32, ptr @enzyme_const
  %a = load i32, ptr @enzyme_dup
  call void (...) @__enzyme_autodiff_ffgrad(ptr @wrapped, i32 %c, ptr %k, i32 %a, ptr %e, ptr %de)
  ret void
}
