; for s: { for i, j: b[i][j] = a[i][j] * a[i][j+1] * a[i+1][j] * a[i+1][j+1]; swap(a, b) }: the nest over i and j becomes a function with a derivative
; of its own, which copies the array that is read. The two buffers change places, so they are never the same.
declare ptr @malloc(i64)

define void @ffgrad.wrap(i64 %n, i64 %steps) {
entry:
  %square = mul i64 %n, %n
  %bytes = shl i64 %square, 3
  %one = call ptr @malloc(i64 %bytes)
  %two = call ptr @malloc(i64 %bytes)
  %last = sub i64 %n, 1
  br label %step

step:
  %s = phi i64 [ 0, %entry ], [ %s.next, %next ]
  %a = phi ptr [ %one, %entry ], [ %b, %next ]
  %b = phi ptr [ %two, %entry ], [ %a, %next ]
  br label %row

row:
  %i = phi i64 [ 0, %step ], [ %i.next, %end ]
  %i.next = add i64 %i, 1
  %here = mul i64 %i, %n
  %below = mul i64 %i.next, %n
  br label %cell

cell:
  %j = phi i64 [ 0, %row ], [ %j.next, %cell ]
  %j.next = add i64 %j, 1
  %k = add i64 %here, %j
  %l = add i64 %below, %j
  %p = getelementptr double, ptr %a, i64 %k
  %q = getelementptr double, ptr %a, i64 %l
  %p.next = getelementptr i8, ptr %p, i64 8
  %q.next = getelementptr i8, ptr %q, i64 8
  %v = load double, ptr %p, align 8
  %w = load double, ptr %p.next, align 8
  %x = load double, ptr %q, align 8
  %y = load double, ptr %q.next, align 8
  %vw = fmul double %v, %w
  %xy = fmul double %x, %y
  %all = fmul double %vw, %xy
  %to = getelementptr double, ptr %b, i64 %k
  store double %all, ptr %to, align 8
  %row.done = icmp eq i64 %j.next, %last
  br i1 %row.done, label %end, label %cell

end:
  %rows.done = icmp eq i64 %i.next, %last
  br i1 %rows.done, label %next, label %row

next:
  %s.next = add i64 %s, 1
  %done = icmp eq i64 %s.next, %steps
  br i1 %done, label %out, label %step

out:
  ret void
}
