; Stops where a check of the function's fails (failed_checks.rs says how). The driver sets the variable.
@ffgrad_on_failed_check = global ptr null, align 8

define void @ffgrad.stop.at(i32 %fails) {
start:
  %failed = icmp ne i32 %fails, 0
  br i1 %failed, label %fail, label %end

fail:
  %leave = load atomic ptr, ptr @ffgrad_on_failed_check monotonic, align 8
  %is_set = icmp ne ptr %leave, null
  br i1 %is_set, label %stop, label %end

stop:
  call void %leave() cold
  br label %end

end:
  ret void
}
