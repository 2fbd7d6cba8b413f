define double @f(double %v, i1 %first) {
  %a = alloca double, align 8
  call void @ffgrad.capture(ptr %a)
  %b = alloca double, align 8
  %p = select i1 %first, ptr %a, ptr %b
  store double %v, ptr %p, align 8
  %w = load double, ptr %a, align 8
  ret double %w
}

; Function Attrs: nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.capture(ptr) #0

attributes #0 = { nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }
