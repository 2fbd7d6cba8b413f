define double @f(i1 %skip, i1 %enough, i64 %n, double %x) {
entry:
  br i1 %skip, label %end, label %test

test:                                             ; preds = %entry
  %none = icmp eq i64 %n, 0
  br i1 %none, label %after, label %second

second:                                           ; preds = %test
  br i1 %enough, label %0, label %after

after:                                            ; preds = %second, %test
  br label %0

0:                                                ; preds = %after, %second
  %1 = phi double [ %x, %second ], [ 1.000000e+00, %after ]
  call void @ffgrad.edge(i32 16777216)
  br label %end

end:                                              ; preds = %0, %entry
  %2 = phi double [ 0.000000e+00, %entry ], [ %1, %0 ]
  ret double %2
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #0

attributes #0 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }
