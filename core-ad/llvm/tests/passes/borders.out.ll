define void @ffgrad.wrap(ptr noalias %a, ptr noalias %b, i64 %rows, i64 %cols) {
entry:
  br label %row

row:                                              ; preds = %end, %entry
  %r = phi i64 [ 0, %entry ], [ %r.next, %end ]
  %line = mul i64 %r, %cols
  %is.first = icmp eq i64 %r, 0
  %p.peel = getelementptr double, ptr %a, i64 %line
  %mine.peel = load double, ptr %p.peel, align 8
  br i1 %is.first, label %right.peel, label %above.peel

above.peel:                                       ; preds = %row
  %i.above.peel = sub i64 %line, %cols
  %p.above.peel = getelementptr double, ptr %a, i64 %i.above.peel
  %v.above.peel = load double, ptr %p.above.peel, align 8
  br label %right.peel

right.peel:                                       ; preds = %row, %above.peel
  %north.peel = phi double [ %mine.peel, %row ], [ %v.above.peel, %above.peel ]
  %has.next.peel = icmp slt i64 1, %cols
  br i1 %has.next.peel, label %behind.peel, label %store.peel

behind.peel:                                      ; preds = %right.peel
  %p.behind.peel = getelementptr i8, ptr %p.peel, i64 8
  %v.behind.peel = load double, ptr %p.behind.peel, align 8
  br label %store.peel

store.peel:                                       ; preds = %behind.peel, %right.peel
  %east.peel = phi double [ %mine.peel, %right.peel ], [ %v.behind.peel, %behind.peel ]
  %s.peel = fadd double %north.peel, %mine.peel
  %t.peel = fadd double %s.peel, %east.peel
  %q.peel = getelementptr double, ptr %b, i64 %line
  store double %t.peel, ptr %q.peel, align 8
  %done.peel = icmp eq i64 1, %cols
  br i1 %done.peel, label %end, label %cell.preheader

cell.preheader:                                   ; preds = %store.peel
  %0 = icmp eq i64 2, %cols
  br i1 %0, label %last, label %cell

cell:                                             ; preds = %cell.preheader, %cell
  %c = phi i64 [ %c.next, %cell ], [ 1, %cell.preheader ]
  %i = add i64 %c, %line
  %p = getelementptr double, ptr %a, i64 %i
  %1 = mul i64 %cols, -8
  %border = select i1 %is.first, i64 0, i64 %1
  %2 = getelementptr i8, ptr %p, i64 %border
  %3 = load double, ptr %2, align 8
  %p.before = getelementptr i8, ptr %p, i64 -8
  %v.before = load double, ptr %p.before, align 8
  %c.next = add nuw nsw i64 %c, 1
  %p.behind = getelementptr i8, ptr %p, i64 8
  %v.behind = load double, ptr %p.behind, align 8
  %s = fadd double %3, %v.before
  %t = fadd double %s, %v.behind
  %q = getelementptr double, ptr %b, i64 %i
  store double %t, ptr %q, align 8
  %4 = add i64 %c.next, 1
  %done = icmp eq i64 %4, %cols
  br i1 %done, label %last, label %cell, !llvm.loop !0

last:                                             ; preds = %cell, %cell.preheader
  %5 = phi i64 [ 1, %cell.preheader ], [ %c.next, %cell ]
  %6 = add i64 %5, %line
  %7 = getelementptr double, ptr %a, i64 %6
  %8 = load double, ptr %7, align 8
  br i1 %is.first, label %last3, label %last2

last2:                                            ; preds = %last
  %9 = sub i64 %6, %cols
  %10 = getelementptr double, ptr %a, i64 %9
  %11 = load double, ptr %10, align 8
  br label %last3

last3:                                            ; preds = %last2, %last
  %12 = phi double [ %8, %last ], [ %11, %last2 ]
  %13 = getelementptr i8, ptr %7, i64 -8
  %14 = load double, ptr %13, align 8
  %15 = fadd double %12, %14
  %16 = fadd double %15, %8
  %17 = getelementptr double, ptr %b, i64 %6
  store double %16, ptr %17, align 8
  br label %end

end:                                              ; preds = %last3, %store.peel
  %r.next = add nuw nsw i64 %r, 1
  %all = icmp eq i64 %r.next, %rows
  br i1 %all, label %out, label %row

out:                                              ; preds = %end
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.peeled.count", i32 1}
