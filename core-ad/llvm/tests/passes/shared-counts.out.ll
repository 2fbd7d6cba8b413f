@__libc_single_threaded = external global i8, align 1

define void @copy(ptr %count) {
entry:
  %shared = icmp eq i8 0, 0
  br i1 %shared, label %atomic, label %plain

plain:                                            ; preds = %entry
  %old = load i32, ptr %count, align 4
  %new = add nsw i32 %old, 1
  store i32 %new, ptr %count, align 4
  br label %end

atomic:                                           ; preds = %entry
  %before = atomicrmw volatile add ptr %count, i32 1 acq_rel, align 4
  br label %end

end:                                              ; preds = %atomic, %plain
  ret void
}

define i1 @is_last(ptr %counts) {
  %both = load atomic i64, ptr %counts acquire, align 8
  ret i1 false
}

define i1 @is_that_number(ptr %counts) {
  %number = load i64, ptr %counts, align 8
  %equal = icmp eq i64 %number, 4294967297
  ret i1 %equal
}
