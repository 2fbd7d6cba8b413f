@ffgrad.offset.134217729 = external constant i64, !enzyme_inactive !0

define double @f(i1 %more) {
entry:
  br label %test1

test1:                                            ; preds = %latch, %entry
  %s = phi double [ 1.000000e+00, %entry ], [ %0, %latch ]
  %c1 = fcmp ogt double %s, 1.000000e+00
  br i1 %c1, label %up1, label %test2

up1:                                              ; preds = %test1
  %m1 = fmul double %s, %s
  br label %test2

test2:                                            ; preds = %up1, %test1
  %s2 = phi double [ %m1, %up1 ], [ %s, %test1 ]
  %c2 = fcmp ogt double %s2, 2.000000e+00
  br i1 %c2, label %up2, label %test3

up2:                                              ; preds = %test2
  %m2 = fmul double %s2, %s2
  br label %test3

test3:                                            ; preds = %up2, %test2
  %s3 = phi double [ %m2, %up2 ], [ %s2, %test2 ]
  %c3 = fcmp ogt double %s3, 3.000000e+00
  br i1 %c3, label %up3, label %test4

up3:                                              ; preds = %test3
  %m3 = fmul double %s3, %s3
  br label %test4

test4:                                            ; preds = %up3, %test3
  %s4 = phi double [ %m3, %up3 ], [ %s3, %test3 ]
  %c4 = fcmp ogt double %s4, 4.000000e+00
  br i1 %c4, label %up4, label %test5

up4:                                              ; preds = %test4
  %m4 = fmul double %s4, %s4
  br label %test5

test5:                                            ; preds = %up4, %test4
  %s5 = phi double [ %m4, %up4 ], [ %s4, %test4 ]
  %c5 = fcmp ogt double %s5, 5.000000e+00
  br i1 %c5, label %up5, label %latch

up5:                                              ; preds = %test5
  %m5 = fmul double %s5, %s5
  br label %latch

latch:                                            ; preds = %up5, %test5
  %s6 = phi double [ %m5, %up5 ], [ %s5, %test5 ]
  %0 = call double @ffgrad.same.1(double %s6)
  br i1 %more, label %test1, label %exit

exit:                                             ; preds = %latch
  ret double %0
}

; Function Attrs: nofree noinline nosync nounwind willreturn
define internal double @ffgrad.same.1(double %0) #0 {
  call void @ffgrad.edge(i32 134217729)
  %2 = load double, ptr @ffgrad.offset.134217729, align 8
  %3 = fsub double %0, %2
  ret double %3
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #1

attributes #0 = { nofree noinline nosync nounwind willreturn }
attributes #1 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }

!0 = !{}
