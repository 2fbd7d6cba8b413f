; The runtime of lowered exceptions: made of runtime.cpp, which says how.
@ffgrad.eh.current = internal thread_local unnamed_addr global ptr null, align 8
@.str = private unnamed_addr constant [93 x i8] c"ffgrad: an exception with numbers was thrown while another one of its type was being handled\00", align 1
@_ZTISt9exception = external constant ptr
@_ZTIi = external constant ptr

; Function Attrs: mustprogress uwtable
define nonnull ptr @ffgrad.eh.take(ptr noundef %raw) #0 {
entry:
  %held = alloca ptr, align 8
  %call = tail call ptr @__cxa_begin_catch(ptr noundef %raw)
  call void @llvm.lifetime.start.p0(ptr nonnull %held) #17
  store ptr null, ptr %held, align 8
  call void @_ZSt17current_exceptionv(ptr noundef nonnull %held)
  call void @__cxa_end_catch()
  %0 = load ptr, ptr %held, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  call void @_ZSt9terminatev() #18
  unreachable

if.end:                                           ; preds = %entry
  call void @llvm.lifetime.end.p0(ptr nonnull %held) #17
  ret ptr %0
}

declare ptr @__cxa_begin_catch(ptr noundef) local_unnamed_addr

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #2

declare void @_ZSt17current_exceptionv(ptr noundef) local_unnamed_addr

declare void @__cxa_end_catch() local_unnamed_addr

; Function Attrs: cold nofree noreturn nounwind
declare void @_ZSt9terminatev() local_unnamed_addr #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #2

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write) uwtable
define void @ffgrad.eh.prepare(ptr noundef writeonly captures(none) initializes((-112, 0)) %p, ptr noundef %type) #4 {
entry:
  %add.ptr.i = getelementptr inbounds i8, ptr %p, i64 -112
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(112) %add.ptr.i, i8 0, i64 112, i1 false)
  store ptr %type, ptr %add.ptr.i, align 8
  %exception_class = getelementptr inbounds i8, ptr %p, i64 -32
  store i64 7378698780451030344, ptr %exception_class, align 8
  ret void
}

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #5

; Function Attrs: mustprogress uwtable
define noundef i32 @ffgrad.eh.match(ptr noundef %p, ptr noundef %wanted, i32 noundef %id, i32 noundef %before) #0 {
entry:
  %thrown = alloca ptr, align 8
  %tobool.not = icmp eq i32 %before, 0
  br i1 %tobool.not, label %if.end, label %return

if.end:                                           ; preds = %entry
  %add.ptr.i = getelementptr inbounds i8, ptr %p, i64 -112
  call void @llvm.lifetime.start.p0(ptr nonnull %thrown) #17
  store ptr %p, ptr %thrown, align 8
  %0 = load ptr, ptr %add.ptr.i, align 8
  %1 = load ptr, ptr %0, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %1, i64 16
  %2 = load ptr, ptr %arrayidx, align 8
  %call2 = tail call noundef zeroext i1 %2(ptr noundef nonnull %0)
  br i1 %call2, label %if.then3, label %if.end4

if.then3:                                         ; preds = %if.end
  %3 = load ptr, ptr %p, align 8
  store ptr %3, ptr %thrown, align 8
  br label %if.end4

if.end4:                                          ; preds = %if.then3, %if.end
  %tobool5.not = icmp eq ptr %wanted, null
  br i1 %tobool5.not, label %if.end11, label %if.then6

if.then6:                                         ; preds = %if.end4
  %4 = load ptr, ptr %wanted, align 8
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %4, i64 32
  %5 = load ptr, ptr %arrayidx7, align 8
  %call8 = call noundef zeroext i1 %5(ptr noundef nonnull %wanted, ptr noundef nonnull %0, ptr noundef nonnull %thrown, i32 noundef 1)
  br i1 %call8, label %if.end11, label %cleanup12

if.end11:                                         ; preds = %if.then6, %if.end4
  %6 = load ptr, ptr %thrown, align 8
  %adjusted = getelementptr inbounds i8, ptr %p, i64 -40
  store ptr %6, ptr %adjusted, align 8
  br label %cleanup12

cleanup12:                                        ; preds = %if.then6, %if.end11
  %retval.1 = phi i32 [ %id, %if.end11 ], [ 0, %if.then6 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %thrown) #17
  br label %return

