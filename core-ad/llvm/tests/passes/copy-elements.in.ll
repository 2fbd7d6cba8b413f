; A copy in a function of the C++ library is of what its parameters point to: integers here. The second one is no function of the library. In the third
; one debug information has named the members of what is moved: integers, and beside them a number.
target triple = "x86_64-unknown-linux-gnu"

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define ptr @_ZNSt11__copy_moveILb0ELb1ESt26random_access_iterator_tagE8__copy_mIiEEPT_PKS3_S6_S4_(ptr %first, ptr %last, ptr %result, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %result, ptr align 4 %first, i64 %bytes, i1 false)
  ret ptr %result
}

define void @_Z4movePdS_l(ptr %to, ptr %from, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %bytes, i1 false)
  ret void
}

define void @buckets(ptr %to, ptr %from, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 %bytes, i1 false), !ffgrad.members !0
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 %bytes, i1 false), !ffgrad.members !1
  ret void
}

!0 = !{i64 0, i64 4, !"long", i64 4, i64 4, !"long"}
!1 = !{i64 0, i64 8, !"double", i64 8, i64 4, !"long"}
