@enzyme_const = external global i32
@enzyme_dup = external global i32
@enzyme_runtime_activity = external global i32

declare void @__enzyme_double(ptr)

declare void @__enzyme_autodiff_ffgrad(...)

declare void @phase(ptr, double)

define void @wrapped(ptr %k, ptr %e) {
  %d = alloca ptr, align 8
  call void @__enzyme_double(ptr %k)
  store ptr %k, ptr %d, align 8
  %v = load double, ptr %e, align 8
  call void @phase(ptr %d, double %v)
  ret void
}

define void @gradient(ptr %k, ptr %e, ptr %de) {
  %c = load i32, ptr @enzyme_const, align 4
  %a = load i32, ptr @enzyme_dup, align 4
  %1 = load i32, ptr @enzyme_runtime_activity, align 4
  call void (...) @__enzyme_autodiff_ffgrad(ptr @wrapped, i32 %1, i32 %c, ptr %k, i32 %a, ptr %e, ptr %de)
  ret void
}
