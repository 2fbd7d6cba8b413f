; Stores of integers and pointers get the hint that keeps LLVM from joining them; the one of a number does not.
define void @f(ptr %block, ptr %data, i64 %rows) {
  store ptr %data, ptr %block
  %row = getelementptr i8, ptr %block, i64 8
  store i64 0, ptr %row
  %count = getelementptr i8, ptr %block, i64 16
  store i64 %rows, ptr %count
  %scale = getelementptr i8, ptr %block, i64 24
  store double 0.0, ptr %scale
  ret void
}

; A constructor whose arguments may be zeros, and what clang keeps one argument in.
define void @complex(ptr %this, double %r, double %i) {
  %slot = alloca double
  store double %i, ptr %slot
  store double %r, ptr %this
  %imag = getelementptr i8, ptr %this, i64 8
  %kept = load double, ptr %slot
  store double %kept, ptr %imag
  ret void
}

; A loop of one stays a loop of one.
define void @fill(ptr %to, double %x) {
  store double %x, ptr %to
  ret void
}
