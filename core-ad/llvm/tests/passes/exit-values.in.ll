; Where the inner loop has stopped last is used behind the outer one.
declare void @use(i64)

define void @scan(ptr %a, i64 %hi, double %p) {
entry:
  br label %outer

outer:
  %j = phi i64 [ %hi, %entry ], [ %last, %latch ]
  br label %inner

inner:
  %at = phi i64 [ %j, %outer ], [ %down, %inner ]
  %place = getelementptr double, ptr %a, i64 %at
  %v = load double, ptr %place
  %down = add i64 %at, -1
  %large = fcmp ogt double %v, %p
  br i1 %large, label %inner, label %latch

latch:
  %last = sub i64 %at, 2
  %go_on = icmp sgt i64 %last, 0
  br i1 %go_on, label %outer, label %behind

behind:
  call void @use(i64 %last)
  ret void
}
