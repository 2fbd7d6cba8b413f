define i32 @status(ptr %s) {
  store i32 0, ptr %s, align 4
  %old = load i32, ptr %s, align 4
  %new = add i32 %old, -100, !enzyme_type !0
  store i32 %new, ptr %s, align 4
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
  %first = load i32, ptr %count, align 4
  br label %again

again:                                            ; preds = %more, %entry
  %known = phi i32 [ %first, %entry ], [ %0, %more ], !enzyme_type !0
  %none = icmp eq i32 %known, 0
  br i1 %none, label %end, label %more

more:                                             ; preds = %again
  %next = add i32 %known, 1, !enzyme_type !0
  %0 = call i32 @ffgrad.exchange.i32(ptr %count, i32 %known, i32 %next)
  %1 = icmp eq i32 %0, %known
  br i1 %1, label %end, label %again

end:                                              ; preds = %more, %again
  %locked = phi i1 [ false, %again ], [ true, %more ]
  ret i1 %locked
}

define void @shared_sum(ptr %sum, i64 %bits, double %x) {
  %old = bitcast i64 %bits to double
  %new = fadd double %old, %x
  %new.bits = bitcast double %new to i64
  %both = cmpxchg ptr %sum, i64 %bits, i64 %new.bits acq_rel monotonic, align 8
  ret void
}

define void @flag_node(ptr %node, ptr %other) {
  %steiner = getelementptr i8, ptr %node, i64 32
  %bf.load = load i32, ptr %steiner, align 8, !enzyme_type !0
  %bf.set = or i32 %bf.load, -2147483648
  store i32 %bf.set, ptr %steiner, align 8
  %bf.load.i = load i8, ptr %other, align 1, !enzyme_type !0
  %bf.clear = and i8 %bf.load.i, 7
  store i8 %bf.clear, ptr %other, align 1
  ret void
}

define i1 @release(ptr %count) {
  %1 = call i32 @ffgrad.update.i32(ptr %count, i32 -1)
  %last = icmp eq i32 %1, 1
  ret i1 %last
}

define i64 @take_ticket(ptr %count) {
  %1 = call i64 @ffgrad.update.i64(ptr %count, i64 -2)
  ret i64 %1
}

define void @others(ptr %count, ptr %sum, i32 %n, double %x) {
  %largest = atomicrmw max ptr %count, i32 %n monotonic, align 4
  %old = atomicrmw fadd ptr %sum, double %x monotonic, align 8
  ret void
}

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare "enzyme_type"="{[-1]:Integer}" i32 @ffgrad.exchange.i32(ptr captures(none), i32, i32) #0

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare "enzyme_type"="{[-1]:Integer}" i32 @ffgrad.update.i32(ptr captures(none), i32) #0

; Function Attrs: nofree nosync nounwind willreturn memory(argmem: readwrite)
declare "enzyme_type"="{[-1]:Integer}" i64 @ffgrad.update.i64(ptr captures(none), i64) #0

attributes #0 = { nofree nosync nounwind willreturn memory(argmem: readwrite) "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }

!0 = !{!"Unknown", i32 -1, !1}
!1 = !{!"Integer"}
