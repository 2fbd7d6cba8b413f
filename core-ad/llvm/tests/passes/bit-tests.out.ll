target triple = "x86_64-unknown-linux-gnu"

define i1 @differ(double %a, double %b) {
  %1 = call i64 @ffgrad.bits.f64(double %a)
  %2 = call i64 @ffgrad.bits.f64(double %b)
  %both = xor i64 %1, %2
  %differ = icmp slt i64 %both, 0
  ret i1 %differ
}

define i64 @exponent(double %a) {
  %1 = call i64 @ffgrad.bits.f64(double %a)
  %exponent = lshr i64 %1, 52
  ret i64 %exponent
}

define float @absolute(float %a) {
  %bits = bitcast float %a to i32
  %positive = and i32 %bits, 2147483647
  %number = bitcast i32 %positive to float
  ret float %number
}

define i1 @differ_in_long_double(x86_fp80 %a, x86_fp80 %b) {
  %1 = call i80 @ffgrad.bits.f80(x86_fp80 %a)
  %2 = call i80 @ffgrad.bits.f80(x86_fp80 %b)
  %both = xor i80 %1, %2
  %differ = icmp slt i80 %both, 0
  ret i1 %differ
}

define double @guess(double %a) {
  %1 = call i64 @ffgrad.bits.f64(double %a)
  %half = lshr i64 %1, 1
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

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare "enzyme_type"="{[-1]:Integer}" i64 @ffgrad.bits.f64(double) #0

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare "enzyme_type"="{[-1]:Integer}" i80 @ffgrad.bits.f80(x86_fp80) #0

attributes #0 = { nofree nosync nounwind willreturn memory(none) "enzyme_inactive" "enzyme_nofree" }
