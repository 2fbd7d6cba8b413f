; frexp: the exponent is a constant, and the fraction is the number times a power of two, in two halves that are both in the type's range.

define { double, i32 } @ffgrad.frexp.f64(double %x) alwaysinline {
  %parts = call { double, i32 } @llvm.frexp.f64.i32(double %x), !enzyme_inactive_inst !0, !enzyme_inactive_val !0
  %exponent = extractvalue { double, i32 } %parts, 1, !enzyme_inactive_inst !0, !enzyme_inactive_val !0
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

define { float, i32 } @ffgrad.frexp.f32(float %x) alwaysinline {
  %parts = call { float, i32 } @llvm.frexp.f32.i32(float %x), !enzyme_inactive_inst !0, !enzyme_inactive_val !0
  %exponent = extractvalue { float, i32 } %parts, 1, !enzyme_inactive_inst !0, !enzyme_inactive_val !0
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

define { x86_fp80, i32 } @ffgrad.frexp.f80(x86_fp80 %x) alwaysinline {
  %parts = call { x86_fp80, i32 } @llvm.frexp.f80.i32(x86_fp80 %x), !enzyme_inactive_inst !0, !enzyme_inactive_val !0
  %exponent = extractvalue { x86_fp80, i32 } %parts, 1, !enzyme_inactive_inst !0, !enzyme_inactive_val !0
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

declare double @ldexp(double, i32)
declare float @ldexpf(float, i32)
declare x86_fp80 @ldexpl(x86_fp80, i32)
declare { double, i32 } @llvm.frexp.f64.i32(double)
declare { float, i32 } @llvm.frexp.f32.i32(float)
declare { x86_fp80, i32 } @llvm.frexp.f80.i32(x86_fp80)

!0 = !{}
