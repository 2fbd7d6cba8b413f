@enzyme_runtime_activity = external global i32
@enzyme_dup = external global i32

declare void @__enzyme_autodiff_ffgrad(...)

define internal void @square(ptr captures(none) %y, double %x) {
  call void @ffgrad.read(ptr %y)
  %s = fmul double %x, %x
  store double %s, ptr %y, align 8
  ret void
}

define void @wrapped(ptr %x, ptr %y) {
  %v = load double, ptr %x, align 8
  call void @square(ptr %y, double %v)
  ret void
}

define void @gradient(ptr %x, ptr %dx, ptr %y, ptr %dy) {
  %r = load i32, ptr @enzyme_runtime_activity, align 4
  %a = load i32, ptr @enzyme_dup, align 4
  call void (...) @__enzyme_autodiff_ffgrad(ptr @wrapped, i32 %r, i32 %a, ptr %x, ptr %dx, i32 %a, ptr %y, ptr %dy)
  ret void
}

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: read, inaccessiblemem: readwrite)
declare void @ffgrad.read(ptr) #0

attributes #0 = { nofree nosync nounwind willreturn memory(argmem: read, inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }
