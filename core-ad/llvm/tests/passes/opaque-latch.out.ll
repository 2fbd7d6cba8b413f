@ffgrad.offset.33554432 = external constant i64, !enzyme_inactive !0

define void @f(ptr %y, i1 %stop) {
entry:
  %0 = load i64, ptr @ffgrad.offset.33554432, align 4
  br label %outer

1:                                                ; preds = %latch
  switch i64 %0, label %2 [
    i64 2, label %3
    i64 3, label %4
  ]

2:                                                ; preds = %1
  call void @ffgrad.edge(i32 33554433)
  br label %5

3:                                                ; preds = %1
  call void @ffgrad.edge(i32 33554434)
  br label %5

4:                                                ; preds = %1
  call void @ffgrad.edge(i32 33554435)
  br label %5

5:                                                ; preds = %4, %3, %2
  call void @ffgrad.edge(i32 33554432)
  br label %outer

outer:                                            ; preds = %5, %entry
  %6 = phi i64 [ 20, %entry ], [ %i.next, %5 ]
  br label %inner

inner:                                            ; preds = %continue, %outer
  %j = phi i64 [ 0, %outer ], [ %j.next, %continue ]
  br i1 %stop, label %exit, label %continue

continue:                                         ; preds = %inner
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, 30
  br i1 %over, label %latch, label %inner

latch:                                            ; preds = %continue
  %i.next = add i64 %6, -1
  %done = icmp eq i64 %6, 0
  br i1 %done, label %exit, label %1

exit:                                             ; preds = %latch, %inner
  ret void
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #0

attributes #0 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }

!0 = !{}
