target triple = "x86_64-unknown-linux-gnu"

define i64 @push(ptr %list, ptr %node) {
  %count = getelementptr i8, ptr %list, i64 16
  %1 = call i64 @ffgrad.count.read(ptr %count)
  %more = add i64 %1, 1
  call void @ffgrad.count.write(ptr %count, i64 %more)
  store ptr %node, ptr %list, align 8, !tbaa !0
  %other = load i64, ptr %node, align 8, !tbaa !5
  ret i64 %other
}

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare i64 @ffgrad.count.read(ptr captures(none)) #0

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @ffgrad.count.write(ptr captures(none), i64) #0

attributes #0 = { nofree nosync nounwind willreturn memory(argmem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }

!0 = !{!1, !2, i64 0}
!1 = !{!"_ZTSNSt8__detail15_List_node_baseE", !2, i64 0, !2, i64 8}
!2 = !{!"any pointer", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C++ TBAA"}
!5 = !{!6, !6, i64 0}
!6 = !{!"long", !3, i64 0}
