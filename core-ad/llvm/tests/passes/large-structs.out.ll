define double @f(ptr %x, ptr %cache, i1 %again, i64 %n) {
entry:
  %large4 = alloca { [200 x double], ptr }, align 8
  %large3 = alloca { [200 x double], ptr }, align 8
  %large2 = alloca { [200 x double], ptr }, align 8
  %large1 = alloca { [200 x double], ptr }, align 8
  %large = alloca { [200 x double], ptr }, align 8
  br i1 %again, label %one, label %other

one:                                              ; preds = %entry
  call void @augmented_f(ptr %large, ptr %x)
  br label %other

other:                                            ; preds = %one, %entry
  %0 = phi ptr [ %large, %one ], [ %large1, %entry ]
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %cache, ptr align 8 %0, i64 1608, i1 false)
  call void @llvm.memset.p0.i64(ptr align 8 %large3, i8 0, i64 1608, i1 false)
  br label %loop

loop:                                             ; preds = %loop, %other
  %i = phi i64 [ 0, %other ], [ %next, %loop ]
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %large2, ptr align 8 %large3, i64 1608, i1 false)
  %place = getelementptr { [200 x double], ptr }, ptr %cache, i64 %i
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %large4, ptr align 8 %place, i64 1608, i1 false)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %large3, ptr align 8 %large4, i64 1608, i1 false)
  br i1 %more, label %loop, label %end

end:                                              ; preds = %loop
  %1 = call double @diffe_f(ptr %x, ptr %large2)
  ret double %1
}

define internal void @augmented_f(ptr noalias %0, ptr %1) {
  %large = alloca { [200 x double], ptr }, align 8
  %first = load double, ptr %1, align 8
  %3 = getelementptr inbounds { [200 x double], ptr }, ptr %large, i32 0, i32 0, i32 0
  store double %first, ptr %3, align 8
  %4 = getelementptr inbounds { [200 x double], ptr }, ptr %large, i32 0, i32 1
  store ptr %1, ptr %4, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %0, ptr align 8 %large, i64 1608, i1 false)
  ret void
}

define internal double @diffe_f(ptr %0, ptr noalias readonly %1) {
  %3 = getelementptr inbounds { [200 x double], ptr }, ptr %1, i32 0, i32 0, i32 0
  %4 = load double, ptr %3, align 8
  %5 = getelementptr inbounds { [200 x double], ptr }, ptr %1, i32 0, i32 1
  %6 = load ptr, ptr %5, align 8
  store double %4, ptr %6, align 8
  ret double %4
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #1

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { nocallback nofree nounwind willreturn memory(argmem: write) }