return:                                           ; preds = %entry, %cleanup12
  %retval.2 = phi i32 [ %retval.1, %cleanup12 ], [ %before, %entry ]
  ret i32 %retval.2
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable
define ptr @ffgrad.eh.object(ptr noundef readonly captures(none) %p) #6 {
entry:
  %adjusted = getelementptr inbounds i8, ptr %p, i64 -40
  %0 = load ptr, ptr %adjusted, align 8
  ret ptr %0
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable
define ptr @ffgrad.eh.begin(ptr noundef %p) #7 {
entry:
  %add.ptr.i = getelementptr inbounds i8, ptr %p, i64 -112
  %count1 = getelementptr inbounds i8, ptr %p, i64 -72
  %0 = load i32, ptr %count1, align 8
  %cond = tail call i32 @llvm.abs.i32(i32 %0, i1 true)
  %add = add nuw nsw i32 %cond, 1
  store i32 %add, ptr %count1, align 8
  %1 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @ffgrad.eh.current)
  %2 = load ptr, ptr %1, align 8
  %cmp5.not = icmp eq ptr %2, %add.ptr.i
  br i1 %cmp5.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %next = getelementptr inbounds i8, ptr %p, i64 -80
  store ptr %2, ptr %next, align 8
  store ptr %add.ptr.i, ptr %1, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %adjusted = getelementptr inbounds i8, ptr %p, i64 -40
  %3 = load ptr, ptr %adjusted, align 8
  ret ptr %3
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #8

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none) uwtable
define noundef i64 @ffgrad.eh.number(ptr noundef %p) #9 {
entry:
  %0 = ptrtoint ptr %p to i64
  ret i64 %0
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable
define i64 @ffgrad.eh.offset(ptr noundef %p) #6 {
entry:
  %adjusted = getelementptr inbounds i8, ptr %p, i64 -40
  %0 = load ptr, ptr %adjusted, align 8
  %sub.ptr.lhs.cast = ptrtoint ptr %0 to i64
  %sub.ptr.rhs.cast = ptrtoint ptr %p to i64
  %sub.ptr.sub = sub i64 %sub.ptr.lhs.cast, %sub.ptr.rhs.cast
  ret i64 %sub.ptr.sub
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none) uwtable
define noundef zeroext i1 @ffgrad.eh.is(ptr noundef readnone captures(address) %p, ptr noundef readnone captures(address) %own) #9 {
entry:
  %cmp = icmp eq ptr %p, %own
  ret i1 %cmp
}

; Function Attrs: mustprogress uwtable
define void @ffgrad.eh.same(ptr noundef readnone captures(address) %p, ptr noundef readnone captures(address) %own) #0 {
entry:
  %cmp.not = icmp eq ptr %p, %own
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  tail call void @_ZSt21__throw_runtime_errorPKc(ptr noundef nonnull @.str) #19
  unreachable

if.end:                                           ; preds = %entry
  ret void
}

; Function Attrs: noreturn
declare void @_ZSt21__throw_runtime_errorPKc(ptr noundef) local_unnamed_addr #10

; Function Attrs: mustprogress nounwind uwtable
define void @ffgrad.eh.end() #11 {
entry:
  %held = alloca ptr, align 8
  %0 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @ffgrad.eh.current)
  %1 = load ptr, ptr %0, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  %count = getelementptr inbounds nuw i8, ptr %1, i64 40
  %2 = load i32, ptr %count, align 8
  %cmp = icmp slt i32 %2, 0
  br i1 %cmp, label %if.then1, label %if.end6

if.then1:                                         ; preds = %if.end
  %inc = add nsw i32 %2, 1
  store i32 %inc, ptr %count, align 8
  %cmp3 = icmp eq i32 %inc, 0
  br i1 %cmp3, label %if.then4, label %cleanup

if.then4:                                         ; preds = %if.then1
  %next = getelementptr inbounds nuw i8, ptr %1, i64 32
  %3 = load ptr, ptr %next, align 8
  store ptr %3, ptr %0, align 8
  br label %cleanup

if.end6:                                          ; preds = %if.end
  %dec = add nsw i32 %2, -1
  store i32 %dec, ptr %count, align 8
  %cmp8 = icmp sgt i32 %2, 1
  br i1 %cmp8, label %cleanup, label %if.end10

if.end10:                                         ; preds = %if.end6
  %next11 = getelementptr inbounds nuw i8, ptr %1, i64 32
  %4 = load ptr, ptr %next11, align 8
  store ptr %4, ptr %0, align 8
  %exception_class = getelementptr inbounds nuw i8, ptr %1, i64 80
  %5 = load i64, ptr %exception_class, align 8
  %cmp12 = icmp eq i64 %5, 7378698780451030344
  br i1 %cmp12, label %cleanup, label %if.end14

if.end14:                                         ; preds = %if.end10
  call void @llvm.lifetime.start.p0(ptr nonnull %held) #17
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %1, i64 112
  store ptr %add.ptr.i, ptr %held, align 8
  call void @_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(ptr noundef nonnull %held) #17
  call void @llvm.lifetime.end.p0(ptr nonnull %held) #17
  br label %cleanup

cleanup:                                          ; preds = %if.end10, %if.end6, %if.then1, %if.then4, %entry, %if.end14
  ret void
}

; Function Attrs: nounwind
declare void @_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(ptr noundef) local_unnamed_addr #12

; Function Attrs: mustprogress nofree nounwind uwtable
define nonnull ptr @ffgrad.eh.rethrown() #13 {
entry:
  %0 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @ffgrad.eh.current)
  %1 = load ptr, ptr %0, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  tail call void @_ZSt9terminatev() #18
  unreachable

