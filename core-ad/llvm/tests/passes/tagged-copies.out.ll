define void @f(ptr %s, double %x, i64 %n) {
  %number = getelementptr inbounds i8, ptr %s, i64 8
  store double %x, ptr %number, align 8, !tbaa !0
  %second = getelementptr inbounds i8, ptr %s, i64 16
  call void @ffgrad.words(ptr %second, ptr %s, i64 16)
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %second, ptr align 8 %s, i64 16, i1 false), !tbaa.struct !3
  ret void
}

define void @_ZN5StackI5ValueE4growEm(ptr %to, ptr %from, i64 %bytes) {
  %tag = load i32, ptr %from, align 8, !tbaa !8
  call void @ffgrad.words(ptr %to, ptr %from, i64 %bytes)
  ret void
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #0

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare ptr @ffgrad.object(ptr, i32) #1

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare "enzyme_type"="{[-1]:Integer}" i64 @ffgrad.hidden.i64(i64) #2

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare "enzyme_type"="{[-1]:Integer}" i8 @ffgrad.hidden.i8(i8) #2

; Function Attrs: noinline nounwind
define internal void @ffgrad.words(ptr %to, ptr %from, i64 %bytes) #3 {
entry:
  %t = ptrtoint ptr %to to i64
  %f = ptrtoint ptr %from to i64
  %behind = icmp ugt i64 %t, %f
  %rest = and i64 %bytes, 7
  %whole = icmp eq i64 %rest, 0
  br i1 %whole, label %words, label %byte

byte:                                             ; preds = %byte, %entry
  %bi = phi i64 [ 0, %entry ], [ %bnext, %byte ]
  %bnext = add nuw i64 %bi, 1
  %bdown = sub i64 %bytes, %bnext
  %bk = select i1 %behind, i64 %bdown, i64 %bi
  %bsource = getelementptr inbounds i8, ptr %from, i64 %bk
  %btarget = getelementptr inbounds i8, ptr %to, i64 %bk
  %bs = call ptr @ffgrad.object(ptr %bsource, i32 2)
  %bt = call ptr @ffgrad.object(ptr %btarget, i32 2)
  %character = load i8, ptr %bs, align 1
  %b = call i8 @ffgrad.hidden.i8(i8 %character)
  store i8 %b, ptr %bt, align 1
  %bdone = icmp eq i64 %bnext, %bytes
  br i1 %bdone, label %end, label %byte

words:                                            ; preds = %entry
  %count = lshr i64 %bytes, 3
  %last = sub i64 %count, 1
  %none = icmp eq i64 %count, 0
  br i1 %none, label %end, label %head

head:                                             ; preds = %latch, %words
  %i = phi i64 [ 0, %words ], [ %next, %latch ]
  %down = sub i64 %last, %i
  %k = select i1 %behind, i64 %down, i64 %i
  %at = shl i64 %k, 3
  %source = getelementptr inbounds i8, ptr %from, i64 %at
  %target = getelementptr inbounds i8, ptr %to, i64 %at
  %any = call ptr @ffgrad.object(ptr %source, i32 2)
  %word = load i64, ptr %any, align 8
  %bits = call i64 @ffgrad.hidden.i64(i64 %word)
  %high = lshr i64 %bits, 52
  %exponent = and i64 %high, 2047
  %less = sub i64 %exponent, 1
  %normal = icmp ult i64 %less, 2046
  %zero = icmp eq i64 %bits, 0
  %number = or i1 %normal, %zero
  br i1 %number, label %numbers, label %addresses

numbers:                                          ; preds = %head
  %ns = call ptr @ffgrad.object(ptr %source, i32 1)
  %nt = call ptr @ffgrad.object(ptr %target, i32 1)
  %n = load double, ptr %ns, align 8
  %zn = call ptr @ffgrad.object(ptr %target, i32 3)
  store ptr null, ptr %zn, align 8
  store double %n, ptr %nt, align 8
  br label %latch

addresses:                                        ; preds = %head
  %as = call ptr @ffgrad.object(ptr %source, i32 3)
  %a = load ptr, ptr %as, align 8
  %za = call ptr @ffgrad.object(ptr %target, i32 1)
  store double 0.000000e+00, ptr %za, align 8
  %ta = call ptr @ffgrad.object(ptr %target, i32 3)
  store ptr %a, ptr %ta, align 8
  br label %latch

latch:                                            ; preds = %addresses, %numbers
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %count
  br i1 %done, label %end, label %head

end:                                              ; preds = %latch, %words, %byte
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { nofree nosync nounwind willreturn memory(none) "enzyme_ta_norecur" }
attributes #2 = { nofree nosync nounwind willreturn memory(none) "enzyme_inactive" "enzyme_nofree" }
attributes #3 = { noinline nounwind }

!0 = !{!1, !1, i64 0}
!1 = !{!"omnipotent char", !2, i64 0}
!2 = !{!"Simple C++ TBAA"}
!3 = !{i64 0, i64 4, !4, i64 8, i64 8, !6}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !1, i64 0}
!6 = !{!7, !7, i64 0}
!7 = !{!"double", !1, i64 0}
!8 = !{!9, !5, i64 0}
!9 = !{!"_ZTS5Value", !5, i64 0, !1, i64 8}
