@ffgrad.offset.268435456 = external constant i64, !enzyme_inactive !0

define double @toggle(ptr noalias %q, ptr noalias %x, i64 %n) {
entry:
  %0 = load i64, ptr @ffgrad.offset.268435456, align 4
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %more, %loop ]
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %other = xor i64 %k, 1
  %from = getelementptr double, ptr %q, i64 %other
  %1 = getelementptr i8, ptr %from, i64 %0
  %read = load double, ptr %1, align 8
  %place = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %place, align 8
  %product = fmul double %read, %v
  %to = getelementptr double, ptr %q, i64 %k
  store double %product, ptr %to, align 8
  %negative = fcmp olt double %v, 0.000000e+00
  %next = select i1 %negative, i64 %other, i64 %k
  %more = add i64 %i, 1
  %done = icmp eq i64 %more, %n
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %loop
  ret double %product
}

!0 = !{}