if.end:                                           ; preds = %entry
  %count = getelementptr inbounds nuw i8, ptr %1, i64 40
  %2 = load i32, ptr %count, align 8
  %sub = sub nsw i32 0, %2
  store i32 %sub, ptr %count, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %1, i64 112
  ret ptr %add.ptr.i
}

; Function Attrs: mustprogress uwtable
define noundef ptr @ffgrad.eh.what(ptr noundef %e) #0 {
entry:
  %0 = load ptr, ptr %e, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %0, i64 16
  %1 = load ptr, ptr %arrayidx, align 8
  %call = tail call noundef ptr %1(ptr noundef nonnull %e)
  ret ptr %call
}

; Function Attrs: mustprogress noreturn uwtable
define void @ffgrad.eh.leave(ptr noundef %p) #14 {
entry:
  %thrown.i = alloca ptr, align 8
  %p.addr = alloca ptr, align 8
  store ptr %p, ptr %p.addr, align 8
  %0 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @ffgrad.eh.current)
  store ptr null, ptr %0, align 8
  %exception_class = getelementptr inbounds i8, ptr %p, i64 -32
  %1 = load i64, ptr %exception_class, align 8
  %cmp.not = icmp eq i64 %1, 7378698780451030344
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %count = getelementptr inbounds i8, ptr %p, i64 -72
  store i32 0, ptr %count, align 8
  call void @_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(ptr noundef nonnull %p.addr) #19
  unreachable

if.end:                                           ; preds = %entry
  %add.ptr.i = getelementptr inbounds i8, ptr %p, i64 -112
  call void @llvm.lifetime.start.p0(ptr nonnull %thrown.i) #17
  store ptr %p, ptr %thrown.i, align 8
  %2 = load ptr, ptr %add.ptr.i, align 8
  %3 = load ptr, ptr %2, align 8
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %3, i64 16
  %4 = load ptr, ptr %arrayidx.i, align 8
  %call2.i = tail call noundef zeroext i1 %4(ptr noundef nonnull %2)
  br i1 %call2.i, label %if.then3.i, label %if.end4.i

if.then3.i:                                       ; preds = %if.end
  %5 = load ptr, ptr %p, align 8
  store ptr %5, ptr %thrown.i, align 8
  br label %if.end4.i

if.end4.i:                                        ; preds = %if.then3.i, %if.end
  %6 = load ptr, ptr @_ZTISt9exception, align 8
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %6, i64 32
  %7 = load ptr, ptr %arrayidx7.i, align 8
  %call8.i = call noundef zeroext i1 %7(ptr noundef nonnull @_ZTISt9exception, ptr noundef nonnull %2, ptr noundef nonnull %thrown.i, i32 noundef 1)
  br i1 %call8.i, label %if.end11.i, label %if.end4.critedge

if.end11.i:                                       ; preds = %if.end4.i
  %8 = load ptr, ptr %thrown.i, align 8
  %adjusted.i = getelementptr inbounds i8, ptr %p, i64 -40
  store ptr %8, ptr %adjusted.i, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %thrown.i) #17
  %9 = load ptr, ptr %8, align 8
  %arrayidx.i9 = getelementptr inbounds nuw i8, ptr %9, i64 16
  %10 = load ptr, ptr %arrayidx.i9, align 8
  %call.i = call noundef ptr %10(ptr noundef nonnull %8)
  call void @_ZSt21__throw_runtime_errorPKc(ptr noundef %call.i) #19
  unreachable

if.end4.critedge:                                 ; preds = %if.end4.i
  call void @llvm.lifetime.end.p0(ptr nonnull %thrown.i) #17
  %call5 = call ptr @__cxa_allocate_exception(i64 noundef 4) #17
  store i32 0, ptr %call5, align 4
  call void @__cxa_throw(ptr noundef nonnull %call5, ptr noundef nonnull @_ZTIi, ptr noundef null) #19
  unreachable
}

; Function Attrs: noreturn
declare void @_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(ptr noundef) local_unnamed_addr #10

; Function Attrs: nounwind
declare ptr @__cxa_allocate_exception(i64 noundef) local_unnamed_addr #12

; Function Attrs: cold noreturn
declare void @__cxa_throw(ptr noundef, ptr noundef, ptr noundef) local_unnamed_addr #15

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.abs.i32(i32, i1 immarg) #16

attributes #0 = { mustprogress uwtable }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { cold nofree noreturn nounwind }
attributes #4 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write) uwtable }
attributes #5 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #6 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) uwtable }
attributes #7 = { mustprogress nofree norecurse nosync nounwind willreturn memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) uwtable }
attributes #8 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #9 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) uwtable }
attributes #10 = { noreturn }
attributes #11 = { mustprogress nounwind uwtable }
attributes #12 = { nounwind }
attributes #13 = { mustprogress nofree nounwind uwtable }
attributes #14 = { mustprogress noreturn uwtable }
attributes #15 = { cold noreturn }
attributes #16 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #17 = { nounwind }
attributes #18 = { noreturn nounwind }
attributes #19 = { noreturn }
