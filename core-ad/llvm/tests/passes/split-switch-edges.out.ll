define double @f(i32 %n, double %a) {
entry:
  switch i32 %n, label %0 [
    i32 1, label %1
    i32 2, label %1
  ]

0:                                                ; preds = %entry
  call void @ffgrad.edge(i32 0)
  br label %other

other:                                            ; preds = %0
  br label %end

1:                                                ; preds = %entry, %entry
  call void @ffgrad.edge(i32 1)
  br label %end

end:                                              ; preds = %1, %other
  %2 = phi double [ 0.000000e+00, %other ], [ %a, %1 ]
  ret double %2
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #0

attributes #0 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }
