; A plain sum of a one-block loop may be added up in any order; %last uses its phi elsewhere and may not.
define double @f(ptr %x, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %s.next, %loop ]
  %t = phi double [ 0.0, %entry ], [ %t.next, %loop ]
  %p = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %p
  %s.next = fadd contract double %s, %v
  %t.next = fadd contract double %t, %v
  store double %t, ptr %p
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:
  %r = fadd contract double %s.next, %t.next
  ret double %r
}
