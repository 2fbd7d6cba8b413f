; The first loop adds d[i] to s[i] and clears d[i], the second takes s[i] and adds to d[i - 1], as scatter-to-gather leaves it.
; They run equally often: n > 2 by the branch. Fused, what was in d[0] before the loops is where the carried value starts,
; and s is only cleared.
define void @f(ptr noalias %d, ptr noalias %s, i32 %n) {
entry:
  %long = icmp sgt i32 %n, 2
  %inner = add i32 %n, -2
  %count = zext i32 %inner to i64
  %most = add i32 %n, -1
  %end = zext i32 %most to i64
  %last = add nsw i64 %end, -2
  %d1 = getelementptr i8, ptr %d, i64 8
  %s1 = getelementptr i8, ptr %s, i64 8
  br i1 %long, label %before, label %over

before:
  br label %first

first:
  %i = phi i64 [ 0, %before ], [ %i.next, %first ]
  %pd = getelementptr inbounds double, ptr %d1, i64 %i
  %v = load double, ptr %pd
  store double 0.0, ptr %pd
  %ps = getelementptr inbounds double, ptr %s1, i64 %i
  %c = load double, ptr %ps
  %sum = fadd reassoc nsz contract double %c, %v
  store double %sum, ptr %ps
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %count
  br i1 %done, label %between, label %first

between:
  br label %second

second:
  %carried = phi double [ 0.0, %between ], [ %g, %second ]
  %j = phi i64 [ 0, %between ], [ %j.up, %second ]
  %j.next = add nuw nsw i64 %j, 1
  %qs = getelementptr inbounds double, ptr %s, i64 %j.next
  %w = load double, ptr %qs
  store double 0.0, ptr %qs
  %g = fmul reassoc nsz contract double %w, 3.0
  %h = fadd reassoc nsz contract double %carried, %w
  %qd = getelementptr double, ptr %d, i64 %j
  %lead = load double, ptr %qd
  %new = fadd reassoc nsz contract double %lead, %h
  store double %new, ptr %qd
  %stop = icmp eq i64 %j, %last
  %j.up = add i64 %j, 1
  br i1 %stop, label %exit, label %second

exit:
  %pe = getelementptr i8, ptr %qd, i64 8
  %cell = load double, ptr %pe
  %final = fadd reassoc nsz contract double %cell, %g
  store double %final, ptr %pe
  br label %over

over:
  ret void
}
