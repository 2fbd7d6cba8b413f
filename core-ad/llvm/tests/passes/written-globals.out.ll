@given = internal global double 0.000000e+00
@work = internal global [3 x double] [double 1.000000e+00, double 2.000000e+00, double 3.000000e+00]
@table = internal global [2 x double] [double 1.000000e+00, double 2.000000e+00]

define internal double @residual(double %u) {
  %1 = call double @residual.stateful(double %u, ptr @given, ptr @work)
  ret double %1
}

define internal double @solve(ptr %f) {
  %1 = call double @solve.stateful(ptr %f, ptr @given, ptr @work)
  ret double %1
}

define void @ffgrad.wrap(ptr %x, ptr %y) {
  %1 = alloca double, align 8
  %2 = alloca [3 x double], align 8
  store double 0.000000e+00, ptr %1, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %2, ptr align 1 @work, i64 24, i1 false)
  %v = load double, ptr %x, align 8
  store double %v, ptr %1, align 8
  store double %v, ptr %2, align 8
  %t = load double, ptr @table, align 8
  %3 = call double @solve.stateful(ptr @residual, ptr %1, ptr %2)
  %p = fmul double %3, %t
  store double %p, ptr %y, align 8
  ret void
}

define internal double @residual.stateful(double %0, ptr %1, ptr %2) {
  %g = load double, ptr %1, align 8
  %4 = getelementptr inbounds i8, ptr %2, i64 8
  %w = load double, ptr %4, align 8
  %r = fsub double %0, %g
  %s = fmul double %r, %w
  ret double %s
}

define internal double @solve.stateful(ptr %0, ptr %1, ptr %2) {
  %is = icmp eq ptr %0, @residual
  br i1 %is, label %yes, label %no

yes:                                              ; preds = %3
  %4 = call double @residual.stateful(double 1.000000e+00, ptr %1, ptr %2)
  ret double %4

no:                                               ; preds = %3
  unreachable
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
