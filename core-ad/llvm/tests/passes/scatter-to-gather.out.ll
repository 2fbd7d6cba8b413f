define void @f(ptr noalias %d, ptr noalias %y, i64 %n) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %carried = phi double [ 0.000000e+00, %entry ], [ %s1, %loop ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %py = getelementptr inbounds double, ptr %y, i64 %i
  %v = load double, ptr %py, align 8
  %p0 = getelementptr inbounds double, ptr %d, i64 %i
  %s0 = fadd reassoc nsz contract double 0.000000e+00, %v
  %i.next = add i64 %i, 1
  %p1 = getelementptr inbounds double, ptr %d, i64 %i.next
  %s1 = fadd reassoc nsz contract double 0.000000e+00, %v
  %done = icmp eq i64 %i.next, %n
  %0 = fadd reassoc nsz arcp contract double %carried, %s0
  %cell = load double, ptr %p0, align 8
  %1 = fadd reassoc nsz arcp contract double %cell, %0
  store double %1, ptr %p0, align 8
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %loop
  %2 = getelementptr i8, ptr %p0, i64 8
  %cell1 = load double, ptr %2, align 8
  %3 = fadd reassoc nsz arcp contract double %cell1, %s1
  store double %3, ptr %2, align 8
  ret void
}
