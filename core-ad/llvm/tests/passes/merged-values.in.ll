; Five branches one after another: the phi behind the last is kept, and the others are recomputed.
define double @f(i1 %more) {
entry:
  br label %test1

test1:
  %s = phi double [ 1.000000e+00, %entry ], [ %s6, %latch ]
  %c1 = fcmp ogt double %s, 1.000000e+00
  br i1 %c1, label %up1, label %test2

up1:
  %m1 = fmul double %s, %s
  br label %test2

test2:
  %s2 = phi double [ %m1, %up1 ], [ %s, %test1 ]
  %c2 = fcmp ogt double %s2, 2.000000e+00
  br i1 %c2, label %up2, label %test3

up2:
  %m2 = fmul double %s2, %s2
  br label %test3

test3:
  %s3 = phi double [ %m2, %up2 ], [ %s2, %test2 ]
  %c3 = fcmp ogt double %s3, 3.000000e+00
  br i1 %c3, label %up3, label %test4

up3:
  %m3 = fmul double %s3, %s3
  br label %test4

test4:
  %s4 = phi double [ %m3, %up3 ], [ %s3, %test3 ]
  %c4 = fcmp ogt double %s4, 4.000000e+00
  br i1 %c4, label %up4, label %test5

up4:
  %m4 = fmul double %s4, %s4
  br label %test5

test5:
  %s5 = phi double [ %m4, %up4 ], [ %s4, %test4 ]
  %c5 = fcmp ogt double %s5, 5.000000e+00
  br i1 %c5, label %up5, label %latch

up5:
  %m5 = fmul double %s5, %s5
  br label %latch

latch:
  %s6 = phi double [ %m5, %up5 ], [ %s5, %test5 ]
  br i1 %more, label %test1, label %exit

exit:
  ret double %s6
}
