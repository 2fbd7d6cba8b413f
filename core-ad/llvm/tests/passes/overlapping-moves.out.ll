target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg) #0

define void @f(ptr %queue, i64 %bytes) {
  %behind = getelementptr i8, ptr %queue, i64 8
  call void @llvm.memmove.p0.p0.i64(ptr %queue, ptr %behind, i64 %bytes, i1 false)
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_doubleda0sa0(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds double, ptr %dst, i64 %i
  %i.d = load double, ptr %i.to, align 1
  store double 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds double, ptr %src, i64 %i
  %i.s = load double, ptr %i.from, align 1
  %i.sum = fadd double %i.s, %i.d
  store double %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds double, ptr %dst, i64 %j
  %j.d = load double, ptr %j.to, align 1
  store double 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds double, ptr %src, i64 %j
  %j.s = load double, ptr %j.from, align 1
  %j.sum = fadd double %j.s, %j.d
  store double %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_doubleda0sa1(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds double, ptr %dst, i64 %i
  %i.d = load double, ptr %i.to, align 1
  store double 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds double, ptr %src, i64 %i
  %i.s = load double, ptr %i.from, align 1
  %i.sum = fadd double %i.s, %i.d
  store double %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds double, ptr %dst, i64 %j
  %j.d = load double, ptr %j.to, align 1
  store double 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds double, ptr %src, i64 %j
  %j.s = load double, ptr %j.from, align 1
  %j.sum = fadd double %j.s, %j.d
  store double %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_doubleda1sa0(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds double, ptr %dst, i64 %i
  %i.d = load double, ptr %i.to, align 1
  store double 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds double, ptr %src, i64 %i
  %i.s = load double, ptr %i.from, align 1
  %i.sum = fadd double %i.s, %i.d
  store double %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds double, ptr %dst, i64 %j
  %j.d = load double, ptr %j.to, align 1
  store double 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds double, ptr %src, i64 %j
  %j.s = load double, ptr %j.from, align 1
  %j.sum = fadd double %j.s, %j.d
  store double %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_doubleda1sa1(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds double, ptr %dst, i64 %i
  %i.d = load double, ptr %i.to, align 1
  store double 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds double, ptr %src, i64 %i
  %i.s = load double, ptr %i.from, align 1
  %i.sum = fadd double %i.s, %i.d
  store double %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds double, ptr %dst, i64 %j
  %j.d = load double, ptr %j.to, align 1
  store double 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds double, ptr %src, i64 %j
  %j.s = load double, ptr %j.from, align 1
  %j.sum = fadd double %j.s, %j.d
  store double %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_floatda0sa0(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds float, ptr %dst, i64 %i
  %i.d = load float, ptr %i.to, align 1
  store float 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds float, ptr %src, i64 %i
  %i.s = load float, ptr %i.from, align 1
  %i.sum = fadd float %i.s, %i.d
  store float %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds float, ptr %dst, i64 %j
  %j.d = load float, ptr %j.to, align 1
  store float 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds float, ptr %src, i64 %j
  %j.s = load float, ptr %j.from, align 1
  %j.sum = fadd float %j.s, %j.d
  store float %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_floatda0sa1(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds float, ptr %dst, i64 %i
  %i.d = load float, ptr %i.to, align 1
  store float 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds float, ptr %src, i64 %i
  %i.s = load float, ptr %i.from, align 1
  %i.sum = fadd float %i.s, %i.d
  store float %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds float, ptr %dst, i64 %j
  %j.d = load float, ptr %j.to, align 1
  store float 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds float, ptr %src, i64 %j
  %j.s = load float, ptr %j.from, align 1
  %j.sum = fadd float %j.s, %j.d
  store float %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_floatda1sa0(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds float, ptr %dst, i64 %i
  %i.d = load float, ptr %i.to, align 1
  store float 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds float, ptr %src, i64 %i
  %i.s = load float, ptr %i.from, align 1
  %i.sum = fadd float %i.s, %i.d
  store float %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds float, ptr %dst, i64 %j
  %j.d = load float, ptr %j.to, align 1
  store float 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds float, ptr %src, i64 %j
  %j.s = load float, ptr %j.from, align 1
  %j.sum = fadd float %j.s, %j.d
  store float %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

; Function Attrs: alwaysinline nounwind memory(argmem: readwrite)
define void @__enzyme_memcpyadd_floatda1sa1(ptr captures(none) %dst, ptr captures(none) %src, i64 %num) #1 {
entry:
  %none = icmp eq i64 %num, 0
  br i1 %none, label %end, label %choose

choose:                                           ; preds = %entry
  %below = icmp ult ptr %dst, %src
  br i1 %below, label %downwards, label %upwards

upwards:                                          ; preds = %upwards, %choose
  %i = phi i64 [ 0, %choose ], [ %i.next, %upwards ]
  %i.to = getelementptr inbounds float, ptr %dst, i64 %i
  %i.d = load float, ptr %i.to, align 1
  store float 0.000000e+00, ptr %i.to, align 1
  %i.from = getelementptr inbounds float, ptr %src, i64 %i
  %i.s = load float, ptr %i.from, align 1
  %i.sum = fadd float %i.s, %i.d
  store float %i.sum, ptr %i.from, align 1
  %i.next = add nuw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %num
  br i1 %i.done, label %end, label %upwards

downwards:                                        ; preds = %downwards, %choose
  %above = phi i64 [ %num, %choose ], [ %j, %downwards ]
  %j = add i64 %above, -1
  %j.to = getelementptr inbounds float, ptr %dst, i64 %j
  %j.d = load float, ptr %j.to, align 1
  store float 0.000000e+00, ptr %j.to, align 1
  %j.from = getelementptr inbounds float, ptr %src, i64 %j
  %j.s = load float, ptr %j.from, align 1
  %j.sum = fadd float %j.s, %j.d
  store float %j.sum, ptr %j.from, align 1
  %j.done = icmp eq i64 %j, 0
  br i1 %j.done, label %end, label %downwards

end:                                              ; preds = %downwards, %upwards, %entry
  ret void
}

attributes #0 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #1 = { alwaysinline nounwind memory(argmem: readwrite) }
