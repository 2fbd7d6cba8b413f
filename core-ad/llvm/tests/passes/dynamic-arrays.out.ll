; Function Attrs: nocallback nofree nosync nounwind willreturn
declare ptr @llvm.stacksave.p0() #0

; Function Attrs: nocallback nofree nosync nounwind willreturn
declare void @llvm.stackrestore.p0(ptr) #0

define double @rows(ptr %x, i32 %m, i64 %n) {
entry:
  %fixed = alloca [4 x double], align 8
  br label %loop

loop:                                             ; preds = %end, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %0 = zext i32 %m to i64
  %1 = mul i64 %0, 8
  %2 = call ptr @malloc(i64 %1)
  %v = load double, ptr %x, align 8
  store double %v, ptr %2, align 8
  %small = icmp ult i64 %i, 3
  br i1 %small, label %early, label %late

early:                                            ; preds = %loop
  call void @free(ptr %2)
  br label %end

late:                                             ; preds = %loop
  store double %v, ptr %fixed, align 8
  call void @free(ptr %2)
  br label %end

end:                                              ; preds = %late, %early
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %end
  %r = load double, ptr %fixed, align 8
  ret double %r
}

define void @marks(i1 %first) {
entry:
  br i1 %first, label %then, label %end

then:                                             ; preds = %entry
  br label %end

end:                                              ; preds = %then, %entry
  %mark = phi ptr [ null, %entry ], [ null, %then ]
  ret void
}

declare noalias ptr @malloc(i64)

declare void @free(ptr)

attributes #0 = { nocallback nofree nosync nounwind willreturn }
