@ffgrad.offset.134217729 = external constant i64, !enzyme_inactive !0

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.exp.f64(double) #0

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sin.f64(double) #0

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.cos.f64(double) #0

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #0

define void @f(ptr noalias %x, ptr noalias %y, i64 %n, i64 %m) {
entry:
  %local = alloca [2 x double], align 8
  br label %outer

outer:                                            ; preds = %done, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %done ]
  %x.at = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %x.at, align 8
  %weight = call double @llvm.exp.f64(double %value)
  %0 = call double @ffgrad.same.1(double %weight)
  %turn = call double @llvm.sin.f64(double %value)
  %side = call double @llvm.cos.f64(double %value)
  %1 = call double @ffgrad.same.1(double %side)
  store double %1, ptr %local, align 8
  %root = call double @llvm.sqrt.f64(double %value)
  %double = fmul double %0, 2.000000e+00
  br label %inner

inner:                                            ; preds = %inner, %outer
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %y.at = getelementptr double, ptr %y, i64 %j
  %old = load double, ptr %y.at, align 8
  %scaled = fmul double %old, %double
  %loaded = load double, ptr %local, align 8
  %turned = fmul double %scaled, %loaded
  %new = fmul double %turned, %root
  store double %new, ptr %y.at, align 8
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, %m
  br i1 %j.done, label %done, label %inner

done:                                             ; preds = %inner
  %product = fmul double %turn, %value
  store double %product, ptr %x.at, align 8
  %i.next = add i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %end, label %outer

end:                                              ; preds = %done
  ret void
}

; Function Attrs: nofree noinline nosync nounwind willreturn
define internal double @ffgrad.same.1(double %0) #1 {
  call void @ffgrad.edge(i32 134217729)
  %2 = load double, ptr @ffgrad.offset.134217729, align 8
  %3 = fsub double %0, %2
  ret double %3
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #2

attributes #0 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { nofree noinline nosync nounwind willreturn }
attributes #2 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }

!0 = !{}
