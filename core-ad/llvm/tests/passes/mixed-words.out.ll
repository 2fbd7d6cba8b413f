define double @value(ptr %node) {
entry:
  %kind = load i32, ptr %node, align 8
  %word = getelementptr inbounds i8, ptr %node, i64 8
  %is.number = icmp eq i32 %kind, 0
  br i1 %is.number, label %number, label %variable

number:                                           ; preds = %entry
  %0 = call ptr @ffgrad.object(ptr %word, i32 1)
  %value = load double, ptr %0, align 8
  ret double %value

variable:                                         ; preds = %entry
  %same = getelementptr inbounds i8, ptr %node, i64 8
  %address = load ptr, ptr %same, align 8
  %there = load double, ptr %address, align 8
  ret double %there
}

define void @set(ptr %node, double %value) {
  %word = getelementptr inbounds i8, ptr %node, i64 8
  %1 = call ptr @ffgrad.object(ptr %word, i32 3)
  store ptr null, ptr %1, align 8
  %2 = call ptr @ffgrad.object(ptr %word, i32 1)
  store double %value, ptr %2, align 8, !tbaa !0
  %other = getelementptr inbounds i8, ptr %node, i64 16
  store double %value, ptr %other, align 8
  ret void
}

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare ptr @ffgrad.object(ptr, i32) #0

attributes #0 = { nofree nosync nounwind willreturn memory(none) "enzyme_ta_norecur" }

!0 = !{!1, !1, i64 0}
!1 = !{!"omnipotent char", !2, i64 0}
!2 = !{!"Simple C++ TBAA"}
