; A vector grows: one number is stored at the end, the others are moved.
declare ptr @malloc(i64)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define ptr @grow(ptr %old, i64 %bytes, double %a) {
  %twice = shl i64 %bytes, 1
  %new = call ptr @malloc(i64 %twice)
  %place = getelementptr i8, ptr %new, i64 %bytes
  store double %a, ptr %place
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false)
  ret ptr %new
}

; Structures of integers and addresses: the copy begins with an integer.
define void @move_factors(ptr %new, ptr %old, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false), !ffgrad.copy_size !0
  ret void
}

; Structures of numbers.
define void @move_points(ptr %new, ptr %old, i64 %bytes) {
  call void @llvm.memmove.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false), !ffgrad.copy_size !1
  ret void
}


; What follows a flag in a structure at file scope, as LLVM splits its copy. The second one may be a number.
%range = type { i64, i64, i64, i8, [7 x i8] }
%sample = type { i64, i8, [3 x i8], float }
@all = internal global %range zeroinitializer, align 8
@first = internal global %sample zeroinitializer, align 8

define void @padding(ptr %to) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %to, ptr align 1 getelementptr inbounds nuw (i8, ptr @all, i64 25), i64 7, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %to, ptr align 1 getelementptr inbounds nuw (i8, ptr @first, i64 9), i64 7, i1 false)
  ret void
}

; std::vector<double> of five zeros: std::allocator<double> has asked for the memory.
declare ptr @_Znwm(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @five_zeros(ptr %vector) {
  %new = call ptr @_Znwm(i64 40), !ffgrad.copy_element !2
  store ptr %new, ptr %vector
  call void @llvm.memset.p0.i64(ptr align 8 %new, i8 0, i64 40, i1 false)
  ret void
}

!0 = !{i64 24, i64 0, i64 8, !"integer", i64 8, i64 8, !"pointer", i64 16, i64 8, !"pointer"}
!1 = !{i64 16, i64 0, i64 8, !"double", i64 8, i64 8, !"double"}
!2 = !{!"double"}
