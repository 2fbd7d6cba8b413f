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

before:                                           ; preds = %entry
  %0 = getelementptr double, ptr %d, i64 0
  %1 = getelementptr i8, ptr %0, i64 0
  %held = load double, ptr %1, align 8
  br label %first

first:                                            ; preds = %first, %before
  %2 = phi i64 [ 0, %before ], [ %11, %first ]
  %3 = phi double [ %held, %before ], [ %6, %first ]
  %i = phi i64 [ 0, %before ], [ %i.next, %first ]
  %pd = getelementptr inbounds double, ptr %d1, i64 %i
  %v = load double, ptr %pd, align 8
  %ps = getelementptr inbounds double, ptr %s1, i64 %i
  %c = load double, ptr %ps, align 8
  %sum = fadd reassoc nsz contract double %c, %v
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, %count
  %4 = add nuw nsw i64 %2, 1
  %5 = getelementptr inbounds double, ptr %s, i64 %4
  store double 0.000000e+00, ptr %5, align 8
  %6 = fmul reassoc nsz contract double %sum, 3.000000e+00
  %7 = fadd reassoc nsz contract double %3, %sum
  %8 = getelementptr double, ptr %d, i64 %2
  %9 = fadd reassoc nsz contract double 0.000000e+00, %7
  store double %9, ptr %8, align 8
  %10 = icmp eq i64 %2, %last
  %11 = add i64 %2, 1
  br i1 %done, label %exit, label %first

exit:                                             ; preds = %first
  %12 = getelementptr i8, ptr %8, i64 8
  store double 0.000000e+00, ptr %12, align 8
  %pe = getelementptr i8, ptr %8, i64 8
  %cell = load double, ptr %pe, align 8
  %final = fadd reassoc nsz contract double %cell, %6
  store double %final, ptr %pe, align 8
  br label %over

over:                                             ; preds = %exit, %entry
  ret void
}
