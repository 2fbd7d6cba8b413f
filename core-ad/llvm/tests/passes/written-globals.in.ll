; @given is written by the function and read by one whose address is compared; @work begins with numbers; @table is only read.
@given = internal global double 0.0
@work = internal global [3 x double] [double 1.0, double 2.0, double 3.0]
@table = internal global [2 x double] [double 1.0, double 2.0]

define internal double @residual(double %u) {
  %g = load double, ptr @given
  %w = load double, ptr getelementptr (i8, ptr @work, i64 8)
  %r = fsub double %u, %g
  %s = fmul double %r, %w
  ret double %s
}

define internal double @solve(ptr %f) {
  %is = icmp eq ptr %f, @residual
  br i1 %is, label %yes, label %no
yes:
  %u = tail call double @residual(double 1.0)
  ret double %u
no:
  unreachable
}

define void @ffgrad.wrap(ptr %x, ptr %y) {
  %v = load double, ptr %x
  store double %v, ptr @given
  store double %v, ptr @work
  %t = load double, ptr @table
  %u = call double @solve(ptr @residual)
  %p = fmul double %u, %t
  store double %p, ptr %y
  ret void
}
