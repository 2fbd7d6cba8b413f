define double @sum(ptr %q, i64 %n) {
entry:
  %end = getelementptr inbounds double, ptr %q, i64 %n
  %any = icmp sgt i64 %n, 0
  %0 = call i64 @ffgrad.difference(ptr %end, ptr %q)
  %1 = add i64 %0, 7
  %2 = sdiv i64 %1, 8
  br i1 %any, label %loop, label %exit

loop:                                             ; preds = %loop, %entry
  %3 = phi i64 [ 0, %entry ], [ %6, %loop ]
  %p = phi ptr [ %q, %entry ], [ %next, %loop ]
  %s = phi double [ 0.000000e+00, %entry ], [ %more, %loop ]
  %x = load double, ptr %p, align 8
  %more = fadd double %s, %x
  %next = getelementptr inbounds double, ptr %p, i64 1
  %4 = add nsw i64 %3, 1
  %5 = icmp slt i64 %4, %2
  %6 = add nsw i64 %3, 1
  br i1 %5, label %loop, label %exit

exit:                                             ; preds = %loop, %entry
  %sum = phi double [ 0.000000e+00, %entry ], [ %more, %loop ]
  ret double %sum
}

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare "enzyme_type"="{[-1]:Integer}" i64 @ffgrad.difference(ptr captures(none), ptr captures(none)) #0

attributes #0 = { nofree nosync nounwind willreturn memory(none) "enzyme_inactive" "enzyme_nofree" "enzyme_shouldrecompute" }
