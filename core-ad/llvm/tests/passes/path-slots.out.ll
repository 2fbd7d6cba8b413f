declare void @ffgrad.path(i32, i32, i32)

declare void @ffgrad.trip(i32, i32, i32)

define void @f(double %x, ptr %out) {
entry:
  %ffgrad.slot.4.3.0. = alloca i32, align 4
  %ffgrad.slot.0.12.2. = alloca i32, align 4
  %above = fcmp ogt double %x, 0.000000e+00
  %taken = zext i1 %above to i32
  store volatile i32 %taken, ptr %ffgrad.slot.0.12.2., align 4
  br i1 %above, label %then, label %exit

then:                                             ; preds = %entry
  store volatile i32 1, ptr %ffgrad.slot.4.3.0., align 4
  store volatile i32 1, ptr %ffgrad.slot.0.12.2., align 4
  store double %x, ptr %out, align 8
  br label %exit

exit:                                             ; preds = %then, %entry
  ret void
}
