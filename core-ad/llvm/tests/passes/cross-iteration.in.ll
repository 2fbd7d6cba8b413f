; Two slots; the sign of the values says which is replaced.
define double @toggle(ptr noalias %q, ptr noalias %x, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %more, %loop ]
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %other = xor i64 %k, 1
  %from = getelementptr double, ptr %q, i64 %other
  %read = load double, ptr %from
  %place = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %place
  %product = fmul double %read, %v
  %to = getelementptr double, ptr %q, i64 %k
  store double %product, ptr %to
  %negative = fcmp olt double %v, 0.0
  %next = select i1 %negative, i64 %other, i64 %k
  %more = add i64 %i, 1
  %done = icmp eq i64 %more, %n
  br i1 %done, label %exit, label %loop

exit:
  ret double %product
}
