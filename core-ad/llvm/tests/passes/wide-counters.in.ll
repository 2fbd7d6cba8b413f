; A counter of 128 bits; the comparison behind the loop stays.
define i1 @counts(i128 %n, ptr %x) {
entry:
  br label %loop

loop:
  %i = phi i128 [ 0, %entry ], [ %more, %loop ]
  %more = add i128 %i, 1
  %done = icmp eq i128 %more, %n
  br i1 %done, label %exit, label %loop

exit:
  %last = icmp eq i128 %more, 7
  ret i1 %last
}
