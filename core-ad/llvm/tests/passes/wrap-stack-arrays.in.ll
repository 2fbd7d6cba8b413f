; Two loops read %t, and an element is written in between: %t becomes the member of a structure.
define double @f(ptr %x, i64 %k) {
entry:
  %t = alloca [8 x double]
  br label %first

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %s = phi double [ 0.0, %entry ], [ %s.next, %first ]
  %p = getelementptr inbounds double, ptr %t, i64 %i
  %v = load double, ptr %p
  %s.next = fadd double %s, %v
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, 8
  br i1 %done, label %between, label %first

between:
  %q = getelementptr inbounds double, ptr %t, i64 %k
  store double %s.next, ptr %q
  br label %second

second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %r = phi double [ %s.next, %between ], [ %r.next, %second ]
  %pj = getelementptr inbounds double, ptr %t, i64 %j
  %w = load double, ptr %pj
  %r.next = fadd double %r, %w
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, 8
  br i1 %over, label %exit, label %second

exit:
  ret double %r.next
}
