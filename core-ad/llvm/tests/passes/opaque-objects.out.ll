target triple = "x86_64-unknown-linux-gnu"

@_ZTV4Line = internal constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr null, ptr @value] }
@ffgrad.offset.728775 = external constant i64, !enzyme_inactive !0

declare ptr @_Znwm(i64)

; Function Attrs: noinline optnone
define internal ptr @ffgrad.object(ptr %0, i32 %1) #0 {
  %3 = load i64, ptr @ffgrad.offset.728775, align 4
  %4 = zext i32 %1 to i64
  %5 = mul i64 %3, %4
  %6 = getelementptr i8, ptr %0, i64 %5
  ret ptr %6
}

define double @value(ptr %this, double %at) {
  ret double %at
}

define void @construct(ptr %this, double %slope) {
  store ptr getelementptr inbounds (i8, ptr @_ZTV4Line, i64 16), ptr %this, align 8
  %member = getelementptr i8, ptr %this, i64 8
  store double %slope, ptr %member, align 8
  ret void
}

define double @run(ptr %slot, ptr %numbers, double %slope) {
  %line = call ptr @_Znwm(i64 16)
  %1 = call ptr @ffgrad.object(ptr %line, i32 0)
  call void @construct(ptr %line, double %slope)
  store ptr %1, ptr %slot, align 8
  %values = call ptr @_Znwm(i64 80)
  store double %slope, ptr %values, align 8
  store ptr %values, ptr %numbers, align 8
  %known = load ptr, ptr %slot, align 8
  %view = call ptr @ffgrad.object(ptr %known, i32 1)
  %result = call double @value(ptr %view, double %slope)
  ret double %result
}

attributes #0 = { noinline optnone "enzyme_ta_norecur" }

!0 = !{}
