@ffgrad.offset.134217729 = external constant i64, !enzyme_inactive !0

define double @f(ptr %x, i64 %n) {
entry:
  br label %outer

outer:                                            ; preds = %latch, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  br label %inner

inner:                                            ; preds = %inner, %outer
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %c = phi double [ 0.000000e+00, %outer ], [ %v, %inner ]
  %0 = call double @ffgrad.same.1(double %c)
  %p = getelementptr inbounds double, ptr %x, i64 %j
  %v = load double, ptr %p, align 8
  %j.next = add i64 %j, 1
  %over = icmp eq i64 %j.next, %n
  br i1 %over, label %latch, label %inner

latch:                                            ; preds = %inner
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, %n
  br i1 %done, label %exit, label %outer

exit:                                             ; preds = %latch
  ret double %0
}

; Function Attrs: nofree noinline nosync nounwind willreturn
define internal double @ffgrad.same.1(double %0) #0 {
  call void @ffgrad.edge(i32 134217729)
  %2 = load double, ptr @ffgrad.offset.134217729, align 8
  %3 = fsub double %0, %2
  ret double %3
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #1

attributes #0 = { nofree noinline nosync nounwind willreturn }
attributes #1 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }

!0 = !{}
