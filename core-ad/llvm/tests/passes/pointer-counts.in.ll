; A sum over the addresses from %q to %end, which LLVM counts by their difference.
define double @sum(ptr %q, i64 %n) {
entry:
  %end = getelementptr inbounds double, ptr %q, i64 %n
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %exit

loop:
  %p = phi ptr [ %q, %entry ], [ %next, %loop ]
  %s = phi double [ 0.000000e+00, %entry ], [ %more, %loop ]
  %x = load double, ptr %p, align 8
  %more = fadd double %s, %x
  %next = getelementptr inbounds double, ptr %p, i64 1
  %again = icmp ult ptr %next, %end
  br i1 %again, label %loop, label %exit

exit:
  %sum = phi double [ 0.000000e+00, %entry ], [ %more, %loop ]
  ret double %sum
}
