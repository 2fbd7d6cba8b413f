@ffgrad.offset.1073741824 = external constant i64, !enzyme_inactive !0

define double @f(i1 %more, i32 %case) {
entry:
  %0 = load i64, ptr @ffgrad.offset.1073741824, align 4
  %1 = add i64 %0, 1
  br label %header

2:                                                ; preds = %middle, %middle, %last
  %3 = phi i64 [ %0, %last ], [ %1, %middle ], [ %1, %middle ]
  %4 = phi double [ %next, %last ], [ 0.000000e+00, %middle ], [ 0.000000e+00, %middle ]
  %5 = phi double [ %early, %middle ], [ %early, %middle ], [ 0.000000e+00, %last ]
  %6 = icmp eq i64 %3, 0
  br i1 %6, label %header, label %exit

header:                                           ; preds = %2, %entry
  %7 = phi double [ 1.000000e+00, %entry ], [ %4, %2 ]
  %early = fadd double %7, 1.000000e+00
  br label %middle

middle:                                           ; preds = %header
  switch i32 %case, label %a1 [
    i32 7, label %2
    i32 8, label %2
  ]

a1:                                               ; preds = %middle
  switch i32 %case, label %a2 [
    i32 1, label %a2
    i32 2, label %a2
    i32 3, label %a2
    i32 4, label %a2
    i32 5, label %a2
    i32 6, label %a2
    i32 7, label %a2
    i32 8, label %a2
    i32 9, label %a2
    i32 10, label %a2
  ]

a2:                                               ; preds = %a1, %a1, %a1, %a1, %a1, %a1, %a1, %a1, %a1, %a1, %a1
  switch i32 %case, label %a3 [
    i32 1, label %a3
    i32 2, label %a3
    i32 3, label %a3
    i32 4, label %a3
    i32 5, label %a3
    i32 6, label %a3
    i32 7, label %a3
    i32 8, label %a3
    i32 9, label %a3
    i32 10, label %a3
  ]

a3:                                               ; preds = %a2, %a2, %a2, %a2, %a2, %a2, %a2, %a2, %a2, %a2, %a2
  switch i32 %case, label %a4 [
    i32 1, label %a4
    i32 2, label %a4
    i32 3, label %a4
    i32 4, label %a4
    i32 5, label %a4
    i32 6, label %a4
    i32 7, label %a4
    i32 8, label %a4
    i32 9, label %a4
    i32 10, label %a4
  ]

a4:                                               ; preds = %a3, %a3, %a3, %a3, %a3, %a3, %a3, %a3, %a3, %a3, %a3
  switch i32 %case, label %a5 [
    i32 1, label %a5
    i32 2, label %a5
    i32 3, label %a5
    i32 4, label %a5
    i32 5, label %a5
    i32 6, label %a5
    i32 7, label %a5
    i32 8, label %a5
    i32 9, label %a5
    i32 10, label %a5
  ]

a5:                                               ; preds = %a4, %a4, %a4, %a4, %a4, %a4, %a4, %a4, %a4, %a4, %a4
  switch i32 %case, label %last [
    i32 1, label %last
    i32 2, label %last
    i32 3, label %last
    i32 4, label %last
    i32 5, label %last
    i32 6, label %last
    i32 7, label %last
    i32 8, label %last
    i32 9, label %last
    i32 10, label %last
  ]

last:                                             ; preds = %a5, %a5, %a5, %a5, %a5, %a5, %a5, %a5, %a5, %a5, %a5
  %next = fmul double %7, %7
  br i1 %more, label %2, label %exit

exit:                                             ; preds = %2, %last
  %8 = phi double [ %next, %last ], [ %5, %2 ]
  ret double %8
}

!0 = !{}
