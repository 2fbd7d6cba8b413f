; A loop of flang's clears Q, another tag is of memory with numbers and integers: EQUIVALENCE. Tags as they are when modules have been read.
define void @clear(ptr %q, ptr %w, i64 %n) {
entry:
  %first = load double, ptr %w, !tbaa !5
  %whole = load i64, ptr %w, !tbaa !5
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr double, ptr %q, i64 %i
  store double 0.0, ptr %place, !tbaa !0
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done

done:
  ret void
}

!0 = !{!1, !1, i64 0}
!1 = !{!"Fortran double precision", !2, i64 0}
!2 = !{!"Fortran integers", !3, i64 0}
!3 = !{!"any data access", !4, i64 0}
!4 = !{!"any access", !6, i64 0}
!5 = !{!3, !3, i64 0}
!6 = !{!"Flang function root _QPclear"}
