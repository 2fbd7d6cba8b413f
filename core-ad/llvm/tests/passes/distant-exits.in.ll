; The first exit, of two edges, is far from the header, by more than 50,000 paths: it goes through a new latch. The exit of the last block stays.
define double @f(i1 %more, i32 %case) {
entry:
  br label %header

header:
  %s = phi double [ 1.000000e+00, %entry ], [ %next, %last ]
  %early = fadd double %s, 1.000000e+00
  br label %middle

middle:
  switch i32 %case, label %a1 [
    i32 7, label %exit
    i32 8, label %exit
  ]

a1:
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

a2:
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

a3:
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

a4:
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

a5:
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

last:
  %next = fmul double %s, %s
  br i1 %more, label %header, label %exit

exit:
  %result = phi double [ %early, %middle ], [ %early, %middle ], [ %next, %last ]
  ret double %result
}
