; A tape of 201 members that an augmented function returns, a loop keeps, and the reverse takes; one branch has none.

define internal { [200 x double], ptr } @augmented_f(ptr %x) {
  %first = load double, ptr %x, align 8
  %a = insertvalue { [200 x double], ptr } poison, double %first, 0, 0
  %b = insertvalue { [200 x double], ptr } %a, ptr %x, 1
  ret { [200 x double], ptr } %b
}

define internal double @diffe_f(ptr %x, { [200 x double], ptr } %tape) {
  %first = extractvalue { [200 x double], ptr } %tape, 0, 0
  %more = extractvalue { [200 x double], ptr } %tape, 1
  store double %first, ptr %more, align 8
  ret double %first
}

define double @f(ptr %x, ptr %cache, i1 %again, i64 %n) {
entry:
  br i1 %again, label %one, label %other

one:
  %tape = call { [200 x double], ptr } @augmented_f(ptr %x)
  br label %other

other:
  %chosen = phi { [200 x double], ptr } [ %tape, %one ], [ undef, %entry ]
  store { [200 x double], ptr } %chosen, ptr %cache, align 8
  br label %loop

loop:
  %i = phi i64 [ 0, %other ], [ %next, %loop ]
  %last = phi { [200 x double], ptr } [ zeroinitializer, %other ], [ %kept, %loop ]
  %place = getelementptr { [200 x double], ptr }, ptr %cache, i64 %i
  %kept = load { [200 x double], ptr }, ptr %place, align 8
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end

end:
  %result = call double @diffe_f(ptr %x, { [200 x double], ptr } %last)
  ret double %result
}
