define double @f(ptr %x, i64 %n) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %s = phi double [ 0.000000e+00, %entry ], [ %s.next, %loop ]
  %t = phi double [ 0.000000e+00, %entry ], [ %t.next, %loop ]
  %p = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %p, align 8
  %s.next = fadd reassoc contract double %s, %v
  %t.next = fadd contract double %t, %v
  store double %t, ptr %p, align 8
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %loop
  %r = fadd contract double %s.next, %t.next
  ret double %r
}
