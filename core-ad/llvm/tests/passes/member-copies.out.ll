target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.Record = type { double, float, i8, i64 }
%struct.Table = type { i32, [9 x double] }
%struct.Numbers = type { double, double, double }
%class.Controller = type <{ ptr, double, double, i8, [7 x i8], double, double, i8, [7 x i8] }>

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

define void @copies(ptr %to, ptr %from) {
  %by.value = alloca %struct.Record, align 8
  %record = alloca %struct.Record, align 8
  %table = alloca %struct.Table, align 8
  %numbers = alloca %struct.Numbers, align 8
  %member = getelementptr inbounds i8, ptr %from, i64 0
  %value = load double, ptr %member, align 8, !tbaa !0
  %member1 = getelementptr inbounds i8, ptr %from, i64 8
  %value2 = load float, ptr %member1, align 8, !tbaa !4
  %member3 = getelementptr inbounds i8, ptr %from, i64 12
  %value4 = load i8, ptr %member3, align 4, !tbaa !6
  %member5 = getelementptr inbounds i8, ptr %from, i64 16
  %value6 = load i64, ptr %member5, align 8, !tbaa !7
  %member7 = getelementptr inbounds i8, ptr %to, i64 0
  store double %value, ptr %member7, align 8, !tbaa !0
  %member8 = getelementptr inbounds i8, ptr %to, i64 8
  store float %value2, ptr %member8, align 8, !tbaa !4
  %member9 = getelementptr inbounds i8, ptr %to, i64 12
  store i8 %value4, ptr %member9, align 4, !tbaa !6
  %member10 = getelementptr inbounds i8, ptr %to, i64 16
  store i64 %value6, ptr %member10, align 8, !tbaa !7
  %member11 = getelementptr inbounds i8, ptr %from, i64 0
  %value12 = load double, ptr %member11, align 8
  %member13 = getelementptr inbounds i8, ptr %from, i64 8
  %value14 = load float, ptr %member13, align 8
  %member15 = getelementptr inbounds i8, ptr %from, i64 12
  %value16 = load i8, ptr %member15, align 4
  %member17 = getelementptr inbounds i8, ptr %from, i64 16
  %value18 = load i64, ptr %member17, align 8
  %member19 = getelementptr inbounds i8, ptr %record, i64 0
  store double %value12, ptr %member19, align 8
  %member20 = getelementptr inbounds i8, ptr %record, i64 8
  store float %value14, ptr %member20, align 8
  %member21 = getelementptr inbounds i8, ptr %record, i64 12
  store i8 %value16, ptr %member21, align 4
  %member22 = getelementptr inbounds i8, ptr %record, i64 16
  store i64 %value18, ptr %member22, align 8
  %member23 = getelementptr inbounds i8, ptr %from, i64 0
  %value24 = load i32, ptr %member23, align 8
  %member25 = getelementptr inbounds i8, ptr %table, i64 8
  %member26 = getelementptr inbounds i8, ptr %from, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %member25, ptr align 8 %member26, i64 72, i1 false), !tbaa.struct !9
  %member27 = getelementptr inbounds i8, ptr %table, i64 0
  store i32 %value24, ptr %member27, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %numbers, ptr align 8 %from, i64 24, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 24, i1 false)
  %member28 = getelementptr inbounds i8, ptr %record, i64 0
  %value29 = load double, ptr %member28, align 8
  %member30 = getelementptr inbounds i8, ptr %record, i64 8
  %value31 = load float, ptr %member30, align 8
  %member32 = getelementptr inbounds i8, ptr %record, i64 12
  %value33 = load i8, ptr %member32, align 4
  %member34 = getelementptr inbounds i8, ptr %record, i64 16
  %value35 = load i64, ptr %member34, align 8
  %member36 = getelementptr inbounds i8, ptr %by.value, i64 0
  store double %value29, ptr %member36, align 8
  %member37 = getelementptr inbounds i8, ptr %by.value, i64 8
  store float %value31, ptr %member37, align 8
  %member38 = getelementptr inbounds i8, ptr %by.value, i64 12
  store i8 %value33, ptr %member38, align 4
  %member39 = getelementptr inbounds i8, ptr %by.value, i64 16
  store i64 %value35, ptr %member39, align 8
  call void @by_value(ptr align 8 %by.value)
  ret void
}

