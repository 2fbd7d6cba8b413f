; A function that keeps numbers which it reads as integers, too, and one that asks it for them.
@all = internal global [16 x i8] zeroinitializer

define internal void @fill(ptr %word, i32 %bits) {
  store i32 %bits, ptr %word
  ret void
}

define internal double @constant(ptr %i) {
  call void @fill(ptr getelementptr (i8, ptr @all, i64 4), i32 1018167296)
  %n = load i32, ptr %i
  %k = sext i32 %n to i64
  %p = getelementptr double, ptr @all, i64 %k
  %v = load double, ptr %p
  ret double %v
}

define double @scaled(ptr %x) {
  %i = alloca i32
  store i32 0, ptr %i
  %c = call double @constant(ptr %i)
  %v = load double, ptr %x
  %y = fmul double %v, %c
  ret double %y
}
