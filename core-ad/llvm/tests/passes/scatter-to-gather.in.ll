; d[i] and d[i + 1] are added to in every iteration: the second addition is carried to the next iteration.
define void @f(ptr noalias %d, ptr noalias %y, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %py = getelementptr inbounds double, ptr %y, i64 %i
  %v = load double, ptr %py
  %p0 = getelementptr inbounds double, ptr %d, i64 %i
  %c0 = load double, ptr %p0
  %s0 = fadd reassoc nsz contract double %c0, %v
  store double %s0, ptr %p0
  %i.next = add i64 %i, 1
  %p1 = getelementptr inbounds double, ptr %d, i64 %i.next
  %c1 = load double, ptr %p1
  %s1 = fadd reassoc nsz contract double %c1, %v
  store double %s1, ptr %p1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:
  ret void
}
