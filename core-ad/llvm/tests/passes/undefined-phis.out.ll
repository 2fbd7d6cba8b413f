define double @ffgrad.wrapper(ptr %weight, ptr %kind, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %end

loop:                                             ; preds = %latch, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %most = phi double [ 0.000000e+00, %entry ], [ %more, %latch ]
  %which = phi double [ 0.000000e+00, %entry ], [ %chosen, %latch ]
  %at = getelementptr double, ptr %weight, i64 %i
  %w = load double, ptr %at, align 8
  %of = getelementptr double, ptr %kind, i64 %i
  %k = load double, ptr %of, align 8
  %larger = fcmp olt double %most, %w
  br i1 %larger, label %then, label %latch

then:                                             ; preds = %loop
  br label %latch

latch:                                            ; preds = %then, %loop
  %more = phi double [ %w, %then ], [ %most, %loop ]
  %chosen = phi double [ %k, %then ], [ %which, %loop ]
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end

end:                                              ; preds = %latch, %entry
  %value = phi double [ 0.000000e+00, %entry ], [ %chosen, %latch ]
  ret double %value
}
