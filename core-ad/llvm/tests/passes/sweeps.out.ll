@enzyme_dup = external global i32
@enzyme_const = external global i32
@enzyme_dupnoneed = external global i32
@__enzyme_register_gradient_ffgrad.swept.0 = global [3 x ptr] [ptr @ffgrad.shim.ffgrad.swept.0, ptr @ffgrad.save.ffgrad.swept.0, ptr @ffgrad.reverse.ffgrad.swept.0]
@__enzyme_register_derivative_ffgrad.swept.0 = global [2 x ptr] [ptr @ffgrad.shim.ffgrad.swept.0, ptr @ffgrad.forward.ffgrad.swept.0]

declare ptr @malloc(i64)

define void @ffgrad.wrap(i64 %n, i64 %steps) {
entry:
  %square = mul i64 %n, %n
  %bytes = shl i64 %square, 3
  %one = call ptr @malloc(i64 %bytes)
  %two = call ptr @malloc(i64 %bytes)
  %last = sub i64 %n, 1
  br label %step

step:                                             ; preds = %next, %entry
  %s = phi i64 [ 0, %entry ], [ %s.next, %next ]
  %a = phi ptr [ %one, %entry ], [ %b, %next ]
  %b = phi ptr [ %two, %entry ], [ %a, %next ]
  call void @ffgrad.call.ffgrad.swept.0(ptr %a, ptr %b, i64 %last, i64 %n, i64 %bytes, i64 %bytes)
  br label %next

next:                                             ; preds = %step
  %s.next = add i64 %s, 1
  %done = icmp eq i64 %s.next, %steps
  br i1 %done, label %out, label %step

out:                                              ; preds = %next
  ret void
}

; Function Attrs: nounwind
define internal void @ffgrad.sweep.0(ptr noalias nonnull readonly %0, ptr noalias nonnull %1, i64 %2, i64 %3) #0 {
  br label %row

row:                                              ; preds = %4, %end
  %5 = phi i64 [ 0, %4 ], [ %i.next, %end ]
  %i.next = add i64 %5, 1
  %here = mul i64 %5, %3
  %below = mul i64 %i.next, %3
  br label %cell

cell:                                             ; preds = %cell, %row
  %j = phi i64 [ 0, %row ], [ %j.next, %cell ]
  %j.next = add i64 %j, 1
  %k = add i64 %here, %j
  %l = add i64 %below, %j
  %p = getelementptr double, ptr %0, i64 %k
  %q = getelementptr double, ptr %0, i64 %l
  %p.next = getelementptr i8, ptr %p, i64 8
  %q.next = getelementptr i8, ptr %q, i64 8
  %v = load double, ptr %p, align 8
  %w = load double, ptr %p.next, align 8
  %x = load double, ptr %q, align 8
  %y = load double, ptr %q.next, align 8
  %vw = fmul double %v, %w
  %xy = fmul double %x, %y
  %all = fmul double %vw, %xy
  %to = getelementptr double, ptr %1, i64 %k
  store double %all, ptr %to, align 8
  %row.done = icmp eq i64 %j.next, %2
  br i1 %row.done, label %end, label %cell

end:                                              ; preds = %cell
  %rows.done = icmp eq i64 %i.next, %2
  br i1 %rows.done, label %6, label %row

6:                                                ; preds = %end
  ret void
}

; Function Attrs: noinline nounwind
define dso_local void @ffgrad.primal.ffgrad.swept.0(ptr readonly captures(none) %0, ptr captures(none) %1, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %2, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %3, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %4, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %5) #1 {
  call void @ffgrad.sweep.0(ptr %0, ptr %1, i64 %2, i64 %3)
  ret void
}

; Function Attrs: nounwind
define internal ptr @ffgrad.keep.ffgrad.swept.0(ptr %0, ptr %1, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %2, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %3, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %4, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %5) #0 {
  %7 = add i64 0, %4
  %8 = add i64 %7, 255
  %9 = and i64 %8, -64
  %10 = call ptr @malloc(i64 %9)
  %11 = getelementptr i8, ptr %10, i64 0
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %11, ptr align 8 %0, i64 %4, i1 false)
  call void @ffgrad.sweep.0(ptr %0, ptr %1, i64 %2, i64 %3)
  ret ptr %10
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #2

