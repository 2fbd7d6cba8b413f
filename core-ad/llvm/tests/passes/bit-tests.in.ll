; Bits that are compared, and the exponent, are taken by a function. Bits that become a number again stay.
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
