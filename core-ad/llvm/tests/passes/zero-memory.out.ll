declare ptr @calloc(i64, i64)

declare void @free(ptr captures(none))

define double @f(ptr noalias %p, i64 %n, double %x) {
  %a = call ptr @calloc(i64 %n, i64 8)
  %b = call ptr @calloc(i64 %n, i64 8)
  store double 0.000000e+00, ptr %p, align 8
  store double 0.000000e+00, ptr %a, align 8
  store double %x, ptr %b, align 8
  %pa = getelementptr double, ptr %a, i64 %n
  %pb = getelementptr double, ptr %b, i64 %n
  %vb = load double, ptr %pb, align 8
  %vp = load double, ptr %p, align 8
  %s = fadd double 0.000000e+00, %vb
  %t = fadd double %s, %vp
  call void @free(ptr %a)
  call void @free(ptr %b)
  ret double %t
}
