; The count of a list's header, reached by way of the class around it, is read and written by functions. A link and a number are not.
target triple = "x86_64-unknown-linux-gnu"

define i64 @push(ptr %list, ptr %node) {
  %count = getelementptr i8, ptr %list, i64 16
  %n = load i64, ptr %count, align 8, !tbaa !0
  %more = add i64 %n, 1
  store i64 %more, ptr %count, align 8, !tbaa !4
  store ptr %node, ptr %list, align 8, !tbaa !7
  %other = load i64, ptr %node, align 8, !tbaa !8
  ret i64 %other
}

!0 = !{!1, !9, i64 16}
!1 = !{!"_ZTSNSt7__cxx1110_List_baseIdSaIdEEE", !2, i64 0}
!2 = !{!"_ZTSNSt7__cxx1110_List_baseIdSaIdEE10_List_implE", !3, i64 0}
!3 = !{!"_ZTSNSt8__detail17_List_node_headerE", !5, i64 0, !9, i64 16}
!4 = !{!3, !9, i64 16}
!5 = !{!"_ZTSNSt8__detail15_List_node_baseE", !6, i64 0, !6, i64 8}
!6 = !{!"any pointer", !10, i64 0}
!7 = !{!5, !6, i64 0}
!8 = !{!9, !9, i64 0}
!9 = !{!"long", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C++ TBAA"}
