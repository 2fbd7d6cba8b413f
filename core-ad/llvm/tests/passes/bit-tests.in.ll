; Bits that are compared, the exponent and the first guess of an iteration are taken by a function. Other bits that become a number again stay.
target triple = "x86_64-unknown-linux-gnu"

define i1 @differ(double %a, double %b) {
  %abits = bitcast double %a to i64
  %bbits = bitcast double %b to i64
  %both = xor i64 %abits, %bbits
  %differ = icmp slt i64 %both, 0
  ret i1 %differ
}

define i64 @exponent(double %a) {
  %bits = bitcast double %a to i64
  %exponent = lshr i64 %bits, 52
  ret i64 %exponent
}

define float @absolute(float %a) {
  %bits = bitcast float %a to i32
  %positive = and i32 %bits, 2147483647
  %number = bitcast i32 %positive to float
  ret float %number
}

define i1 @differ_in_long_double(x86_fp80 %a, x86_fp80 %b) {
  %abits = bitcast x86_fp80 %a to i80
  %bbits = bitcast x86_fp80 %b to i80
  %both = xor i80 %abits, %bbits
  %differ = icmp slt i80 %both, 0
  ret i1 %differ
}

define double @guess(double %a) {
  %bits = bitcast double %a to i64
  %half = lshr i64 %bits, 1
  %guess = sub i64 6910469410427058089, %half
  %number = bitcast i64 %guess to double
  ret double %number
}

define double @scaled(double %a, i64 %by) {
  %bits = bitcast double %a to i64
  %shifted = shl i64 %by, 52
  %more = add i64 %bits, %shifted
  %number = bitcast i64 %more to double
  ret double %number
}