define void @constructor(ptr %to, ptr %from) {
  %first_to = getelementptr inbounds nuw %class.Controller, ptr %to, i32 0, i32 1
  %first_from = getelementptr inbounds nuw %class.Controller, ptr %from, i32 0, i32 1
  %member = getelementptr inbounds i8, ptr %first_from, i64 0
  %value = load double, ptr %member, align 8
  %member1 = getelementptr inbounds i8, ptr %first_from, i64 8
  %value2 = load double, ptr %member1, align 8
  %member3 = getelementptr inbounds i8, ptr %first_from, i64 16
  %value4 = load i8, ptr %member3, align 8
  %member5 = getelementptr inbounds i8, ptr %first_from, i64 17
  %value6 = load i8, ptr %member5, align 1
  %member7 = getelementptr inbounds i8, ptr %first_from, i64 18
  %value8 = load i16, ptr %member7, align 2
  %member9 = getelementptr inbounds i8, ptr %first_from, i64 20
  %value10 = load i32, ptr %member9, align 4
  %member11 = getelementptr inbounds i8, ptr %first_from, i64 24
  %value12 = load double, ptr %member11, align 8
  %member13 = getelementptr inbounds i8, ptr %first_from, i64 32
  %value14 = load double, ptr %member13, align 8
  %member15 = getelementptr inbounds i8, ptr %first_from, i64 40
  %value16 = load i8, ptr %member15, align 8
  %member17 = getelementptr inbounds i8, ptr %first_to, i64 0
  store double %value, ptr %member17, align 8
  %member18 = getelementptr inbounds i8, ptr %first_to, i64 8
  store double %value2, ptr %member18, align 8
  %member19 = getelementptr inbounds i8, ptr %first_to, i64 16
  store i8 %value4, ptr %member19, align 8
  %member20 = getelementptr inbounds i8, ptr %first_to, i64 17
  store i8 %value6, ptr %member20, align 1
  %member21 = getelementptr inbounds i8, ptr %first_to, i64 18
  store i16 %value8, ptr %member21, align 2
  %member22 = getelementptr inbounds i8, ptr %first_to, i64 20
  store i32 %value10, ptr %member22, align 4
  %member23 = getelementptr inbounds i8, ptr %first_to, i64 24
  store double %value12, ptr %member23, align 8
  %member24 = getelementptr inbounds i8, ptr %first_to, i64 32
  store double %value14, ptr %member24, align 8
  %member25 = getelementptr inbounds i8, ptr %first_to, i64 40
  store i8 %value16, ptr %member25, align 8
  ret void
}

define internal void @by_value(ptr align 8 %record) {
  store double 1.000000e+00, ptr %record, align 8
  ret void
}

define void @elements(ptr %to, ptr %from) {
  %member = getelementptr inbounds i8, ptr %from, i64 0
  %value = load i64, ptr %member, align 8
  %member1 = getelementptr inbounds i8, ptr %from, i64 8
  %value2 = load ptr, ptr %member1, align 8
  %member3 = getelementptr inbounds i8, ptr %to, i64 0
  store i64 %value, ptr %member3, align 8
  %member4 = getelementptr inbounds i8, ptr %to, i64 8
  store ptr %value2, ptr %member4, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %to, ptr align 8 %from, i64 16, i1 false), !ffgrad.members !14
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }

!0 = !{!1, !1, i64 0}
!1 = !{!"double", !2, i64 0}
!2 = !{!"omnipotent char", !3, i64 0}
!3 = !{!"Simple C++ TBAA"}
!4 = !{!5, !5, i64 0}
!5 = !{!"float", !2, i64 0}
!6 = !{!2, !2, i64 0}
!7 = !{!8, !8, i64 0}
!8 = !{!"long", !2, i64 0}
!9 = !{i64 0, i64 72, !10}
!10 = !{!11, !11, i64 0}
!11 = !{!"double", !12, i64 0}
!12 = !{!"omnipotent char", !13, i64 0}
!13 = !{!"ffgrad TBAA"}
!14 = !{i64 0, i64 8, !"double", i64 8, i64 8, !"double"}
