; An array for each iteration, and one of the whole call in the entry block, which stays.
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)

define double @rows(ptr %x, i32 %m, i64 %n) {
entry:
  %fixed = alloca [4 x double]
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %end ]
  %saved = call ptr @llvm.stacksave.p0()
  %t = alloca double, i32 %m, align 16
  %v = load double, ptr %x
  store double %v, ptr %t
  %small = icmp ult i64 %i, 3
  br i1 %small, label %early, label %late

early:
  call void @llvm.stackrestore.p0(ptr %saved)
  br label %end

late:
  store double %v, ptr %fixed
  call void @llvm.stackrestore.p0(ptr %saved)
  br label %end

end:
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop

exit:
  %r = load double, ptr %fixed
  ret double %r
}

; The array of a procedure that has been inlined is gone; its marks are not.
define void @marks(i1 %first) {
entry:
  %one = call ptr @llvm.stacksave.p0()
  br i1 %first, label %then, label %end

then:
  %other = call ptr @llvm.stacksave.p0()
  br label %end

end:
  %mark = phi ptr [ %one, %entry ], [ %other, %then ]
  call void @llvm.stackrestore.p0(ptr %mark)
  call void @llvm.stackrestore.p0(ptr %one)
  ret void
}
