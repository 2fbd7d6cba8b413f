target triple = "x86_64-unknown-linux-gnu"

define void @resize(ptr %begin, ptr %end, ptr %other) {
  %b = ptrtoint ptr %begin to i64
  %e = ptrtoint ptr %end to i64
  %1 = call i64 @ffgrad.difference(ptr %end, ptr %begin)
  %count = ashr exact i64 %1, 3
  %place = getelementptr i64, ptr %other, i64 %count
  store i64 0, ptr %place, align 4
  ret void
}

define i1 @is_empty(ptr %begin, ptr %end) {
  %b = ptrtoint ptr %begin to i64
  %e = ptrtoint ptr %end to i64
  %bytes = sub i64 %e, %b
  %empty = icmp eq i64 %bytes, 0
  ret i1 %empty
}

; Function Attrs: nofree nosync nounwind willreturn memory(none)
declare "enzyme_type"="{[-1]:Integer}" i64 @ffgrad.difference(ptr captures(none), ptr captures(none)) #0

attributes #0 = { nofree nosync nounwind willreturn memory(none) "enzyme_inactive" "enzyme_nofree" "enzyme_shouldrecompute" }
