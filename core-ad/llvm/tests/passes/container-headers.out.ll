@ffgrad.offset.134217730 = external constant i64, !enzyme_inactive !0

define double @f(ptr %node, i1 %ends) {
entry:
  %object = alloca [9 x i64], align 8
  %header = getelementptr inbounds i8, ptr %object, i64 8
  %left = getelementptr inbounds i8, ptr %object, i64 24
  %0 = call ptr @ffgrad.same.2(ptr %header)
  store ptr %0, ptr %left, align 8, !tbaa !1
  %1 = call ptr @ffgrad.same.2(ptr %header)
  br i1 %ends, label %search, label %insert

insert:                                           ; preds = %entry
  %2 = call ptr @ffgrad.same.2(ptr %header)
  store ptr %2, ptr %node, align 8
  %first = load ptr, ptr %left, align 8, !tbaa !1
  br label %search

search:                                           ; preds = %insert, %entry
  %at = phi ptr [ %1, %entry ], [ %first, %insert ]
  %key.at = getelementptr inbounds i8, ptr %at, i64 32
  %key = load double, ptr %key.at, align 8
  ret double %key
}

; Function Attrs: nofree noinline nosync nounwind willreturn
define internal ptr @ffgrad.same.2(ptr %0) #0 {
  call void @ffgrad.edge(i32 134217730)
  %2 = load i64, ptr @ffgrad.offset.134217730, align 4
  %3 = getelementptr i8, ptr %0, i64 %2
  ret ptr %3
}

; Function Attrs: nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.edge(i32) #1

attributes #0 = { nofree noinline nosync nounwind willreturn }
attributes #1 = { nofree nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }

!0 = !{}
!1 = !{!2, !5, i64 16}
!2 = !{!"_ZTSSt18_Rb_tree_node_base", !3, i64 0, !5, i64 8, !5, i64 16, !5, i64 24}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C++ TBAA"}
!5 = !{!"any pointer", !3, i64 0}
