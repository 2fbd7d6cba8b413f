; A node that holds two integers, or an integer and two numbers.
%struct.Node = type { %union.anon, ptr }
%union.anon = type { %struct.split }
%struct.split = type { i32, double, double }
%struct.leaf = type { i64, i64 }
%union.bits = type { double }

define i64 @end(ptr %slot, i32 %axis, double %low) {
  %node = load ptr, ptr %slot
  %is = getelementptr inbounds %struct.Node, ptr %node, i32 0, i32 0
  %axis.at = getelementptr inbounds %struct.split, ptr %is, i32 0, i32 0
  store i32 %axis, ptr %axis.at
  %low.at = getelementptr inbounds %struct.split, ptr %is, i32 0, i32 1
  store double %low, ptr %low.at
  %end.at = getelementptr inbounds %struct.leaf, ptr %is, i32 0, i32 1
  %end = load i64, ptr %end.at
  ret i64 %end
}

; A local union, and one of a number and its bits: as they are.
define i64 @others(ptr %slot) {
  %local = alloca %struct.Node
  %is = getelementptr inbounds %struct.Node, ptr %local, i32 0, i32 0
  %begin.at = getelementptr inbounds %struct.leaf, ptr %is, i32 0, i32 0
  store i64 1, ptr %begin.at
  %pun = load ptr, ptr %slot
  %bits.at = getelementptr inbounds %union.bits, ptr %pun, i32 0, i32 0
  %bits = load i64, ptr %bits.at
  ret i64 %bits
}
