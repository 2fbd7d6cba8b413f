define void @clear(ptr %w, i64 %n) #0 {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr double, ptr %w, i64 %i
  store double 0.000000e+00, ptr %p, align 8
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}

attributes #0 = { "no-builtin-memcpy" "no-builtin-memmove" "no-builtin-memset" }
