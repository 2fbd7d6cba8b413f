; A running maximum that every iteration also stores: an opaque zero is subtracted from the phi operand of the select.
define void @f(ptr %x, ptr %y, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %most = phi double [ 0.0, %entry ], [ %next, %loop ]
  %px = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %px
  %greater = fcmp ogt double %v, %most
  %next = select i1 %greater, double %v, double %most
  %py = getelementptr inbounds double, ptr %y, i64 %i
  store double %next, ptr %py
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:
  ret void
}
