; What exp returns is used by the inner loop, after a multiplication: it is kept. So is what cos returns, which the inner loop loads from a variable.
; What sin returns is used in its own loop alone, and the root costs little.
declare double @llvm.exp.f64(double)
declare double @llvm.sin.f64(double)
declare double @llvm.cos.f64(double)
declare double @llvm.sqrt.f64(double)

define void @f(ptr noalias %x, ptr noalias %y, i64 %n, i64 %m) {
entry:
  %local = alloca [2 x double]
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %done ]
  %x.at = getelementptr double, ptr %x, i64 %i
  %value = load double, ptr %x.at, align 8
  %weight = call double @llvm.exp.f64(double %value)
  %turn = call double @llvm.sin.f64(double %value)
  %side = call double @llvm.cos.f64(double %value)
  store double %side, ptr %local, align 8
  %root = call double @llvm.sqrt.f64(double %value)
  %double = fmul double %weight, 2.0
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %y.at = getelementptr double, ptr %y, i64 %j
  %old = load double, ptr %y.at, align 8
  %scaled = fmul double %old, %double
  %loaded = load double, ptr %local, align 8
  %turned = fmul double %scaled, %loaded
  %new = fmul double %turned, %root
  store double %new, ptr %y.at, align 8
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, %m
  br i1 %j.done, label %done, label %inner

done:
  %product = fmul double %turn, %value
  store double %product, ptr %x.at, align 8
  %i.next = add i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %end, label %outer

end:
  ret void
}
