; Two nests read a[i][j], and a[j][i]; unrolled, the inner loops would leave a[i][0], a[i][1] .. with equal SCEVs in both loops of i: they stay loops,
; and the first loop of i, which has constant length, too.
; The loop that fills a depends on one counter alone, and may be unrolled.
define double @f(ptr noalias %a, i64 %n) {
entry:
  br label %fill

fill:
  %k = phi i64 [ 0, %entry ], [ %k.next, %fill ]
  %k.at = getelementptr double, ptr %a, i64 %k
  %old = load double, ptr %k.at
  %new = fmul double %old, %old
  store double %new, ptr %k.at
  %k.next = add i64 %k, 1
  %k.done = icmp eq i64 %k.next, 16
  br i1 %k.done, label %first, label %fill

first:
  %i = phi i64 [ 0, %fill ], [ %i.next, %first.latch ]
  %s.outer = phi double [ 0.0, %fill ], [ %s.next, %first.latch ]
  %row = getelementptr [4 x double], ptr %a, i64 %i
  br label %first.inner

first.inner:
  %j = phi i64 [ 0, %first ], [ %j.next, %first.inner ]
  %s = phi double [ %s.outer, %first ], [ %s.next, %first.inner ]
  %ij = getelementptr double, ptr %row, i64 %j
  %x = load double, ptr %ij
  %square = fmul double %x, %x
  %s.next = fadd double %s, %square
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, 4
  br i1 %j.done, label %first.latch, label %first.inner

first.latch:
  %i.next = add i64 %i, 1
  %i.done = icmp eq i64 %i.next, 4
  br i1 %i.done, label %second, label %first

second:
  %p = phi i64 [ 0, %first.latch ], [ %p.next, %second.latch ]
  %t.outer = phi double [ 0.0, %first.latch ], [ %t.next, %second.latch ]
  %row.p = getelementptr [4 x double], ptr %a, i64 %p
  br label %second.inner

second.inner:
  %q = phi i64 [ 0, %second ], [ %q.next, %second.inner ]
  %t = phi double [ %t.outer, %second ], [ %t.next, %second.inner ]
  %pq = getelementptr double, ptr %row.p, i64 %q
  %z = load double, ptr %pq
  %part = fmul double %z, %s.next
  %t.next = fadd double %t, %part
  %q.next = add i64 %q, 1
  %q.done = icmp eq i64 %q.next, 4
  br i1 %q.done, label %second.latch, label %second.inner

second.latch:
  %p.next = add i64 %p, 1
  %p.done = icmp eq i64 %p.next, %n
  br i1 %p.done, label %end, label %second

end:
  ret double %t.next
}
