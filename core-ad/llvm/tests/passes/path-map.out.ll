define double @f(ptr %x, i64 %n) {
entry:
  br label %loop

loop:                                             ; preds = %latch, %entry
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %k = phi i64 [ 0, %entry ], [ %other, %latch ]
  %sum = phi double [ 0.000000e+00, %entry ], [ %more, %latch ]
  %place = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %place, align 8
  %negative = fcmp olt double %v, 0.000000e+00
  %0 = zext i1 %negative to i32
  call void @ffgrad.path(i32 0, i32 2, i32 %0)
  br i1 %negative, label %flip, label %latch

flip:                                             ; preds = %loop
  %square = call double @square(double %v)
  br label %latch

latch:                                            ; preds = %flip, %loop
  %added = phi double [ %v, %loop ], [ %square, %flip ]
  %moved = xor i64 %k, 1
  %1 = zext i1 %negative to i32
  call void @ffgrad.path(i32 2, i32 2, i32 %1)
  %other = select i1 %negative, i64 %moved, i64 %k
  %special = fcmp oeq double %v, 2.000000e+00
  %2 = xor i1 %special, false
  %3 = zext i1 %2 to i32
  call void @ffgrad.flag(i32 0, i32 0, i32 %3)
  %4 = zext i1 %special to i32
  call void @ffgrad.choice(i32 4, i32 2, i32 %4)
  %chosen = select i1 %special, double 1.000000e+00, double %added
  %larger = fcmp ogt double %chosen, %sum
  %most = select i1 %larger, double %chosen, double %sum
  %more = fadd double %sum, %most
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  %5 = zext i1 %done to i32
  call void @ffgrad.path(i32 6, i32 2, i32 %5)
  br i1 %done, label %end, label %loop

end:                                              ; preds = %latch
  %class = fptosi double %more to i32
  %6 = icmp eq i32 %class, 0
  %7 = select i1 %6, i32 1, i32 0
  %8 = icmp eq i32 %class, 1
  %9 = select i1 %8, i32 2, i32 %7
  call void @ffgrad.path(i32 8, i32 3, i32 %9)
  switch i32 %class, label %large [
    i32 0, label %small
    i32 1, label %small
  ]

small:                                            ; preds = %end, %end
  ret double 0.000000e+00

large:                                            ; preds = %end
  ret double %more
}

; Function Attrs: memory(inaccessiblemem: readwrite)
define double @square(double %v) #0 {
  %zero = fcmp une double %v, 0.000000e+00
  %1 = xor i1 %zero, true
  %2 = zext i1 %1 to i32
  call void @ffgrad.flag(i32 0, i32 0, i32 %2)
  %3 = zext i1 %zero to i32
  call void @ffgrad.path(i32 11, i32 2, i32 %3)
  br i1 %zero, label %other, label %none

other:                                            ; preds = %0
  %product = fmul double %v, %v
  ret double %product

none:                                             ; preds = %0
  ret double 1.000000e+00
}

define double @checked(double %v, i32 %kind) {
  %negative = fcmp olt double %v, 0.000000e+00
  %odd = icmp ne i32 %kind, 0
  %both = and i1 %negative, %odd
  %1 = zext i1 %both to i32
  call void @ffgrad.check(i32 13, i32 2, i32 %1)
  br label %go

go:                                               ; preds = %0
  %square = fmul double %v, %v
  ret double %square
}

define double @checked_twice(double %v, ptr %x) {
  %negative = fcmp olt double %v, 0.000000e+00
  br label %more

more:                                             ; preds = %0
  %index = fptosi double %v to i64
  %item = getelementptr double, ptr %x, i64 %index
  %other = load double, ptr %item, align 8
  %small = fcmp ult double %other, 1.000000e+00
  %1 = xor i1 %small, true
  %2 = select i1 %negative, i1 true, i1 %1
  %3 = zext i1 %2 to i32
  call void @ffgrad.check(i32 15, i32 2, i32 %3)
  br label %go

go:                                               ; preds = %more
  %product = fmul double %v, %other
  ret double %product
}

define double @switched(double %v) {
  %kind = fptosi double %v to i32
  %1 = call i32 @ffgrad.hidden.i32(i32 %kind)
  %2 = icmp eq i32 %1, 0
  %3 = select i1 %2, i32 1, i32 0
  %4 = icmp eq i32 %1, 1
  %5 = select i1 %4, i32 2, i32 %3
  call void @ffgrad.path(i32 17, i32 3, i32 %5)
  switch i32 %kind, label %stop [
    i32 0, label %go
    i32 1, label %double
  ]

stop:                                             ; preds = %0
  call void @exit(i32 3)
  unreachable

double:                                           ; preds = %0
  %twice = fadd double %v, %v
  br label %go

go:                                               ; preds = %double, %0
  %result = phi double [ %v, %0 ], [ %twice, %double ]
  ret double %result
}

