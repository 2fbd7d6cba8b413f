; One branch reads half the positions, the other writes from the end: neither loop dominates the other.
define double @rounds(ptr noalias %a, i64 %n, i64 %m) {
entry:
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %s = phi double [ 0.0, %entry ], [ %s.out, %latch ]
  %odd = trunc i64 %i to i1
  br i1 %odd, label %reads, label %writes

reads:
  %j = phi i64 [ 0, %outer ], [ %j.next, %reads ]
  %sum = phi double [ %s, %outer ], [ %more, %reads ]
  %half = lshr i64 %j, 1
  %at = getelementptr double, ptr %a, i64 %half
  %v = load double, ptr %at
  %plain = getelementptr double, ptr %a, i64 %j
  %w = load double, ptr %plain
  %product = fmul double %v, %w
  %more = fadd double %sum, %product
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %m
  br i1 %j.done, label %latch, label %reads

writes:
  %k = phi i64 [ 0, %outer ], [ %k.next, %writes ]
  %to = getelementptr double, ptr %a, i64 %k
  store double %s, ptr %to
  %k.next = add nuw nsw i64 %k, 1
  %k.done = icmp eq i64 %k.next, %m
  br i1 %k.done, label %latch, label %writes

latch:
  %s.out = phi double [ %more, %reads ], [ %s, %writes ]
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %outer

exit:
  ret double %s.out
}
