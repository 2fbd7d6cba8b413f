; A status that constants come to through memory, a count of owners, and sums of bits of a number, which are left alone.
define i32 @status(ptr %s) {
  store i32 0, ptr %s
  %old = load i32, ptr %s
  %new = add i32 %old, -100
  store i32 %new, ptr %s
  ret i32 %new
}

define double @doubled(double %x) {
  %bits = bitcast double %x to i64
  %more = add i64 %bits, 4503599627370496
  %y = bitcast i64 %more to double
  ret double %y
}

define i1 @lock(ptr %count) {
entry:
  %first = load i32, ptr %count
  br label %again

again:
  %known = phi i32 [ %first, %entry ], [ %now, %more ]
  %none = icmp eq i32 %known, 0
  br i1 %none, label %end, label %more

more:
  %next = add i32 %known, 1
  %both = cmpxchg ptr %count, i32 %known, i32 %next acq_rel monotonic
  %now = extractvalue { i32, i1 } %both, 0
  %done = extractvalue { i32, i1 } %both, 1
  br i1 %done, label %end, label %again

end:
  %locked = phi i1 [ false, %again ], [ true, %more ]
  ret i1 %locked
}

define void @shared_sum(ptr %sum, i64 %bits, double %x) {
  %old = bitcast i64 %bits to double
  %new = fadd double %old, %x
  %new.bits = bitcast double %new to i64
  %both = cmpxchg ptr %sum, i64 %bits, i64 %new.bits acq_rel monotonic
  ret void
}

; Two bit-fields beside numbers: both words are read for the field alone.
define void @flag_node(ptr %node, ptr %other) {
  %steiner = getelementptr i8, ptr %node, i64 32
  %bf.load = load i32, ptr %steiner, align 8
  %bf.set = or i32 %bf.load, -2147483648
  store i32 %bf.set, ptr %steiner, align 8
  %bf.load.i = load i8, ptr %other, align 1
  %bf.clear = and i8 %bf.load.i, 7
  store i8 %bf.clear, ptr %other, align 1
  ret void
}

; Owners of an object.
define i1 @release(ptr %count) {
  %before = atomicrmw volatile add ptr %count, i32 -1 acq_rel, align 4
  %last = icmp eq i32 %before, 1
  ret i1 %last
}

define i64 @take_ticket(ptr %count) {
  %before = atomicrmw sub ptr %count, i64 2 seq_cst, align 8
  ret i64 %before
}

; The larger one, and a number: as they are.
define void @others(ptr %count, ptr %sum, i32 %n, double %x) {
  %largest = atomicrmw max ptr %count, i32 %n monotonic, align 4
  %old = atomicrmw fadd ptr %sum, double %x monotonic, align 8
  ret void
}
