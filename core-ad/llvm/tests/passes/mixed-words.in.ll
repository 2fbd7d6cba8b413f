; A node with a tag and a word that is a number or an address: the number is accessed by another address. So is a number of a union, whatever else
; the function accesses. A word that is a number only stays.
define double @value(ptr %node) {
entry:
  %kind = load i32, ptr %node, align 8
  %word = getelementptr inbounds i8, ptr %node, i64 8
  %is.number = icmp eq i32 %kind, 0
  br i1 %is.number, label %number, label %variable

number:
  %value = load double, ptr %word, align 8
  ret double %value

variable:
  %same = getelementptr inbounds i8, ptr %node, i64 8
  %address = load ptr, ptr %same, align 8
  %there = load double, ptr %address, align 8
  ret double %there
}

define void @set(ptr %node, double %value) {
  %word = getelementptr inbounds i8, ptr %node, i64 8
  store double %value, ptr %word, align 8, !tbaa !0
  %other = getelementptr inbounds i8, ptr %node, i64 16
  store double %value, ptr %other, align 8
  ret void
}

!0 = !{!1, !1, i64 0}
!1 = !{!"omnipotent char", !2, i64 0}
!2 = !{!"Simple C++ TBAA"}
