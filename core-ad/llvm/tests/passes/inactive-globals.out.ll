@table = internal global [2 x double] [double 1.000000e+00, double 2.000000e+00], !enzyme_inactive !0
@state = internal global double 0.000000e+00
@terms = internal global [2 x double] [double 1.000000e+00, double 2.000000e+00], !enzyme_inactive !0
@more = internal global [2 x double] [double 3.000000e+00, double 4.000000e+00], !enzyme_inactive !0
@first = internal constant { i32, ptr } { i32 2, ptr @terms }, !enzyme_inactive !0
@second = internal global { i32, ptr } { i32 2, ptr @more }, !enzyme_inactive !0
@models = internal global [2 x ptr] [ptr @first, ptr @second], !enzyme_inactive !0
@written = internal global [2 x double] zeroinitializer
@loose = internal global ptr @written, !enzyme_inactive !0

define void @ffgrad.wrap(ptr %x) {
  %a = load double, ptr @table, align 8
  store double %a, ptr @state, align 8
  %model = load ptr, ptr getelementptr (i8, ptr @models, i64 8), align 8
  %at = getelementptr i8, ptr %model, i64 8
  %terms = load ptr, ptr %at, align 8
  %b = load double, ptr %terms, align 8
  store double %b, ptr @state, align 8
  %address = load ptr, ptr @loose, align 8
  store double %b, ptr %address, align 8
  ret void
}

define void @constructor() {
  store double 3.000000e+00, ptr @table, align 8
  ret void
}

!0 = !{}
