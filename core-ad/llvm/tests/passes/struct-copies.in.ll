; Structures of an integer and two numbers, moved by one place: the length is a multiple of their size. The same bytes as numbers alone stay one copy.
target triple = "x86_64-unknown-linux-gnu"

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define void @records(ptr %v, i64 %n) {
  %key.place = getelementptr i8, ptr %v, i64 8
  %key = load double, ptr %key.place, align 8, !tbaa !0
  %bytes = mul i64 %n, 24
  %behind = getelementptr i8, ptr %v, i64 24
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %behind, ptr align 8 %v, i64 %bytes, i1 false)
  store double %key, ptr %key.place, align 8, !tbaa !0
  ret void
}

define void @numbers(ptr %v, i64 %n) {
  %bytes = shl i64 %n, 3
  %behind = getelementptr i8, ptr %v, i64 8
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %behind, ptr align 8 %v, i64 %bytes, i1 false)
  ret void
}

; An element of a heap, whose type shows where its address is computed.
%"struct.Stop" = type { i64, ptr, i64 }

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @heap(ptr %v, i64 %i, i64 %j) {
  %to = getelementptr inbounds %"struct.Stop", ptr %v, i64 %i
  %from = getelementptr inbounds %"struct.Stop", ptr %v, i64 %j
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 24, i1 false)
  ret void
}

!0 = !{!1, !4, i64 8}
!1 = !{!"record", !2, i64 0, !4, i64 8, !4, i64 16}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !5, i64 0}
!4 = !{!"double", !3, i64 0}
!5 = !{!"Simple C/C++ TBAA"}
