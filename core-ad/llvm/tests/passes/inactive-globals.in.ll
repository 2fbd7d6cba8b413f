; @table is only read by what the entry point reaches; @state is written.
@table = internal global [2 x double] [double 1.0, double 2.0]
@state = internal global double 0.0
; @terms and @more are only read, by their addresses in other tables; what @loose leads to is written.
@terms = internal global [2 x double] [double 1.0, double 2.0]
@more = internal global [2 x double] [double 3.0, double 4.0]
@first = internal constant { i32, ptr } { i32 2, ptr @terms }
@second = internal global { i32, ptr } { i32 2, ptr @more }
@models = internal global [2 x ptr] [ptr @first, ptr @second]
@written = internal global [2 x double] zeroinitializer
@loose = internal global ptr @written

define void @ffgrad.wrap(ptr %x) {
  %a = load double, ptr @table
  store double %a, ptr @state
  %model = load ptr, ptr getelementptr (i8, ptr @models, i64 8)
  %at = getelementptr i8, ptr %model, i64 8
  %terms = load ptr, ptr %at
  %b = load double, ptr %terms
  store double %b, ptr @state
  %address = load ptr, ptr @loose
  store double %b, ptr %address
  ret void
}

define void @constructor() {
  store double 3.0, ptr @table
  ret void
}
