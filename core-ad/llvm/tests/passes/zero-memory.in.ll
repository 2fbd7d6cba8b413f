; Only zeros are stored to the first array, so its load is zero; not so the second one's, nor that of a parameter.
declare ptr @calloc(i64, i64)
declare void @free(ptr captures(none))

define double @f(ptr noalias %p, i64 %n, double %x) {
  %a = call ptr @calloc(i64 %n, i64 8)
  %b = call ptr @calloc(i64 %n, i64 8)
  store double 0.0, ptr %p
  store double 0.0, ptr %a
  store double %x, ptr %b
  %pa = getelementptr double, ptr %a, i64 %n
  %va = load double, ptr %pa
  %pb = getelementptr double, ptr %b, i64 %n
  %vb = load double, ptr %pb
  %vp = load double, ptr %p
  %s = fadd double %va, %vb
  %t = fadd double %s, %vp
  call void @free(ptr %a)
  call void @free(ptr %b)
  ret double %t
}
