; Runs a function at the first call, in the one thread of a derivative (library_calls.rs). 2 is the C library's own mark.
@_ZSt11__once_call = thread_local global ptr null, align 8
@_ZSt15__once_callable = thread_local global ptr null, align 8

define i32 @pthread_once(ptr %control, ptr %run) alwaysinline {
start:
  %state = load i32, ptr %control, align 4
  %is_first = icmp eq i32 %state, 0
  br i1 %is_first, label %first, label %end

first:
  store i32 2, ptr %control, align 4
  call void %run()
  br label %end

end:
  ret i32 0
}

; What the C++ library gives it: the function that is kept in the variable.
define void @__once_proxy() alwaysinline {
  %place = call ptr @llvm.threadlocal.address.p0(ptr @_ZSt11__once_call)
  %run = load ptr, ptr %place, align 8
  call void %run()
  ret void
}

declare ptr @llvm.threadlocal.address.p0(ptr)
