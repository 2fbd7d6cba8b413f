@ffgrad.offset.1073741824 = external constant i64, !enzyme_inactive !0

define i1 @counts(i128 %n, ptr %x) {
entry:
  %0 = load i64, ptr @ffgrad.offset.1073741824, align 4
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i128 [ 0, %entry ], [ %more, %loop ]
  %more = add i128 %i, 1
  %1 = zext i64 %0 to i128
  %2 = xor i128 %more, %1
  %done = icmp eq i128 %2, %n
  br i1 %done, label %exit, label %loop

exit:                                             ; preds = %loop
  %last = icmp eq i128 %more, 7
  ret i1 %last
}

!0 = !{}