; Function Attrs: noinline nounwind
define internal void @ffgrad.sweepgrad.fwddiff.0(ptr noalias %0, ptr noalias %1, ptr noalias %2, ptr noalias %3, i64 %4, i64 %5) #1 {
  %7 = load i32, ptr @enzyme_dup, align 4
  %8 = load i32, ptr @enzyme_dup, align 4
  %9 = load i32, ptr @enzyme_const, align 4
  %10 = load i32, ptr @enzyme_const, align 4
  call void (...) @__enzyme_fwddiff_sweep(ptr @ffgrad.sweep.0, i32 %7, ptr %0, ptr %1, i32 %8, ptr %2, ptr %3, i32 %9, i64 %4, i32 %10, i64 %5)
  ret void
}

declare void @__enzyme_fwddiff_sweep(...)

; Function Attrs: nounwind
define internal void @ffgrad.along.ffgrad.swept.0(ptr %0, ptr %1, ptr %2, ptr %3, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %4, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %5, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %6, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %7) #0 {
  %9 = add i64 0, %6
  %10 = add i64 %9, 255
  %11 = and i64 %10, -64
  %12 = icmp eq ptr %1, null
  %13 = select i1 %12, i64 %6, i64 0
  %14 = call ptr @calloc(i64 %13, i64 1)
  %15 = select i1 %12, ptr %14, ptr %1
  %16 = icmp eq ptr %3, null
  %17 = select i1 %16, i64 %7, i64 0
  %18 = call ptr @calloc(i64 %17, i64 1)
  %19 = select i1 %16, ptr %18, ptr %3
  call void @ffgrad.sweepgrad.fwddiff.0(ptr %0, ptr %15, ptr %2, ptr %19, i64 %4, i64 %5)
  call void @free(ptr %14)
  call void @free(ptr %18)
  ret void
}

declare ptr @calloc(i64, i64)

declare void @free(ptr)

; Function Attrs: noinline nounwind
define internal void @ffgrad.sweepgrad.autodiff.0(ptr noalias %0, ptr noalias %1, ptr noalias %2, ptr noalias %3, i64 %4, i64 %5) #1 {
  %7 = load i32, ptr @enzyme_dup, align 4
  %8 = load i32, ptr @enzyme_dupnoneed, align 4
  %9 = load i32, ptr @enzyme_const, align 4
  %10 = load i32, ptr @enzyme_const, align 4
  call void (...) @__enzyme_autodiff_sweep(ptr @ffgrad.sweep.0, i32 %7, ptr %0, ptr %1, i32 %8, ptr %2, ptr %3, i32 %9, i64 %4, i32 %10, i64 %5)
  ret void
}

declare void @__enzyme_autodiff_sweep(...)

; Function Attrs: nounwind
define internal void @ffgrad.back.ffgrad.swept.0(ptr %0, ptr %1, ptr %2, ptr %3, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %4, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %5, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %6, i64 "enzyme_inactive" "enzyme_type"="{[-1]:Integer}" %7, ptr %8) #0 {
  %10 = add i64 0, %6
  %11 = add i64 %10, 255
  %12 = and i64 %11, -64
  %13 = getelementptr i8, ptr %8, i64 0
  %14 = icmp eq ptr %1, null
  %15 = select i1 %14, i64 %6, i64 0
  %16 = call ptr @calloc(i64 %15, i64 1)
  %17 = select i1 %14, ptr %16, ptr %1
  %18 = icmp eq ptr %3, null
  %19 = select i1 %18, i64 %7, i64 0
  %20 = call ptr @calloc(i64 %19, i64 1)
  %21 = select i1 %18, ptr %20, ptr %3
  call void @ffgrad.sweepgrad.autodiff.0(ptr %13, ptr %17, ptr %2, ptr %21, i64 %4, i64 %5)
  call void @free(ptr %16)
  call void @free(ptr %20)
  call void @free(ptr %8)
  ret void
}

; Function Attrs: nofree noinline nounwind
declare void @ffgrad.shim.ffgrad.swept.0(ptr captures(none)) #3

; Function Attrs: alwaysinline
define internal void @ffgrad.call.ffgrad.swept.0(ptr %0, ptr %1, i64 %2, i64 %3, i64 %4, i64 %5) #4 {
  %7 = alloca { ptr, ptr, i64, i64, i64, i64 }, align 8
  %8 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %7, i32 0, i32 0
  store ptr %0, ptr %8, align 8
  %9 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %7, i32 0, i32 1
  store ptr %1, ptr %9, align 8
  %10 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %7, i32 0, i32 2
  store i64 %2, ptr %10, align 4
  %11 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %7, i32 0, i32 3
  store i64 %3, ptr %11, align 4
  %12 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %7, i32 0, i32 4
  store i64 %4, ptr %12, align 4
  %13 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %7, i32 0, i32 5
  store i64 %5, ptr %13, align 4
  call void @ffgrad.shim.ffgrad.swept.0(ptr %7)
  ret void
}

