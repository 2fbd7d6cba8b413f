@ffgrad.offset.107630 = external constant i64, !enzyme_inactive !0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #0

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #0

define double @f(ptr %x, i1 %early) {
entry:
  %0 = load i64, ptr @ffgrad.offset.107630, align 4
  %1 = add i64 %0, 9600
  %2 = call ptr @malloc(i64 %1)
  %small = alloca [1024 x double], align 16
  %addresses = alloca [2000 x ptr], align 16
  %aligned = alloca [2000 x float], align 64
  %3 = add i64 %0, 8800
  %4 = call ptr @malloc(i64 %3)
  %v = load double, ptr %x, align 8
  store double %v, ptr %2, align 8
  store double %v, ptr %small, align 8
  store ptr %x, ptr %addresses, align 8
  store double %v, ptr %4, align 8
  store float 1.000000e+00, ptr %aligned, align 4
  br i1 %early, label %first, label %second

first:                                            ; preds = %entry
  call void @free(ptr %2)
  call void @free(ptr %4)
  ret double %v

second:                                           ; preds = %entry
  %at = getelementptr double, ptr %2, i64 3
  %w = load double, ptr %at, align 8
  call void @free(ptr %2)
  call void @free(ptr %4)
  ret double %w
}

declare noalias ptr @malloc(i64)

declare void @free(ptr)

attributes #0 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }

!0 = !{}
