@ffgrad.offset.0 = external constant i64, !enzyme_inactive !0

define void @f(ptr %x, i64 %n) {
entry:
  %0 = load i64, ptr @ffgrad.offset.0, align 4
  br label %outer

outer:                                            ; preds = %latch, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  br label %inner

inner:                                            ; preds = %inner, %outer
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %pi = getelementptr inbounds double, ptr %x, i64 %i
  %a = load double, ptr %pi, align 8
  %pj = getelementptr inbounds double, ptr %x, i64 %j
  %1 = getelementptr i8, ptr %pj, i64 %0
  %b = load double, ptr %1, align 8
  %ab = fmul double %a, %b
  store double %ab, ptr %x, align 8
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, %n
  br i1 %over, label %latch, label %inner

latch:                                            ; preds = %inner
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %outer

exit:                                             ; preds = %latch
  ret void
}

!0 = !{}
