declare ptr @malloc(i64)

declare void @free(ptr)

define double @f(<4 x double> %v) {
  %cache = call ptr @malloc(i64 64)
  store <4 x double> %v, ptr %cache, align 8
  %w = load double, ptr %cache, align 8
  call void @free(ptr %cache)
  ret double %w
}
