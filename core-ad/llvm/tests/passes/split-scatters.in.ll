; Two rows of d, n cells apart, are added to in every iteration: the additions to one of them become a loop before the other.
; y is cleared in the loop that stays behind.
define void @f(ptr noalias %d, ptr noalias %y, i64 %n, i64 %m) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %py = getelementptr inbounds double, ptr %y, i64 %i
  %v = load double, ptr %py
  store double 0.0, ptr %py
  %w = fmul reassoc nsz contract double %v, 2.0
  %p0 = getelementptr inbounds double, ptr %d, i64 %i
  %c0 = load double, ptr %p0
  %s0 = fadd reassoc nsz contract double %c0, %v
  store double %s0, ptr %p0
  %i.next = add i64 %i, 1
  %p1 = getelementptr inbounds double, ptr %d, i64 %i.next
  %c1 = load double, ptr %p1
  %s1 = fadd reassoc nsz contract double %c1, %v
  store double %s1, ptr %p1
  %above = add i64 %i, %n
  %p2 = getelementptr inbounds double, ptr %d, i64 %above
  %c2 = load double, ptr %p2
  %s2 = fadd reassoc nsz contract double %c2, %w
  store double %s2, ptr %p2
  %done = icmp eq i64 %i.next, %m
  br i1 %done, label %exit, label %loop

exit:
  ret void
}
