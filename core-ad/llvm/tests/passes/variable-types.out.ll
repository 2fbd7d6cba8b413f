define void @clear(ptr %q, ptr %w, i64 %n) {
entry:
  %first = load double, ptr %w, align 8, !tbaa !0
  %whole = load i64, ptr %w, align 4, !tbaa !0
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr double, ptr %q, i64 %i
  store double 0.000000e+00, ptr %place, align 8, !tbaa !4
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}

!0 = !{!1, !1, i64 0}
!1 = !{!"any data access", !2, i64 0}
!2 = !{!"any access", !3, i64 0}
!3 = !{!"Flang function root _QPclear"}
!4 = !{!5, !5, i64 0}
!5 = !{!"double", !6, i64 0}
!6 = !{!"int", !1, i64 0}
