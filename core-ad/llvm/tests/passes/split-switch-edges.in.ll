; Cases 1 and 2 lead to %end by two edges from %entry: each successor gets one edge, through a block of its own.
define double @f(i32 %n, double %a) {
entry:
  switch i32 %n, label %other [
    i32 1, label %end
    i32 2, label %end
  ]

other:
  br label %end

end:
  %t = phi double [ %a, %entry ], [ %a, %entry ], [ 0.0, %other ]
  ret double %t
}
