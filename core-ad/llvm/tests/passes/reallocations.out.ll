target triple = "x86_64-unknown-linux-gnu"

declare ptr @realloc(ptr, i64)

define void @grow(ptr %member, i64 %size) {
  %old = load ptr, ptr %member, align 8
  %new = call ptr @ffgrad.realloc(ptr %old, i64 %size)
  store ptr %new, ptr %member, align 8
  ret void
}

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare "enzyme_type"="{[-1]:Integer}" i64 @ffgrad.block_size(ptr captures(none)) #0

define internal ptr @ffgrad.realloc(ptr %old, i64 %size) {
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

attributes #0 = { nofree nosync nounwind willreturn memory(argmem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
attributes #1 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
