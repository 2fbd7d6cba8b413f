%struct.Node = type { %union.anon, ptr }
%union.anon = type { %struct.split }
%struct.split = type { i32, double, double }
%struct.leaf = type { i64, i64 }
%union.bits = type { double }

define i64 @end(ptr %slot, i32 %axis, double %low) {
  %node = load ptr, ptr %slot, align 8
  %is = getelementptr inbounds %struct.Node, ptr %node, i32 0, i32 0
  %axis.at = getelementptr inbounds %struct.split, ptr %is, i32 0, i32 0
  call void @ffgrad.count.write.i32(ptr %axis.at, i32 %axis)
  %low.at = getelementptr inbounds %struct.split, ptr %is, i32 0, i32 1
  store double %low, ptr %low.at, align 8
  %end.at = getelementptr inbounds %struct.leaf, ptr %is, i32 0, i32 1
  %1 = call i64 @ffgrad.count.read(ptr %end.at)
  ret i64 %1
}

define i64 @others(ptr %slot) {
  %local = alloca %struct.Node, align 8
  %is = getelementptr inbounds %struct.Node, ptr %local, i32 0, i32 0
  %begin.at = getelementptr inbounds %struct.leaf, ptr %is, i32 0, i32 0
  store i64 1, ptr %begin.at, align 4
  %pun = load ptr, ptr %slot, align 8
  %bits.at = getelementptr inbounds %union.bits, ptr %pun, i32 0, i32 0
  %bits = load i64, ptr %bits.at, align 4
  ret i64 %bits
}

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @ffgrad.count.write.i32(ptr captures(none), i32) #0

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare i64 @ffgrad.count.read(ptr captures(none)) #0

attributes #0 = { nofree nosync nounwind willreturn memory(argmem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
