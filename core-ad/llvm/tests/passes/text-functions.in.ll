; A procedure that prints a text, one that makes the text, one that has a number, one that keeps an address, and one that copies
; an object, which may have numbers in it.
@_QQclX6E756D62657220 = internal constant [7 x i8] c"number "
@kept = internal global ptr null

declare ptr @_FortranAioBeginExternalListOutput(i32, ptr, i32)
declare i1 @_FortranAioOutputAscii(ptr, ptr, i64)
declare i32 @_FortranAioEndIoStatement(ptr)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define internal void @show_(ptr %text, i64 %length) {
  %io = call ptr @_FortranAioBeginExternalListOutput(i32 6, ptr @_QQclX6E756D62657220, i32 1)
  %ok = call i1 @_FortranAioOutputAscii(ptr %io, ptr %text, i64 %length)
  %end = call i32 @_FortranAioEndIoStatement(ptr %io)
  ret void
}

define internal void @report_(ptr %text, ptr %level, i64 %length) {
  %line = alloca [40 x i8]
  call void @llvm.memmove.p0.p0.i64(ptr %line, ptr @_QQclX6E756D62657220, i64 7, i1 false)
  %rest = getelementptr i8, ptr %line, i64 7
  call void @llvm.memmove.p0.p0.i64(ptr %rest, ptr %text, i64 %length, i1 false)
  call void @show_(ptr %line, i64 40)
  ret void
}

define internal void @scale_(ptr %x, ptr %text) {
  %old = load double, ptr %x
  %new = fmul double %old, 2.0
  store double %new, ptr %x
  call void @show_(ptr %text, i64 4)
  ret void
}

define internal void @keep_(ptr %text) {
  store ptr %text, ptr @kept
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
