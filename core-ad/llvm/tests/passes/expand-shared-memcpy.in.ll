; The region copies a table that its threads share: the copy becomes a loop of loads and stores.
@table = global [4 x double] zeroinitializer

declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @caller() {
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @region)
  ret void
}

define internal void @region(ptr %thread, ptr %bound) {
  %own = alloca [4 x double]
  call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr @table, i64 32, i1 false)
  ret void
}
