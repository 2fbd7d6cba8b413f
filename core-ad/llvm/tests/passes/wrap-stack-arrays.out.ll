define double @f(ptr %x, i64 %k) {
entry:
  %0 = alloca { [8 x double] }, align 8
  br label %first

first:                                            ; preds = %first, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %s = phi double [ 0.000000e+00, %entry ], [ %s.next, %first ]
  %p = getelementptr inbounds double, ptr %0, i64 %i
  %v = load double, ptr %p, align 8
  %s.next = fadd double %s, %v
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, 8
  br i1 %done, label %between, label %first

between:                                          ; preds = %first
  %q = getelementptr inbounds double, ptr %0, i64 %k
  store double %s.next, ptr %q, align 8
  br label %second

second:                                           ; preds = %second, %between
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %r = phi double [ %s.next, %between ], [ %r.next, %second ]
  %pj = getelementptr inbounds double, ptr %0, i64 %j
  %w = load double, ptr %pj, align 8
  %r.next = fadd double %r, %w
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, 8
  br i1 %over, label %exit, label %second

exit:                                             ; preds = %second
  ret double %r.next
}
