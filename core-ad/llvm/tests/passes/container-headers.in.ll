; The header of a tree is 8 bytes behind an object's begin: its address is hidden where it becomes a link or a value of the phi. The node's is not.
define double @f(ptr %node, i1 %ends) {
entry:
  %object = alloca [9 x i64]
  %header = getelementptr inbounds i8, ptr %object, i64 8
  %left = getelementptr inbounds i8, ptr %object, i64 24
  store ptr %header, ptr %left, !tbaa !0
  br i1 %ends, label %search, label %insert

insert:
  store ptr %header, ptr %node
  %first = load ptr, ptr %left, !tbaa !0
  br label %search

search:
  %at = phi ptr [ %header, %entry ], [ %first, %insert ]
  %key.at = getelementptr inbounds i8, ptr %at, i64 32
  %key = load double, ptr %key.at
  ret double %key
}

!0 = !{!1, !2, i64 16}
!1 = !{!"_ZTSSt18_Rb_tree_node_base", !3, i64 0, !2, i64 8, !2, i64 16, !2, i64 24}
!2 = !{!"any pointer", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C++ TBAA"}
