define void @f(ptr noalias %d, ptr noalias %x, i64 %n, i64 %steps) {
entry:
  br label %outer

outer:                                            ; preds = %latch, %entry
  %t = phi i64 [ 0, %entry ], [ %t.next, %latch ]
  br label %loop

loop:                                             ; preds = %loop, %outer
  %i = phi i64 [ 0, %outer ], [ %up, %loop ]
  %px = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %px, align 8
  %pd = getelementptr inbounds double, ptr %d, i64 %i
  store double %v, ptr %pd, align 8
  %i.next = add i64 %i, -1
  %done = icmp eq i64 %i, %n
  %up = add i64 %i, 1
  br i1 %done, label %latch, label %loop

latch:                                            ; preds = %loop
  %t.next = add i64 %t, 1
  %over = icmp eq i64 %t.next, %steps
  br i1 %over, label %exit, label %outer

exit:                                             ; preds = %latch
  ret void
}
