; for r, c: b[r][c] = a[r][c] + (r > 0 ? a[r-1][c] : a[r][c]) + (c > 0 ? a[r][c-1] : a[r][c]) + (c + 1 < cols ? a[r][c+1] : a[r][c]): the first and the
; last iteration over c are peeled off, and the load of the row above, on a condition that c does not change, becomes one at a chosen address.
define void @ffgrad.wrap(ptr noalias %a, ptr noalias %b, i64 %rows, i64 %cols) {
entry:
  br label %row

row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %end ]
  %line = mul i64 %r, %cols
  %is.first = icmp eq i64 %r, 0
  br label %cell

cell:
  %c = phi i64 [ 0, %row ], [ %c.next, %store ]
  %i = add i64 %c, %line
  %p = getelementptr double, ptr %a, i64 %i
  %mine = load double, ptr %p, align 8
  br i1 %is.first, label %left, label %above

above:
  %i.above = sub i64 %i, %cols
  %p.above = getelementptr double, ptr %a, i64 %i.above
  %v.above = load double, ptr %p.above, align 8
  br label %left

left:
  %north = phi double [ %mine, %cell ], [ %v.above, %above ]
  %is.left = icmp eq i64 %c, 0
  br i1 %is.left, label %right, label %before

before:
  %p.before = getelementptr i8, ptr %p, i64 -8
  %v.before = load double, ptr %p.before, align 8
  br label %right

right:
  %west = phi double [ %mine, %left ], [ %v.before, %before ]
  %c.next = add nuw nsw i64 %c, 1
  %has.next = icmp slt i64 %c.next, %cols
  br i1 %has.next, label %behind, label %store

behind:
  %p.behind = getelementptr i8, ptr %p, i64 8
  %v.behind = load double, ptr %p.behind, align 8
  br label %store

store:
  %east = phi double [ %mine, %right ], [ %v.behind, %behind ]
  %s = fadd double %north, %west
  %t = fadd double %s, %east
  %q = getelementptr double, ptr %b, i64 %i
  store double %t, ptr %q, align 8
  %done = icmp eq i64 %c.next, %cols
  br i1 %done, label %end, label %cell

end:
  %r.next = add nuw nsw i64 %r, 1
  %all = icmp eq i64 %r.next, %rows
  br i1 %all, label %out, label %row

out:
  ret void
}
