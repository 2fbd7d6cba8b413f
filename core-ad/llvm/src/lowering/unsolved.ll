; What a program in the place of a solver reports (unsolved.rs says how): { listening, reports, solver, unknown, step, value }.
%note = type { i32, i32, i64, i64, double, double }

@ffgrad.unsolved.own = internal thread_local global %note zeroinitializer, align 8
@ffgrad.unsolved.others = internal global %note zeroinitializer, align 8

declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull)

; In a thread whose caller listens, the note is the thread's, and the first report is kept. A thread of a team has no such caller: there the
; last report is kept, and the count is never reset.
define void @ffgrad_unsolved(i64 %solver, i64 %unknown, double %step, double %value) noinline cold nounwind {
entry:
  %own = call ptr @llvm.threadlocal.address.p0(ptr @ffgrad.unsolved.own)
  %listening = load i32, ptr %own, align 8
  %is_own = icmp ne i32 %listening, 0
  %note = select i1 %is_own, ptr %own, ptr @ffgrad.unsolved.others
  %reports = getelementptr inbounds %note, ptr %note, i64 0, i32 1
  %before = load atomic i32, ptr %reports monotonic, align 4
  %is_first = icmp eq i32 %before, 0
  %is_shared = xor i1 %is_own, true
  %keep = or i1 %is_first, %is_shared
  br i1 %keep, label %write, label %count

write:
  %solver.at = getelementptr inbounds %note, ptr %note, i64 0, i32 2
  store i64 %solver, ptr %solver.at, align 8
  %unknown.at = getelementptr inbounds %note, ptr %note, i64 0, i32 3
  store i64 %unknown, ptr %unknown.at, align 8
  %step.at = getelementptr inbounds %note, ptr %note, i64 0, i32 4
  store double %step, ptr %step.at, align 8
  %value.at = getelementptr inbounds %note, ptr %note, i64 0, i32 5
  store double %value, ptr %value.at, align 8
  br label %count

count:
  %counted = atomicrmw add ptr %reports, i32 1 release, align 4
  ret void
}

; void *ffgrad_unsolved_note(int32_t of_others)
define ptr @ffgrad_unsolved_note(i32 %of_others) nounwind {
  %own = call ptr @llvm.threadlocal.address.p0(ptr @ffgrad.unsolved.own)
  %is_own = icmp eq i32 %of_others, 0
  %note = select i1 %is_own, ptr %own, ptr @ffgrad.unsolved.others
  ret ptr %note
}
