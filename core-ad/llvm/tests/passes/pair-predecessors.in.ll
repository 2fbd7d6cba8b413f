; %end is reached from %entry, %after and %loop's exit; %second does not dominate it. Two edges are merged.
define double @f(i1 %skip, i1 %enough, i64 %n, double %x) {
entry:
  br i1 %skip, label %end, label %test

test:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %after, label %second

second:
  br i1 %enough, label %end, label %after

after:
  br label %end

end:
  %v = phi double [ 0.0, %entry ], [ %x, %second ], [ 1.0, %after ]
  ret double %v
}
