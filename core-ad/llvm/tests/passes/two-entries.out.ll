define double @circle(double %x, i1 %first, i64 %n) {
entry:
  %first.inv = xor i1 %first, true
  br label %irr.guard

a:                                                ; preds = %irr.guard, %b
  %s = phi double [ %more, %b ], [ %s.moved, %irr.guard ]
  %i = phi i64 [ %next, %b ], [ %i.moved, %irr.guard ]
  %square = fmul double %s, %s
  br label %irr.guard

b:                                                ; preds = %irr.guard
  %more = fadd double %t.moved, %x
  %next = add i64 %j.moved, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %a

exit:                                             ; preds = %b
  ret double %more

irr.guard:                                        ; preds = %entry, %a
  %i.moved = phi i64 [ poison, %a ], [ 0, %entry ]
  %s.moved = phi double [ poison, %a ], [ %x, %entry ]
  %j.moved = phi i64 [ %i, %a ], [ 0, %entry ]
  %t.moved = phi double [ %square, %a ], [ %x, %entry ]
  %Guard.b = phi i1 [ true, %a ], [ %first.inv, %entry ]
  br i1 %Guard.b, label %b, label %a
}
