; frexp: the exponent is a constant, and the fraction is the number times a power of two, in two halves that are both in the type's range.
; The built-in has a function around it: of a value with the number in it, Enzyme's second derivative makes a phi that is not valid.

define i32 @ffgrad.exponent.f64(double %x) #0 {
  %parts = call { double, i32 } @llvm.frexp.f64.i32(double %x)
  %exponent = extractvalue { double, i32 } %parts, 1
  ret i32 %exponent
}

define { double, i32 } @ffgrad.frexp.f64(double %x) alwaysinline {
  %exponent = call i32 @ffgrad.exponent.f64(double %x), !enzyme_inactive_inst !0, !enzyme_inactive_val !0
  %whole = sub i32 0, %exponent
  %half = ashr i32 %whole, 1
  %rest = sub i32 %whole, %half
  %first = call double @ldexp(double 1.0, i32 %half)
  %second = call double @ldexp(double 1.0, i32 %rest)
  %scaled = fmul double %x, %first
  %fraction = fmul double %scaled, %second
  %one = insertvalue { double, i32 } poison, double %fraction, 0
  %both = insertvalue { double, i32 } %one, i32 %exponent, 1
  ret { double, i32 } %both
}

define i32 @ffgrad.exponent.f32(float %x) #0 {
  %parts = call { float, i32 } @llvm.frexp.f32.i32(float %x)
  %exponent = extractvalue { float, i32 } %parts, 1
  ret i32 %exponent
}

define { float, i32 } @ffgrad.frexp.f32(float %x) alwaysinline {
  %exponent = call i32 @ffgrad.exponent.f32(float %x), !enzyme_inactive_inst !0, !enzyme_inactive_val !0
  %whole = sub i32 0, %exponent
  %half = ashr i32 %whole, 1
  %rest = sub i32 %whole, %half
  %first = call float @ldexpf(float 1.0, i32 %half)
  %second = call float @ldexpf(float 1.0, i32 %rest)
  %scaled = fmul float %x, %first
  %fraction = fmul float %scaled, %second
  %one = insertvalue { float, i32 } poison, float %fraction, 0
  %both = insertvalue { float, i32 } %one, i32 %exponent, 1
  ret { float, i32 } %both
}

define i32 @ffgrad.exponent.f80(x86_fp80 %x) #0 {
  %parts = call { x86_fp80, i32 } @llvm.frexp.f80.i32(x86_fp80 %x)
  %exponent = extractvalue { x86_fp80, i32 } %parts, 1
  ret i32 %exponent
}

define { x86_fp80, i32 } @ffgrad.frexp.f80(x86_fp80 %x) alwaysinline {
  %exponent = call i32 @ffgrad.exponent.f80(x86_fp80 %x), !enzyme_inactive_inst !0, !enzyme_inactive_val !0
  %whole = sub i32 0, %exponent
  %half = ashr i32 %whole, 1
  %rest = sub i32 %whole, %half
  %first = call x86_fp80 @ldexpl(x86_fp80 0xK3FFF8000000000000000, i32 %half)
  %second = call x86_fp80 @ldexpl(x86_fp80 0xK3FFF8000000000000000, i32 %rest)
  %scaled = fmul x86_fp80 %x, %first
  %fraction = fmul x86_fp80 %scaled, %second
  %one = insertvalue { x86_fp80, i32 } poison, x86_fp80 %fraction, 0
  %both = insertvalue { x86_fp80, i32 } %one, i32 %exponent, 1
  ret { x86_fp80, i32 } %both
}

define double @ffgrad.frexp(double %x, ptr %exponent) alwaysinline {
  %both = call { double, i32 } @ffgrad.frexp.f64(double %x)
  %fraction = extractvalue { double, i32 } %both, 0
  %power = extractvalue { double, i32 } %both, 1
  store i32 %power, ptr %exponent
  ret double %fraction
}

define float @ffgrad.frexpf(float %x, ptr %exponent) alwaysinline {
  %both = call { float, i32 } @ffgrad.frexp.f32(float %x)
  %fraction = extractvalue { float, i32 } %both, 0
  %power = extractvalue { float, i32 } %both, 1
  store i32 %power, ptr %exponent
  ret float %fraction
}

define x86_fp80 @ffgrad.frexpl(x86_fp80 %x, ptr %exponent) alwaysinline {
  %both = call { x86_fp80, i32 } @ffgrad.frexp.f80(x86_fp80 %x)
  %fraction = extractvalue { x86_fp80, i32 } %both, 0
  %power = extractvalue { x86_fp80, i32 } %both, 1
  store i32 %power, ptr %exponent
  ret x86_fp80 %fraction
}

declare double @ldexp(double, i32)
declare float @ldexpf(float, i32)
declare x86_fp80 @ldexpl(x86_fp80, i32)
declare { double, i32 } @llvm.frexp.f64.i32(double)
declare { float, i32 } @llvm.frexp.f32.i32(float)
declare { x86_fp80, i32 } @llvm.frexp.f80.i32(x86_fp80)

attributes #0 = { noinline nounwind willreturn memory(none) "enzyme_inactive" }

!0 = !{}
