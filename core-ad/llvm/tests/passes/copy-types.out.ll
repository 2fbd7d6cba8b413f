%range = type { i64, i64, i64, i8, [7 x i8] }
%sample = type { i64, i8, [3 x i8], float }

@all = internal global %range zeroinitializer, align 8
@first = internal global %sample zeroinitializer, align 8

declare ptr @malloc(i64)

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

define ptr @grow(ptr %old, i64 %bytes, double %a) {
  %twice = shl i64 %bytes, 1
  %new = call ptr @malloc(i64 %twice)
  %place = getelementptr i8, ptr %new, i64 %bytes
  store double %a, ptr %place, align 8
  call void @__enzyme_double(ptr %new)
  call void @__enzyme_double(ptr %old)
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false)
  ret ptr %new
}

define void @move_factors(ptr %new, ptr %old, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false), !tbaa.struct !0, !ffgrad.copy_size !5
  ret void
}

define void @move_points(ptr %new, ptr %old, i64 %bytes) {
  call void @__enzyme_double(ptr %new)
  call void @__enzyme_double(ptr %old)
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false), !tbaa.struct !6, !ffgrad.copy_size !9
  ret void
}

define void @padding(ptr %to) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %to, ptr align 1 getelementptr inbounds nuw (i8, ptr @all, i64 25), i64 7, i1 false), !tbaa.struct !10
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %to, ptr align 1 getelementptr inbounds nuw (i8, ptr @first, i64 9), i64 7, i1 false)
  ret void
}

declare ptr @_Znwm(i64)

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #1

define void @five_zeros(ptr %vector) {
  %new = call ptr @_Znwm(i64 40), !ffgrad.copy_element !11
  store ptr %new, ptr %vector, align 8
  call void @__enzyme_double(ptr %new)
  call void @llvm.memset.p0.i64(ptr align 8 %new, i8 0, i64 40, i1 false)
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

; Function Attrs: nofree nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @__enzyme_double(ptr) #2

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #2 = { nofree nounwind willreturn memory(inaccessiblemem: readwrite) }

!0 = !{i64 0, i64 8, !1}
!1 = !{!2, !2, i64 0}
!2 = !{!"long", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"ffgrad TBAA"}
!5 = !{i64 24, i64 0, i64 8, !"integer", i64 8, i64 8, !"pointer", i64 16, i64 8, !"pointer"}
!6 = !{i64 0, i64 8, !7}
!7 = !{!8, !8, i64 0}
!8 = !{!"double", !3, i64 0}
!9 = !{i64 16, i64 0, i64 8, !"double", i64 8, i64 8, !"double"}
!10 = !{i64 0, i64 1, !1}
!11 = !{!"double"}
