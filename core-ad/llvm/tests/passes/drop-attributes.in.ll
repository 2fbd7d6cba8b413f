; Enzyme's claims: alignment above 8, nonnull from malloc, an invariant group on a cache.
declare ptr @malloc(i64)
declare void @free(ptr)

define double @f(<4 x double> %v) {
  %cache = call nonnull ptr @malloc(i64 64)
  store <4 x double> %v, ptr %cache, align 32, !invariant.group !0
  %w = load double, ptr %cache, align 32, !invariant.group !0
  call void @free(ptr nonnull %cache)
  ret double %w
}

!0 = !{}
