; A function that is called writes to its argument, and runtime activity is requested.
@enzyme_runtime_activity = external global i32
@enzyme_dup = external global i32

declare void @__enzyme_autodiff_ffgrad(...)

define internal void @square(ptr writeonly captures(none) initializes((0, 8)) %y, double %x) {
  %s = fmul double %x, %x
  store double %s, ptr %y
  ret void
}

define void @wrapped(ptr %x, ptr %y) {
  %v = load double, ptr %x
  call void @square(ptr %y, double %v)
  ret void
}

define void @gradient(ptr %x, ptr %dx, ptr %y, ptr %dy) {
  %r = load i32, ptr @enzyme_runtime_activity
  %a = load i32, ptr @enzyme_dup
  call void (...) @__enzyme_autodiff_ffgrad(ptr @wrapped, i32 %r, i32 %a, ptr %x, ptr %dx, i32 %a, ptr %y, ptr %dy)
  ret void
}
