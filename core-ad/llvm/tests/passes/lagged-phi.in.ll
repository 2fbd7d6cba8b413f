; In the inner loop %c is the value that the previous iteration loaded: it goes through an opaque identity function.
define double @f(ptr %x, i64 %n) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %c = phi double [ 0.0, %outer ], [ %v, %inner ]
  %p = getelementptr inbounds double, ptr %x, i64 %j
  %v = load double, ptr %p
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, %n
  br i1 %over, label %latch, label %inner

latch:
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %outer

exit:
  ret double %c
}
