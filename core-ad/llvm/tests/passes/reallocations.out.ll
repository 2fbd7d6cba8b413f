target triple = "x86_64-unknown-linux-gnu"

declare ptr @realloc(ptr, i64)

define void @grow(ptr %member, i64 %size) {
  %old = load ptr, ptr %member, align 8
  %new = call ptr @ffgrad.realloc.bytes(ptr %old, i64 %size)
  store ptr %new, ptr %member, align 8
  ret void
}

define void @grow_lists(ptr %list, ptr %heap, i64 %count) {
  %items = load ptr, ptr %list, align 8, !tbaa !0
  %bytes = shl i64 %count, 3
  %more = call ptr @ffgrad.realloc.double(ptr %items, i64 %bytes)
  store ptr %more, ptr %list, align 8, !tbaa !0
  %regions = load ptr, ptr %heap, align 8
  %size = mul i64 %count, 24
  %larger = call ptr @ffgrad.realloc.structures.2(ptr %regions, i64 %size), !ffgrad.copy_size !5
  store ptr %larger, ptr %heap, align 8
  ret void
}

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare "enzyme_type"="{[-1]:Integer}" i64 @ffgrad.block_size(ptr captures(none)) #0

define internal ptr @ffgrad.realloc.bytes(ptr %old, i64 %size) {
  %new = call ptr @malloc(i64 %size)
  %is.first = icmp eq ptr %old, null
  br i1 %is.first, label %end, label %check

check:                                            ; preds = %0
  %is.short = icmp eq ptr %new, null
  br i1 %is.short, label %fail, label %move

move:                                             ; preds = %check
  %had = call i64 @ffgrad.block_size(ptr %old)
  %bytes = call i64 @llvm.umin.i64(i64 %had, i64 %size)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false)
  call void @free(ptr %old)
  br label %fail

fail:                                             ; preds = %move, %check
  br label %end

end:                                              ; preds = %fail, %0
  ret ptr %new
}

declare noalias ptr @malloc(i64)

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #1

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #2

declare void @free(ptr)

define internal ptr @ffgrad.realloc.double(ptr %old, i64 %size) {
  %new = call ptr @malloc(i64 %size)
  %is.first = icmp eq ptr %old, null
  br i1 %is.first, label %end, label %check

check:                                            ; preds = %0
  %is.short = icmp eq ptr %new, null
  br i1 %is.short, label %fail, label %move

move:                                             ; preds = %check
  %had = call i64 @ffgrad.block_size(ptr %old)
  %bytes = call i64 @llvm.umin.i64(i64 %had, i64 %size)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false), !tbaa.struct !6
  call void @free(ptr %old)
  br label %fail

fail:                                             ; preds = %move, %check
  br label %end

end:                                              ; preds = %fail, %0
  ret ptr %new
}

define internal ptr @ffgrad.realloc.structures.2(ptr %old, i64 %size) {
  %new = call ptr @malloc(i64 %size)
  %is.first = icmp eq ptr %old, null
  br i1 %is.first, label %end, label %check

check:                                            ; preds = %0
  %is.short = icmp eq ptr %new, null
  br i1 %is.short, label %fail, label %move

move:                                             ; preds = %check
  %had = call i64 @ffgrad.block_size(ptr %old)
  %bytes = call i64 @llvm.umin.i64(i64 %had, i64 %size)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false), !ffgrad.copy_size !5
  call void @free(ptr %old)
  br label %fail

fail:                                             ; preds = %move, %check
  br label %end

end:                                              ; preds = %fail, %0
  ret ptr %new
}

attributes #0 = { nofree nosync nounwind willreturn memory(argmem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }

!0 = !{!1, !2, i64 0}
!1 = !{!"list", !2, i64 0}
!2 = !{!"p1 double", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{i64 24}
!6 = !{i64 0, i64 8, !7}
!7 = !{!8, !8, i64 0}
!8 = !{!"double", !9, i64 0}
!9 = !{!"omnipotent char", !10, i64 0}
!10 = !{!"ffgrad TBAA"}
