define double @on_some_paths(ptr %start, ptr %step, i64 %n, i1 %moves) {
entry:
  br label %loop

loop:                                             ; preds = %latch, %entry
  %0 = phi i64 [ 0, %entry ], [ %5, %latch ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %sum = phi double [ 0.000000e+00, %entry ], [ %sum.next, %latch ]
  %1 = getelementptr i8, ptr %start, i64 %0
  %x = load double, ptr %1, align 8
  %sum.next = fadd double %sum, %x
  br i1 %moves, label %move, label %latch

move:                                             ; preds = %loop
  %by = load i64, ptr %step, align 4
  %2 = mul i64 %by, 8
  %3 = add i64 %0, %2
  %4 = getelementptr i8, ptr %start, i64 %3
  br label %latch

latch:                                            ; preds = %move, %loop
  %5 = phi i64 [ %3, %move ], [ %0, %loop ]
  %6 = getelementptr i8, ptr %start, i64 %5
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %latch
  ret double %sum.next
}

define double @on_all_paths(ptr %start, i64 %step, i64 %n) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %at = phi ptr [ %start, %entry ], [ %moved, %loop ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %x = load double, ptr %at, align 8
  %moved = getelementptr inbounds double, ptr %at, i64 %step
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %loop
  ret double %x
}
