@ffgrad.offset.134217794 = external constant i64, !enzyme_inactive !0

declare void @use(i64)

define void @scan(ptr %a, i64 %hi, double %p) {
entry:
  br label %outer

outer:                                            ; preds = %latch, %entry
  %j = phi i64 [ %hi, %entry ], [ %last, %latch ]
  br label %inner

inner:                                            ; preds = %inner, %outer
  %at = phi i64 [ %j, %outer ], [ %down, %inner ]
  %place = getelementptr double, ptr %a, i64 %at
  %v = load double, ptr %place, align 8
  %down = add i64 %at, -1
  %large = fcmp ogt double %v, %p
  br i1 %large, label %inner, label %latch

latch:                                            ; preds = %inner
  %at.lcssa = phi i64 [ %at, %inner ]
  %last = sub i64 %at.lcssa, 2
  %go_on = icmp sgt i64 %last, 0
  br i1 %go_on, label %outer, label %behind

behind:                                           ; preds = %latch
  %last.lcssa = phi i64 [ %last, %latch ]
  %0 = call i64 @ffgrad.same.66(i64 %last.lcssa)
  call void @use(i64 %0)
  ret void
}

; Function Attrs: nofree noinline nosync nounwind willreturn
define internal i64 @ffgrad.same.66(i64 %0) #0 {
  call void @ffgrad.edge(i32 134217794)
  %2 = load i64, ptr @ffgrad.offset.134217794, align 4
  %3 = sub i64 %0, %2
  ret i64 %3
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #1

attributes #0 = { nofree noinline nosync nounwind willreturn "enzyme_inactive" }
attributes #1 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }

!0 = !{}
