; The inner loop counts down over the same cells in every outer iteration, each cell in one iteration: it counts up.
define void @f(ptr noalias %d, ptr noalias %x, i64 %n, i64 %steps) {
entry:
  br label %outer

outer:
  %t = phi i64 [ 0, %entry ], [ %t.next, %latch ]
  br label %loop

loop:
  %i = phi i64 [ %n, %outer ], [ %i.next, %loop ]
  %px = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %px
  %pd = getelementptr inbounds double, ptr %d, i64 %i
  store double %v, ptr %pd
  %i.next = add i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %latch, label %loop

latch:
  %t.next = add i64 %t, 1
  %over = icmp eq i64 %t.next, %steps
  br i1 %over, label %exit, label %outer

exit:
  ret void
}
