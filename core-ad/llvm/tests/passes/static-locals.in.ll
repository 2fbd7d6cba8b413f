; A static local variable that owns memory: its initialisation becomes an inactive function.
target triple = "x86_64-unknown-linux-gnu"

@_ZZ7weightsE1w = internal global { ptr, ptr } zeroinitializer
@_ZGVZ7weightsE1w = internal global i64 0

declare i32 @__cxa_guard_acquire(ptr)
declare void @__cxa_guard_release(ptr)
declare void @fill(ptr, ptr)

define ptr @weights() {
entry:
  %temporary = alloca i32
  %0 = load atomic i8, ptr @_ZGVZ7weightsE1w acquire, align 8
  %uninitialised = icmp eq i8 %0, 0
  br i1 %uninitialised, label %check, label %end

check:
  %1 = call i32 @__cxa_guard_acquire(ptr @_ZGVZ7weightsE1w)
  %go = icmp ne i32 %1, 0
  br i1 %go, label %init, label %end

init:
  br label %loop

loop:
  %i = phi i32 [ 0, %init ], [ %next, %loop ]
  store i32 %i, ptr %temporary
  call void @fill(ptr @_ZZ7weightsE1w, ptr %temporary)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 8
  br i1 %more, label %loop, label %filled

filled:
  call void @__cxa_guard_release(ptr @_ZGVZ7weightsE1w)
  br label %end

end:
  ret ptr @_ZZ7weightsE1w
}

; One that the function changes begins anew in each call: its guard is a flag, and its destructor runs at the end.
@_ZZ5cachevE1c = internal global { ptr, ptr } zeroinitializer
@_ZGVZ5cachevE1c = internal global i64 0
@__dso_handle = external global i8

declare i32 @__cxa_atexit(ptr, ptr, ptr)

define internal void @destroy(ptr %c) {
  ret void
}

define internal ptr @cache() {
entry:
  %0 = load atomic i8, ptr @_ZGVZ5cachevE1c acquire, align 8
  %uninitialised = icmp eq i8 %0, 0
  br i1 %uninitialised, label %check, label %end

check:
  %1 = call i32 @__cxa_guard_acquire(ptr @_ZGVZ5cachevE1c)
  %go = icmp ne i32 %1, 0
  br i1 %go, label %init, label %end

init:
  call void @fill(ptr @_ZZ5cachevE1c, ptr null)
  %2 = call i32 @__cxa_atexit(ptr @destroy, ptr @_ZZ5cachevE1c, ptr @__dso_handle)
  call void @__cxa_guard_release(ptr @_ZGVZ5cachevE1c)
  br label %end

end:
  ret ptr @_ZZ5cachevE1c
}

define void @ffgrad.wrap(ptr %x) {
  %c = call ptr @cache()
  store ptr %x, ptr %c
  ret void
}
