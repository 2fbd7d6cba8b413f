; @table is only read by what the entry point reaches; @state is written.
@table = internal global [2 x double] [double 1.0, double 2.0]
@state = internal global double 0.0

define void @ffgrad.wrap(ptr %x) {
  %a = load double, ptr @table
  store double %a, ptr @state
  ret void
}

define void @constructor() {
  store double 3.0, ptr @table
  ret void
}
