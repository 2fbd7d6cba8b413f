; A block that grows is allocated, copied and released.
target triple = "x86_64-unknown-linux-gnu"

declare ptr @realloc(ptr, i64)

define void @grow(ptr %member, i64 %size) {
  %old = load ptr, ptr %member
  %new = call ptr @realloc(ptr %old, i64 %size)
  store ptr %new, ptr %member
  ret void
}
