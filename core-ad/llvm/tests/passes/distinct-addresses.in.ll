; x[i] and x[j] have the same SCEV in nested loops, and x is written: the second load gets an opaque offset.
define void @f(ptr %x, i64 %n) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %pi = getelementptr inbounds double, ptr %x, i64 %i
  %a = load double, ptr %pi
  %pj = getelementptr inbounds double, ptr %x, i64 %j
  %b = load double, ptr %pj
  %ab = fmul double %a, %b
  store double %ab, ptr %x
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, %n
  br i1 %over, label %latch, label %inner

latch:
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %outer

exit:
  ret void
}
