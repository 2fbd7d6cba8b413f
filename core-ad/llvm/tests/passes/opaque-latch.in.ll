; The inner loop has two exits: the outer latch branches through a switch on an opaque zero.
define void @f(ptr %y, i1 %stop) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 20, %entry ], [ %i.next, %latch ]
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %continue ]
  br i1 %stop, label %exit, label %continue

continue:
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, 30
  br i1 %over, label %latch, label %inner

latch:
  %i.next = add i64 %i, -1
  %done = icmp eq i64 %i, 0
  br i1 %done, label %exit, label %outer

exit:
  ret void
}
