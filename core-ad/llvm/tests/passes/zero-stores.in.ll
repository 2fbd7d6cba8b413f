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
