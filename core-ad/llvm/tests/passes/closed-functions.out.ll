@all = internal global [16 x i8] zeroinitializer

define internal void @fill(ptr %word, i32 %bits) {
  store i32 %bits, ptr %word, align 4
  ret void
}

; Function Attrs: nofree noinline
define internal double @constant(ptr %i) #0 {
  call void @fill(ptr getelementptr (i8, ptr @all, i64 4), i32 1018167296)
  %n = load i32, ptr %i, align 4
  %k = sext i32 %n to i64
  %p = getelementptr double, ptr @all, i64 %k
  %v = load double, ptr %p, align 8
  ret double %v
}

define double @scaled(ptr %x) {
  %i = alloca i32, align 4
  store i32 0, ptr %i, align 4
  %c = call double @constant(ptr %i)
  %v = load double, ptr %x, align 8
  %y = fmul double %v, %c
  ret double %y
}

attributes #0 = { nofree noinline "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" "enzyme_ta_norecur" "ffgrad-closed" }
