@ffgrad.offset.67108864 = external constant i64, !enzyme_inactive !0

define void @f(ptr %x, ptr %y, i64 %n) {
entry:
  %0 = load double, ptr @ffgrad.offset.67108864, align 8
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %most = phi double [ 0.000000e+00, %entry ], [ %next, %loop ]
  %px = getelementptr inbounds double, ptr %x, i64 %i
  %v = load double, ptr %px, align 8
  %greater = fcmp ogt double %v, %most
  %1 = fsub double %most, %0
  %next = select i1 %greater, double %v, double %1
  %py = getelementptr inbounds double, ptr %y, i64 %i
  store double %next, ptr %py, align 8
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %loop
  ret void
}

!0 = !{}
