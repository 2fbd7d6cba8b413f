@table = global [4 x double] zeroinitializer

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

define void @caller() {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @region)
  ret void
}

define internal void @region(ptr %thread, ptr %bound) {
  %own = alloca [4 x double], align 8
  call void @ffgrad.copy.f64(ptr %own, ptr @table, i64 4)
  ret void
}

; Function Attrs: noinline nounwind
define internal void @ffgrad.copy.f64(ptr %0, ptr %1, i64 %2) #1 {
entry:
  %3 = icmp eq i64 %2, 0
  br i1 %3, label %end, label %body

body:                                             ; preds = %body, %entry
  %i = phi i64 [ 0, %entry ], [ %7, %body ]
  %4 = getelementptr double, ptr %1, i64 %i
  %5 = getelementptr double, ptr %0, i64 %i
  %6 = load double, ptr %4, align 8
  store double %6, ptr %5, align 8
  %7 = add nuw i64 %i, 1
  %8 = icmp eq i64 %7, %2
  br i1 %8, label %end, label %body

end:                                              ; preds = %body, %entry
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { noinline nounwind "no-builtin-memcpy" "no-builtin-memmove" "no-builtins" }
