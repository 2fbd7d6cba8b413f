; A block that grows is allocated, copied and released.
target triple = "x86_64-unknown-linux-gnu"

declare ptr @realloc(ptr, i64)

define void @grow(ptr %member, i64 %size) {
  %old = load ptr, ptr %member
  %new = call ptr @realloc(ptr %old, i64 %size)
  store ptr %new, ptr %member
  ret void
}

; A list of numbers, whose address says so, and one of structures of 24 bytes, which pass `copy-sizes` has noted.
define void @grow_lists(ptr %list, ptr %heap, i64 %count) {
  %items = load ptr, ptr %list, align 8, !tbaa !0
  %bytes = shl i64 %count, 3
  %more = call ptr @realloc(ptr %items, i64 %bytes)
  store ptr %more, ptr %list, align 8, !tbaa !0
  %regions = load ptr, ptr %heap, align 8
  %size = mul i64 %count, 24
  %larger = call ptr @realloc(ptr %regions, i64 %size), !ffgrad.copy_size !5
  store ptr %larger, ptr %heap, align 8
  ret void
}

!0 = !{!1, !2, i64 0}
!1 = !{!"list", !2, i64 0}
!2 = !{!"p1 double", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{i64 24}
