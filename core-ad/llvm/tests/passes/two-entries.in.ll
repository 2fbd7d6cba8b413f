; A circle of two blocks that is entered at either.
define double @circle(double %x, i1 %first, i64 %n) {
entry:
  br i1 %first, label %a, label %b

a:
  %s = phi double [ %x, %entry ], [ %more, %b ]
  %i = phi i64 [ 0, %entry ], [ %next, %b ]
  %square = fmul double %s, %s
  br label %b

b:
  %t = phi double [ %x, %entry ], [ %square, %a ]
  %j = phi i64 [ 0, %entry ], [ %i, %a ]
  %more = fadd double %t, %x
  %next = add i64 %j, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %a

exit:
  ret double %more
}
