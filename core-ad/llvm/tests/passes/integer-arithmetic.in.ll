; A status that constants come to through memory, and a sum of bits of a number, which is left alone.
define i32 @status(ptr %s) {
  store i32 0, ptr %s
  %old = load i32, ptr %s
  %new = add i32 %old, -100
  store i32 %new, ptr %s
  ret i32 %new
}

define double @doubled(double %x) {
  %bits = bitcast double %x to i64
  %more = add i64 %bits, 4503599627370496
  %y = bitcast i64 %more to double
  ret double %y
}
