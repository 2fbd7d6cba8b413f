@ffgrad.offset.536870912 = external constant i64, !enzyme_inactive !0

define double @rounds(ptr noalias %a, i64 %n, i64 %m) {
entry:
  %0 = load i64, ptr @ffgrad.offset.536870912, align 4
  br label %outer

outer:                                            ; preds = %latch, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %s = phi double [ 0.000000e+00, %entry ], [ %s.out, %latch ]
  %odd = trunc i64 %i to i1
  br i1 %odd, label %reads, label %writes

reads:                                            ; preds = %reads, %outer
  %j = phi i64 [ 0, %outer ], [ %j.next, %reads ]
  %sum = phi double [ %s, %outer ], [ %more, %reads ]
  %half = lshr i64 %j, 1
  %at = getelementptr double, ptr %a, i64 %half
  %1 = xor i64 %half, %0
  %2 = getelementptr double, ptr %a, i64 %1
  %v = load double, ptr %2, align 8
  %plain = getelementptr double, ptr %a, i64 %j
  %w = load double, ptr %plain, align 8
  %product = fmul double %v, %w
  %more = fadd double %sum, %product
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %m
  br i1 %j.done, label %latch, label %reads

writes:                                           ; preds = %writes, %outer
  %k = phi i64 [ 0, %outer ], [ %k.next, %writes ]
  %to = getelementptr double, ptr %a, i64 %k
  store double %s, ptr %to, align 8
  %k.next = add nuw nsw i64 %k, 1
  %k.done = icmp eq i64 %k.next, %m
  br i1 %k.done, label %latch, label %writes

latch:                                            ; preds = %writes, %reads
  %s.out = phi double [ %more, %reads ], [ %s, %writes ]
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %outer

exit:                                             ; preds = %latch
  ret double %s.out
}

!0 = !{}
