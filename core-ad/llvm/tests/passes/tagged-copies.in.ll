; A structure with a union of a number and an address is copied word by word; one without as it was.
%struct.Value = type { i32, double }

define void @f(ptr %s, double %x, i64 %n) {
  %number = getelementptr inbounds i8, ptr %s, i64 8
  store double %x, ptr %number, align 8, !tbaa !4
  %second = getelementptr inbounds i8, ptr %s, i64 16
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %second, ptr align 8 %s, i64 16, i1 false), !tbaa.struct !5
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %second, ptr align 8 %s, i64 16, i1 false), !tbaa.struct !6
  ret void
}

define void @_ZN5StackI5ValueE4growEm(ptr %to, ptr %from, i64 %bytes) {
  %tag = load i32, ptr %from, align 8, !tbaa !7
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %bytes, i1 false)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

!0 = !{!"Simple C++ TBAA"}
!1 = !{!"omnipotent char", !0, i64 0}
!2 = !{!"int", !1, i64 0}
!3 = !{!"double", !1, i64 0}
!4 = !{!1, !1, i64 0}
!5 = !{i64 0, i64 4, !8, i64 8, i64 8, !4}
!6 = !{i64 0, i64 4, !8, i64 8, i64 8, !9}
!7 = !{!10, !2, i64 0}
!8 = !{!2, !2, i64 0}
!9 = !{!3, !3, i64 0}
!10 = !{!"_ZTS5Value", !2, i64 0, !1, i64 8}
