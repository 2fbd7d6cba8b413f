; The address of an object that is stored passes through the function, and what constructs it does not. Numbers in memory of their own stay.
target triple = "x86_64-unknown-linux-gnu"

@_ZTV4Line = internal constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr null, ptr @value] }

declare ptr @_Znwm(i64)
declare ptr @ffgrad.object(ptr, i32)

define double @value(ptr %this, double %at) {
  ret double %at
}

define void @construct(ptr %this, double %slope) {
  store ptr getelementptr inbounds (i8, ptr @_ZTV4Line, i64 16), ptr %this
  %member = getelementptr i8, ptr %this, i64 8
  store double %slope, ptr %member
  ret void
}

define double @run(ptr %slot, ptr %numbers, double %slope) {
  %line = call ptr @_Znwm(i64 16)
  call void @construct(ptr %line, double %slope)
  store ptr %line, ptr %slot
  %values = call ptr @_Znwm(i64 80)
  store double %slope, ptr %values
  store ptr %values, ptr %numbers
  %known = load ptr, ptr %slot
  %view = call ptr @ffgrad.object(ptr %known, i32 1)
  %result = call double @value(ptr %view, double %slope)
  ret double %result
}
