define double @f(ptr %u, ptr %frame, i64 %k, i1 %inside) {
  %p = select i1 %inside, ptr %u, ptr %frame
  %q = getelementptr inbounds double, ptr %p, i64 %k
  %1 = getelementptr double, ptr %u, i64 %k
  %2 = call double @ffgrad.read.double.8(ptr %1, i1 %inside)
  %3 = xor i1 %inside, true
  %4 = getelementptr double, ptr %frame, i64 %k
  %5 = call double @ffgrad.read.double.8(ptr %4, i1 %3)
  %6 = select i1 %inside, double %2, double %5
  ret double %6
}

; Function Attrs: nofree noinline nounwind willreturn memory(argmem: read)
define internal double @ffgrad.read.double.8(ptr %0, i1 %1) #0 {
  br i1 %1, label %3, label %5

3:                                                ; preds = %2
  call void @__enzyme_double(ptr %0)
  %4 = load double, ptr %0, align 8
  ret double %4

5:                                                ; preds = %2
  ret double 0.000000e+00
}

; Function Attrs: nofree nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @__enzyme_double(ptr) #1

attributes #0 = { nofree noinline nounwind willreturn memory(argmem: read) }
attributes #1 = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) }