define internal ptr @ffgrad.save.ffgrad.swept.0(ptr %0, ptr %1) {
  %3 = call ptr @malloc(i64 72)
  %4 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 0
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 0
  store ptr %5, ptr %6, align 8
  %7 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %1, i32 0, i32 0
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 1
  store ptr %8, ptr %9, align 8
  %10 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 1
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 2
  store ptr %11, ptr %12, align 8
  %13 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %1, i32 0, i32 1
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 3
  store ptr %14, ptr %15, align 8
  %16 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 2
  %17 = load i64, ptr %16, align 4
  %18 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 4
  store i64 %17, ptr %18, align 4
  %19 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 3
  %20 = load i64, ptr %19, align 4
  %21 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 5
  store i64 %20, ptr %21, align 4
  %22 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 4
  %23 = load i64, ptr %22, align 4
  %24 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 6
  store i64 %23, ptr %24, align 4
  %25 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 5
  %26 = load i64, ptr %25, align 4
  %27 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 7
  store i64 %26, ptr %27, align 4
  %28 = call ptr @ffgrad.keep.ffgrad.swept.0(ptr %5, ptr %11, i64 %17, i64 %20, i64 %23, i64 %26)
  %29 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %3, i32 0, i32 8
  store ptr %28, ptr %29, align 8
  ret ptr %3
}

define internal void @ffgrad.reverse.ffgrad.swept.0(ptr %0, ptr %1, ptr %2) {
  %4 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 0
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 1
  %7 = load ptr, ptr %6, align 8
  %8 = icmp eq ptr %5, %7
  %9 = select i1 %8, ptr null, ptr %7
  %10 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 2
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 3
  %13 = load ptr, ptr %12, align 8
  %14 = icmp eq ptr %11, %13
  %15 = select i1 %14, ptr null, ptr %13
  %16 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 4
  %17 = load i64, ptr %16, align 4
  %18 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 5
  %19 = load i64, ptr %18, align 4
  %20 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 6
  %21 = load i64, ptr %20, align 4
  %22 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 7
  %23 = load i64, ptr %22, align 4
  %24 = getelementptr inbounds nuw { ptr, ptr, ptr, ptr, i64, i64, i64, i64, ptr }, ptr %2, i32 0, i32 8
  %25 = load ptr, ptr %24, align 8
  call void @free(ptr %2)
  call void @ffgrad.back.ffgrad.swept.0(ptr %5, ptr %9, ptr %11, ptr %15, i64 %17, i64 %19, i64 %21, i64 %23, ptr %25)
  ret void
}

define internal void @ffgrad.forward.ffgrad.swept.0(ptr %0, ptr %1) {
  %3 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 0
  %4 = load ptr, ptr %3, align 8
  %5 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %1, i32 0, i32 0
  %6 = load ptr, ptr %5, align 8
  %7 = icmp eq ptr %4, %6
  %8 = select i1 %7, ptr null, ptr %6
  %9 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 1
  %10 = load ptr, ptr %9, align 8
  %11 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %1, i32 0, i32 1
  %12 = load ptr, ptr %11, align 8
  %13 = icmp eq ptr %10, %12
  %14 = select i1 %13, ptr null, ptr %12
  %15 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 2
  %16 = load i64, ptr %15, align 4
  %17 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 3
  %18 = load i64, ptr %17, align 4
  %19 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 4
  %20 = load i64, ptr %19, align 4
  %21 = getelementptr inbounds nuw { ptr, ptr, i64, i64, i64, i64 }, ptr %0, i32 0, i32 5
  %22 = load i64, ptr %21, align 4
  call void @ffgrad.along.ffgrad.swept.0(ptr %4, ptr %8, ptr %10, ptr %14, i64 %16, i64 %18, i64 %20, i64 %22)
  ret void
}

attributes #0 = { nounwind }
attributes #1 = { noinline nounwind }
attributes #2 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { nofree noinline nounwind }
attributes #4 = { alwaysinline }
