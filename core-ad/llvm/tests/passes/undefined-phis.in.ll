; The kind of the largest weight: undefined before the first iteration, or where there is none.
define double @ffgrad.wrapper(ptr %weight, ptr %kind, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %end

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %most = phi double [ 0.000000e+00, %entry ], [ %more, %latch ]
  %which = phi double [ undef, %entry ], [ %chosen, %latch ]
  %at = getelementptr double, ptr %weight, i64 %i
  %w = load double, ptr %at
  %of = getelementptr double, ptr %kind, i64 %i
  %k = load double, ptr %of
  %larger = fcmp olt double %most, %w
  br i1 %larger, label %then, label %latch

then:
  br label %latch

latch:
  %more = phi double [ %w, %then ], [ %most, %loop ]
  %chosen = phi double [ %k, %then ], [ %which, %loop ]
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %end

end:
  %value = phi double [ poison, %entry ], [ %chosen, %latch ]
  ret double %value
}
