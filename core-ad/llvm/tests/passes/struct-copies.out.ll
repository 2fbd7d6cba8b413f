target triple = "x86_64-unknown-linux-gnu"

%struct.Stop = type { i64, ptr, i64 }

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

define void @records(ptr %v, i64 %n) {
  %key.place = getelementptr i8, ptr %v, i64 8
  %key = load double, ptr %key.place, align 8, !tbaa !0
  %bytes = mul i64 %n, 24
  %behind = getelementptr i8, ptr %v, i64 24
  call void @ffgrad.structs.24.0(ptr %behind, ptr %v, i64 %bytes)
  store double %key, ptr %key.place, align 8, !tbaa !0
  ret void
}

define void @numbers(ptr %v, i64 %n) {
  %bytes = shl i64 %n, 3
  %behind = getelementptr i8, ptr %v, i64 8
  call void @llvm.memmove.p0.p0.i64(ptr align 8 %behind, ptr align 8 %v, i64 %bytes, i1 false)
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

define void @heap(ptr %v, i64 %i, i64 %j) {
  %to = getelementptr inbounds %struct.Stop, ptr %v, i64 %i
  %from = getelementptr inbounds %struct.Stop, ptr %v, i64 %j
  %member = getelementptr inbounds i8, ptr %from, i64 0
  %value = load i64, ptr %member, align 8
  %member1 = getelementptr inbounds i8, ptr %from, i64 8
  %value2 = load ptr, ptr %member1, align 8
  %member3 = getelementptr inbounds i8, ptr %from, i64 16
  %value4 = load i64, ptr %member3, align 8
  %member5 = getelementptr inbounds i8, ptr %to, i64 0
  store i64 %value, ptr %member5, align 8
  %member6 = getelementptr inbounds i8, ptr %to, i64 8
  store ptr %value2, ptr %member6, align 8
  %member7 = getelementptr inbounds i8, ptr %to, i64 16
  store i64 %value4, ptr %member7, align 8
  ret void
}

; Function Attrs: noinline nounwind willreturn
define internal void @ffgrad.structs.24.0(ptr captures(address) %dst, ptr captures(address) %src, i64 %bytes) #1 {
entry:
  %n = udiv exact i64 %bytes, 24
  %some = icmp ne i64 %n, 0
  %above = icmp ugt ptr %dst, %src
  br i1 %above, label %last, label %first

first:                                            ; preds = %entry
  br i1 %some, label %upwards, label %behind

upwards:                                          ; preds = %upwards, %first
  %i = phi i64 [ 0, %first ], [ %i.next, %upwards ]
  %i.offset = mul nuw i64 %i, 24
  %i.to = getelementptr inbounds i8, ptr %dst, i64 %i.offset
  %i.from = getelementptr inbounds i8, ptr %src, i64 %i.offset
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %i.to, ptr align 8 %i.from, i64 24, i1 false), !tbaa.struct !6
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %behind, label %upwards

behind:                                           ; preds = %upwards, %first
  br label %end

last:                                             ; preds = %entry
  br i1 %some, label %downwards, label %before

downwards:                                        ; preds = %downwards, %last
  %j.behind = phi i64 [ %n, %last ], [ %j, %downwards ]
  %j = sub nuw i64 %j.behind, 1
  %j.offset = mul nuw i64 %j, 24
  %j.to = getelementptr inbounds i8, ptr %dst, i64 %j.offset
  %j.from = getelementptr inbounds i8, ptr %src, i64 %j.offset
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %j.to, ptr align 8 %j.from, i64 24, i1 false), !tbaa.struct !6
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %before, label %downwards

before:                                           ; preds = %downwards, %last
  br label %end

end:                                              ; preds = %before, %behind
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { noinline nounwind willreturn }

!0 = !{!1, !5, i64 8}
!1 = !{!"record", !2, i64 0, !5, i64 8, !5, i64 16}
!2 = !{!"int", !3, i64 0}
!3 = !{!"omnipotent char", !4, i64 0}
!4 = !{!"Simple C/C++ TBAA"}
!5 = !{!"double", !3, i64 0}
!6 = !{i64 0, i64 8, !7, i64 8, i64 8, !11, i64 16, i64 8, !11}
!7 = !{!8, !8, i64 0}
!8 = !{!"long", !9, i64 0}
!9 = !{!"omnipotent char", !10, i64 0}
!10 = !{!"ffgrad TBAA"}
!11 = !{!12, !12, i64 0}
!12 = !{!"double", !9, i64 0}
