; Markers of paths are volatile stores for Enzyme: one variable for each marker and its two constants.
declare void @ffgrad.path(i32, i32, i32)
declare void @ffgrad.trip(i32, i32, i32)

define void @f(double %x, ptr %out) {
entry:
  %above = fcmp ogt double %x, 0.000000e+00
  %taken = zext i1 %above to i32
  call void @ffgrad.path(i32 12, i32 2, i32 %taken)
  br i1 %above, label %then, label %exit

then:
  call void @ffgrad.trip(i32 3, i32 0, i32 1)
  call void @ffgrad.path(i32 12, i32 2, i32 1)
  store double %x, ptr %out
  br label %exit

exit:
  ret void
}
