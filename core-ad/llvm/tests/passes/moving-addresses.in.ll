; An address that moves by a step it reads, on one path of a loop.
define double @on_some_paths(ptr %start, ptr %step, i64 %n, i1 %moves) {
entry:
  br label %loop

loop:
  %at = phi ptr [ %start, %entry ], [ %next, %latch ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %sum = phi double [ 0.0, %entry ], [ %sum.next, %latch ]
  %x = load double, ptr %at
  %sum.next = fadd double %sum, %x
  br i1 %moves, label %move, label %latch

move:
  %by = load i64, ptr %step
  %moved = getelementptr inbounds double, ptr %at, i64 %by
  br label %latch

latch:
  %next = phi ptr [ %moved, %move ], [ %at, %loop ]
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:
  ret double %sum.next
}

; One that moves in each iteration stays.
define double @on_all_paths(ptr %start, i64 %step, i64 %n) {
entry:
  br label %loop

loop:
  %at = phi ptr [ %start, %entry ], [ %moved, %loop ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %x = load double, ptr %at
  %moved = getelementptr inbounds double, ptr %at, i64 %step
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:
  ret double %x
}
