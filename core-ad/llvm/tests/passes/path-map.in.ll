; A branch, a switch and choices that values decide are counted, and roots of zero; a trip count that a size decides is not.
define double @f(ptr %x, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %k = phi i64 [ 0, %entry ], [ %other, %latch ]
  %sum = phi double [ 0.0, %entry ], [ %more, %latch ]
  %place = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %place
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %flip, label %latch

flip:
  %square = call double @square(double %v)
  br label %latch

latch:
  %added = phi double [ %v, %loop ], [ %square, %flip ]
  %moved = xor i64 %k, 1
  %other = select i1 %negative, i64 %moved, i64 %k
  %special = fcmp oeq double %v, 2.0
  %chosen = select i1 %special, double 1.0, double %added
  %larger = fcmp ogt double %chosen, %sum
  %most = select i1 %larger, double %chosen, double %sum
  %more = fadd double %sum, %most
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %loop

end:
  %class = fptosi double %more to i32
  switch i32 %class, label %large [
    i32 0, label %small
    i32 1, label %small
  ]

small:
  ret double 0.0

large:
  ret double %more
}

define double @square(double %v) memory(none) {
  %zero = fcmp une double %v, 0.0
  br i1 %zero, label %other, label %none

other:
  %product = fmul double %v, %v
  ret double %product

none:
  ret double 1.0
}

; A check is left out: its marker says whether the function would have ended there.
define double @checked(double %v, i32 %kind) {
  %negative = fcmp olt double %v, 0.0
  %odd = icmp ne i32 %kind, 0
  %both = and i1 %negative, %odd
  br i1 %both, label %stop, label %go

stop:
  call void @exit(i32 3)
  unreachable

go:
  %square = fmul double %v, %v
  ret double %square
}

; Two checks behind each other have one marker. The second means nothing where the first fails.
define double @checked_twice(double %v, ptr %x) {
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %stop, label %more

more:
  %index = fptosi double %v to i64
  %item = getelementptr double, ptr %x, i64 %index
  %other = load double, ptr %item
  %small = fcmp ult double %other, 1.0
  br i1 %small, label %go, label %stop

stop:
  %code = phi i32 [ 3, %0 ], [ 4, %more ]
  call void @exit(i32 %code)
  unreachable

go:
  %product = fmul double %v, %other
  ret double %product
}

; A switch stays. What it decides is counted by a value that LLVM does not know: it takes the edge to the end as never taken.
define double @switched(double %v) {
  %kind = fptosi double %v to i32
  switch i32 %kind, label %stop [
    i32 0, label %go
    i32 1, label %double
  ]

stop:
  call void @exit(i32 3)
  unreachable

double:
  %twice = fadd double %v, %v
  br label %go

go:
  %result = phi double [ %v, %0 ], [ %twice, %double ]
  ret double %result
}

declare void @exit(i32) noreturn

; Text code has no part in the derivative, nor has what only text code calls; what the user marks inactive is counted.
define i32 @_ZNSt7textualEd(double %v) "enzyme_inactive" {
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %sign, label %none

sign:
  %length = call i32 @digits(double %v)
  ret i32 %length

none:
  ret i32 0
}

define internal i32 @digits(double %v) {
  %long = fcmp ogt double %v, 9.0
  br i1 %long, label %two, label %one

two:
  ret i32 2

one:
  ret i32 1
}

define i32 @declared(double %v) "enzyme_inactive" "ffgrad_inactive" {
  %negative = fcmp olt double %v, 0.0
  br i1 %negative, label %sign, label %none

sign:
  ret i32 1

none:
  ret i32 0
}

define double @distance(double %x, double %y) {
  %root = call double @llvm.sqrt.f64(double %y)
  %moved = fadd double %root, %x
  %square = fmul double %moved, %moved
  %soft = fadd double %square, 1.0e-3
  %other = call double @llvm.sqrt.f64(double %soft)
  ret double %other
}

declare double @llvm.sqrt.f64(double)

; The number of iterations has a flag where a comparison of numbers ends the loop.
define double @root(double %a) {
entry:
  br label %loop

loop:
  %x = phi double [ %a, %entry ], [ %next, %loop ]
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %square = fmul double %x, %x
  %next = fsub double %x, %square
  %small = fcmp olt double %square, 1.0e-9
  %k.next = add i32 %k, 1
  %many = icmp eq i32 %k.next, 40
  %ends = or i1 %small, %many
  br i1 %ends, label %end, label %loop

end:
  ret double %next
}

; Equality that is used as a number has a flag, and so have equal numbers where both comparisons are false.
define double @masks(double %x, double %y) {
  %equal = fcmp oeq double %x, %y
  %mask = uitofp i1 %equal to double
  %more = fcmp ogt double %x, %y
  %less = fcmp olt double %x, %y
  %a = uitofp i1 %more to double
  %b = uitofp i1 %less to double
  %sign = fsub double %a, %b
  %sum = fadd double %mask, %sign
  ret double %sum
}
