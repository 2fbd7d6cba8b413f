@_QQclX6E756D62657220 = internal constant [7 x i8] c"number "
@kept = internal global ptr null

declare ptr @_FortranAioBeginExternalListOutput(i32, ptr, i32)

declare i1 @_FortranAioOutputAscii(ptr, ptr, i64)

declare i32 @_FortranAioEndIoStatement(ptr)

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

; Function Attrs: nofree noinline
define internal void @show_(ptr %text, i64 %length) #1 {
  %io = call ptr @_FortranAioBeginExternalListOutput(i32 6, ptr @_QQclX6E756D62657220, i32 1)
  %ok = call i1 @_FortranAioOutputAscii(ptr %io, ptr %text, i64 %length)
  %end = call i32 @_FortranAioEndIoStatement(ptr %io)
  ret void
}

; Function Attrs: nofree noinline
define internal void @report_(ptr %text, ptr %level, i64 %length) #1 {
  %line = alloca [40 x i8], align 1
  call void @llvm.memmove.p0.p0.i64(ptr %line, ptr @_QQclX6E756D62657220, i64 7, i1 false)
  %rest = getelementptr i8, ptr %line, i64 7
  call void @llvm.memmove.p0.p0.i64(ptr %rest, ptr %text, i64 %length, i1 false)
  call void @show_(ptr %line, i64 40)
  ret void
}

define internal void @scale_(ptr %x, ptr %text) {
  %old = load double, ptr %x, align 8
  %new = fmul double %old, 2.000000e+00
  store double %new, ptr %x, align 8
  call void @show_(ptr %text, i64 4)
  ret void
}

define internal void @keep_(ptr %text) {
  store ptr %text, ptr @kept, align 8
  call void @show_(ptr %text, i64 4)
  ret void
}

define internal void @assign_(ptr %to, ptr %from) {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 16, i1 false)
  call void @show_(ptr @_QQclX6E756D62657220, i64 7)
  ret void
}

define void @use(ptr %x, ptr %text) {
  call void @scale_(ptr %x, ptr %text)
  call void @keep_(ptr %text)
  call void @report_(ptr %text, ptr %x, i64 4)
  call void @assign_(ptr %x, ptr %text)
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { nofree noinline "enzyme_inactive" "enzyme_no_escaping_allocation" "enzyme_nofree" "enzyme_ta_norecur" }
