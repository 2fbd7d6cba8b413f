; A distance that leads to an address is taken by a function. One that is only compared stays.
target triple = "x86_64-unknown-linux-gnu"

define void @resize(ptr %begin, ptr %end, ptr %other) {
  %b = ptrtoint ptr %begin to i64
  %e = ptrtoint ptr %end to i64
  %bytes = sub i64 %e, %b
  %count = ashr exact i64 %bytes, 3
  %place = getelementptr i64, ptr %other, i64 %count
  store i64 0, ptr %place
  ret void
}

define i1 @is_empty(ptr %begin, ptr %end) {
  %b = ptrtoint ptr %begin to i64
  %e = ptrtoint ptr %end to i64
  %bytes = sub i64 %e, %b
  %empty = icmp eq i64 %bytes, 0
  ret i1 %empty
}
