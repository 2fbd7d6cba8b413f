define void @f(ptr noalias %d, ptr noalias %y, i64 %n, i64 %m) {
entry:
  br label %row

row:                                              ; preds = %entry, %row
  %0 = phi i64 [ 0, %entry ], [ %4, %row ]
  %1 = getelementptr inbounds double, ptr %y, i64 %0
  %2 = load double, ptr %1, align 8
  %3 = fmul reassoc nsz contract double %2, 2.000000e+00
  %4 = add i64 %0, 1
  %5 = add i64 %0, %n
  %6 = getelementptr inbounds double, ptr %d, i64 %5
  %7 = load double, ptr %6, align 8
  %8 = fadd reassoc nsz contract double %7, %3
  store double %8, ptr %6, align 8
  %9 = icmp eq i64 %4, %m
  br i1 %9, label %rows, label %row

rows:                                             ; preds = %row
  br label %loop

loop:                                             ; preds = %rows, %loop
  %10 = phi i64 [ 0, %rows ], [ %i.next, %loop ]
  %py = getelementptr inbounds double, ptr %y, i64 %10
  %v = load double, ptr %py, align 8
  store double 0.000000e+00, ptr %py, align 8
  %w = fmul reassoc nsz contract double %v, 2.000000e+00
  %p0 = getelementptr inbounds double, ptr %d, i64 %10
  %c0 = load double, ptr %p0, align 8
  %s0 = fadd reassoc nsz contract double %c0, %v
  store double %s0, ptr %p0, align 8
  %i.next = add i64 %10, 1
  %p1 = getelementptr inbounds double, ptr %d, i64 %i.next
  %c1 = load double, ptr %p1, align 8
  %s1 = fadd reassoc nsz contract double %c1, %v
  store double %s1, ptr %p1, align 8
  %above = add i64 %10, %n
  %p2 = getelementptr inbounds double, ptr %d, i64 %above
  %s2 = fadd reassoc nsz contract double 0.000000e+00, %w
  %done = icmp eq i64 %i.next, %m
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %loop
  ret void
}
