; A copy of a structure that mixes numbers and an integer is made of loads and stores, that of a long array in it a copy of its own. A copy of
; numbers only and one whose type is not known stay. An argument by value is copied by the caller. The constructor of a class copies the members
; behind the first, and the padding that clang has written as bytes.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.Record = type { double, float, i8, i64 }
%struct.Table = type { i32, [9 x double] }
%struct.Numbers = type { double, double, double }
%class.Controller = type <{ ptr, double, double, i8, [7 x i8], double, double, i8, [7 x i8] }>

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @copies(ptr %to, ptr %from) {
  %record = alloca %struct.Record, align 8
  %table = alloca %struct.Table, align 8
  %numbers = alloca %struct.Numbers, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 24, i1 false), !tbaa.struct !0
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %record, ptr align 8 %from, i64 24, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %table, ptr align 8 %from, i64 80, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %numbers, ptr align 8 %from, i64 24, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 24, i1 false)
  call void @by_value(ptr byval(%struct.Record) align 8 %record)
  ret void
}

define void @constructor(ptr %to, ptr %from) {
  %first_to = getelementptr inbounds nuw %class.Controller, ptr %to, i32 0, i32 1
  %first_from = getelementptr inbounds nuw %class.Controller, ptr %from, i32 0, i32 1
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %first_to, ptr align 8 %first_from, i64 41, i1 false)
  ret void
}

define internal void @by_value(ptr byval(%struct.Record) align 8 %record) {
  store double 1.0, ptr %record, align 8
  ret void
}

; What a copy through pointers moves was noted where the module was read: an index and an address. Numbers alone stay one copy.
define void @elements(ptr %to, ptr %from) {
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 16, i1 false), !ffgrad.members !11
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 16, i1 false), !ffgrad.members !12
  ret void
}

!0 = !{i64 0, i64 8, !1, i64 8, i64 4, !4, i64 12, i64 1, !3, i64 16, i64 8, !6}
!1 = !{!2, !2, i64 0}
!2 = !{!"double", !9, i64 0}
!3 = !{!9, !9, i64 0}
!4 = !{!5, !5, i64 0}
!5 = !{!"float", !9, i64 0}
!6 = !{!7, !7, i64 0}
!7 = !{!"long", !9, i64 0}
!9 = !{!"omnipotent char", !10, i64 0}
!10 = !{!"Simple C++ TBAA"}
!11 = !{i64 0, i64 8, !"long", i64 8, i64 8, !"any pointer"}
!12 = !{i64 0, i64 8, !"double", i64 8, i64 8, !"double"}
