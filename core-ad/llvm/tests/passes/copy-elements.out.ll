target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

define ptr @_ZNSt11__copy_moveILb0ELb1ESt26random_access_iterator_tagE8__copy_mIiEEPT_PKS3_S6_S4_(ptr %first, ptr %last, ptr %result, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %result, ptr align 4 %first, i64 %bytes, i1 false), !ffgrad.copy_element !0
  ret ptr %result
}

define void @_Z4movePdS_l(ptr %to, ptr %from, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 %bytes, i1 false)
  ret void
}

define void @buckets(ptr %to, ptr %from, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 %bytes, i1 false), !ffgrad.members !1, !ffgrad.copy_element !0
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 %bytes, i1 false), !ffgrad.members !2
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }

!0 = !{!"integer"}
!1 = !{i64 0, i64 4, !"long", i64 4, i64 4, !"long"}
!2 = !{i64 0, i64 8, !"double", i64 8, i64 4, !"long"}
