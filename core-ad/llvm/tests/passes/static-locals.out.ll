target triple = "x86_64-unknown-linux-gnu"

@_ZZ7weightsE1w = internal global { ptr, ptr } zeroinitializer
@_ZGVZ7weightsE1w = internal global i64 0
@_ZZ5cachevE1c = internal global { ptr, ptr } zeroinitializer
@_ZGVZ5cachevE1c = internal global i64 0
@__dso_handle = external global i8

declare i32 @__cxa_guard_acquire(ptr)

declare void @__cxa_guard_release(ptr)

declare void @fill(ptr, ptr)

define ptr @weights() {
entry:
  %temporary = alloca i32, align 4
  %0 = load atomic i8, ptr @_ZGVZ7weightsE1w acquire, align 8
  %uninitialised = icmp eq i8 %0, 0
  br i1 %uninitialised, label %1, label %end

1:                                                ; preds = %entry
  call void @ffgrad.static()
  br label %end

check:                                            ; No predecessors!
  %2 = call i32 @__cxa_guard_acquire(ptr @_ZGVZ7weightsE1w)
  %go = icmp ne i32 %2, 0
  br i1 %go, label %init, label %end

init:                                             ; preds = %check
  br label %loop

loop:                                             ; preds = %loop, %init
  %i = phi i32 [ 0, %init ], [ %next, %loop ]
  store i32 %i, ptr %temporary, align 4
  call void @fill(ptr @_ZZ7weightsE1w, ptr %temporary)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 8
  br i1 %more, label %loop, label %filled

filled:                                           ; preds = %loop
  call void @__cxa_guard_release(ptr @_ZGVZ7weightsE1w)
  br label %end

end:                                              ; preds = %1, %filled, %check, %entry
  ret ptr @_ZZ7weightsE1w
}

declare i32 @__cxa_atexit(ptr, ptr, ptr)

define internal void @destroy(ptr %c) {
  ret void
}

define internal ptr @cache() {
entry:
  %0 = load i8, ptr @_ZGVZ5cachevE1c, align 8
  %uninitialised = icmp eq i8 %0, 0
  br i1 %uninitialised, label %check, label %end

check:                                            ; preds = %entry
  %go = icmp ne i32 1, 0
  br i1 %go, label %init, label %end

init:                                             ; preds = %check
  call void @fill(ptr @_ZZ5cachevE1c, ptr null)
  store i8 1, ptr @_ZGVZ5cachevE1c, align 1
  br label %end

end:                                              ; preds = %init, %check, %entry
  ret ptr @_ZZ5cachevE1c
}

define void @ffgrad.wrap(ptr %x) {
  %c = call ptr @cache()
  store ptr %x, ptr %c, align 8
  call void @ffgrad.end(ptr @_ZZ5cachevE1c, ptr @_ZGVZ5cachevE1c)
  ret void
}

define internal void @ffgrad.end(ptr %0, ptr %1) {
  %3 = load i8, ptr %1, align 1
  %4 = icmp ne i8 %3, 0
  br i1 %4, label %5, label %6

5:                                                ; preds = %2
  call void @destroy(ptr %0)
  br label %6

6:                                                ; preds = %5, %2
  ret void
}

; Function Attrs: noinline
define internal void @ffgrad.static() #0 {
  %1 = alloca i32, align 4
  br label %2

2:                                                ; preds = %0
  %3 = call i32 @__cxa_guard_acquire(ptr @_ZGVZ7weightsE1w)
  %4 = icmp ne i32 %3, 0
  br i1 %4, label %5, label %11

5:                                                ; preds = %2
  br label %6

6:                                                ; preds = %6, %5
  %7 = phi i32 [ 0, %5 ], [ %8, %6 ]
  store i32 %7, ptr %1, align 4
  call void @fill(ptr @_ZZ7weightsE1w, ptr %1)
  %8 = add i32 %7, 1
  %9 = icmp slt i32 %8, 8
  br i1 %9, label %6, label %10

10:                                               ; preds = %6
  call void @__cxa_guard_release(ptr @_ZGVZ7weightsE1w)
  br label %11

11:                                               ; preds = %10, %2
  ret void
}

attributes #0 = { noinline "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" }