; Function Attrs: noreturn
declare void @exit(i32) #1

define i32 @_ZNSt7textualEd(double %v) #2 {
  %negative = fcmp olt double %v, 0.000000e+00
  br i1 %negative, label %sign, label %none

sign:                                             ; preds = %0
  %length = call i32 @digits(double %v)
  ret i32 %length

none:                                             ; preds = %0
  ret i32 0
}

define internal i32 @digits(double %v) {
  %long = fcmp ogt double %v, 9.000000e+00
  br i1 %long, label %two, label %one

two:                                              ; preds = %0
  ret i32 2

one:                                              ; preds = %0
  ret i32 1
}

define i32 @declared(double %v) #3 {
  %negative = fcmp olt double %v, 0.000000e+00
  %1 = zext i1 %negative to i32
  call void @ffgrad.path(i32 20, i32 2, i32 %1)
  br i1 %negative, label %sign, label %none

sign:                                             ; preds = %0
  ret i32 1

none:                                             ; preds = %0
  ret i32 0
}

define double @distance(double %x, double %y) {
  %1 = fcmp oeq double %y, 0.000000e+00
  %2 = zext i1 %1 to i32
  call void @ffgrad.choice(i32 22, i32 1, i32 %2)
  %root = call double @llvm.sqrt.f64(double %y)
  %moved = fadd double %root, %x
  %square = fmul double %moved, %moved
  %soft = fadd double %square, 1.000000e-03
  %other = call double @llvm.sqrt.f64(double %soft)
  ret double %other
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #4

define double @root(double %a) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  %x = phi double [ %a, %entry ], [ %next, %loop ]
  %k = phi i32 [ 0, %entry ], [ %k.next, %loop ]
  %square = fmul double %x, %x
  %next = fsub double %x, %square
  %small = fcmp olt double %square, 1.000000e-09
  %k.next = add i32 %k, 1
  %many = icmp eq i32 %k.next, 40
  %ends = or i1 %small, %many
  %0 = zext i1 %ends to i32
  call void @ffgrad.trip(i32 0, i32 0, i32 %0)
  %1 = zext i1 %ends to i32
  call void @ffgrad.path(i32 23, i32 2, i32 %1)
  br i1 %ends, label %end, label %loop

end:                                              ; preds = %loop
  ret double %next
}

define double @masks(double %x, double %y) {
  %equal = fcmp oeq double %x, %y
  %1 = fcmp oeq double %x, %y
  %2 = zext i1 %1 to i32
  call void @ffgrad.flag(i32 4, i32 0, i32 %2)
  %mask = uitofp i1 %equal to double
  %more = fcmp ogt double %x, %y
  %less = fcmp olt double %x, %y
  %3 = fcmp oeq double %x, %y
  %4 = zext i1 %3 to i32
  call void @ffgrad.flag(i32 5, i32 0, i32 %4)
  %a = uitofp i1 %more to double
  %b = uitofp i1 %less to double
  %sign = fsub double %a, %b
  %sum = fadd double %mask, %sign
  ret double %sum
}

; Function Attrs: nofree noinline nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.flag(i32, i32, i32) #5

; Function Attrs: nofree noinline nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.path(i32, i32, i32) #5

; Function Attrs: nofree noinline nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.choice(i32, i32, i32) #5

; Function Attrs: nofree noinline nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.check(i32, i32, i32) #5

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare "enzyme_type"="{[-1]:Integer}" i32 @ffgrad.hidden.i32(i32) #6

; Function Attrs: nofree noinline nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @ffgrad.trip(i32, i32, i32) #5

attributes #0 = { memory(inaccessiblemem: readwrite) }
attributes #1 = { noreturn }
attributes #2 = { "enzyme_inactive" }
attributes #3 = { "enzyme_inactive" "ffgrad_inactive" }
attributes #4 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { nofree noinline nomerge nosync nounwind willreturn memory(inaccessiblemem: readwrite) "enzyme_inactive" "enzyme_nofree" }
attributes #6 = { nofree nosync nounwind willreturn memory(none) "enzyme_inactive" "enzyme_nofree" }
