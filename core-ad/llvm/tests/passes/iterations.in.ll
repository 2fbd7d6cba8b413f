; An iteration gathers into a variable of its own, adds to y and to a sum: it becomes a function, called twice. What an inner loop leaves behind goes through an
; identity function, which stays a call, and so does a function that returns a structure and only computes.
; The second loop multiplies by what it has written, and is left alone.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare void @llvm.lifetime.start.p0(ptr captures(none))
declare void @llvm.lifetime.end.p0(ptr captures(none))
declare double @llvm.fmuladd.f64(double, double, double)
declare void @ffgrad.edge(i32) memory(inaccessiblemem: readwrite)
@ffgrad.offset.134217729 = external constant i64

define internal double @ffgrad.same.1(double %given) noinline nounwind willreturn nofree nosync {
  call void @ffgrad.edge(i32 134217729)
  %zero = load double, ptr @ffgrad.offset.134217729, align 8
  %same = fsub double %given, %zero
  ret double %same
}

define internal { double, double } @turn(double %x) noinline nofree nounwind willreturn memory(none) {
  %square = fmul double %x, %x
  %first = insertvalue { double, double } poison, double %x, 0
  %both = insertvalue { double, double } %first, double %square, 1
  ret { double, double } %both
}

define internal void @ffgrad.wrap(ptr noalias readonly %x, ptr noalias readonly %node, i64 %n, ptr noalias %y, ptr noalias %s, ptr noalias %z) {
entry:
  %local = alloca [4 x double], align 16
  %second = alloca [4 x double], align 16
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %element, label %end

element:
  %e = phi i64 [ 0, %entry ], [ %e.next, %scattered ]
  %sum = phi double [ 0.0, %entry ], [ %sum.next, %scattered ]
  call void @llvm.lifetime.start.p0(ptr %local)
  %first = shl i64 %e, 2
  br label %gather

gather:
  %i = phi i64 [ 0, %element ], [ %i.next, %gather ]
  %at = add i64 %first, %i
  %node.at = getelementptr i32, ptr %node, i64 %at
  %number = load i32, ptr %node.at, align 4
  %wide = sext i32 %number to i64
  %x.at = getelementptr double, ptr %x, i64 %wide
  %value = load double, ptr %x.at, align 8
  %local.at = getelementptr double, ptr %local, i64 %i
  store double %value, ptr %local.at, align 8
  %i.next = add i64 %i, 1
  %i.done = icmp eq i64 %i.next, 4
  br i1 %i.done, label %scatter, label %gather

scatter:
  %j = phi i64 [ 0, %gather ], [ %j.next, %scatter ]
  %part = phi double [ 0.0, %gather ], [ %part.next, %scatter ]
  %a.at = getelementptr double, ptr %local, i64 %j
  %a = load double, ptr %a.at, align 8
  %other = xor i64 %j, 1
  %b.at = getelementptr double, ptr %local, i64 %other
  %b = load double, ptr %b.at, align 8
  %product = fmul double %a, %b
  %part.next = fadd double %part, %product
  %y.at = getelementptr double, ptr %y, i64 %j
  %old = load double, ptr %y.at, align 8
  %new = call double @llvm.fmuladd.f64(double %a, double %b, double %old)
  store double %new, ptr %y.at, align 8
  %j.next = add i64 %j, 1
  %j.done = icmp eq i64 %j.next, 4
  br i1 %j.done, label %scattered, label %scatter

scattered:
  %left = phi double [ %part.next, %scatter ]
  %kept = call double @ffgrad.same.1(double %left)
  %turned = call { double, double } @turn(double %kept)
  %real = extractvalue { double, double } %turned, 0
  %imaginary = extractvalue { double, double } %turned, 1
  %turned.once = fmul double %real, %imaginary
  %sum.next = fadd double %sum, %turned.once
  call void @llvm.lifetime.end.p0(ptr %local)
  %e.next = add i64 %e, 1
  %e.done = icmp eq i64 %e.next, %n
  br i1 %e.done, label %end, label %element

end:
  %total = phi double [ 0.0, %entry ], [ %sum.next, %scattered ]
  store double %total, ptr %s, align 8
  br label %again

again:
  %k = phi i64 [ 0, %end ], [ %k.next, %multiplied ]
  call void @llvm.lifetime.start.p0(ptr %second)
  br label %fill

fill:
  %f = phi i64 [ 0, %again ], [ %f.next, %fill ]
  %f.at = getelementptr double, ptr %x, i64 %f
  %f.value = load double, ptr %f.at, align 8
  %second.at = getelementptr double, ptr %second, i64 %f
  store double %f.value, ptr %second.at, align 8
  %f.next = add i64 %f, 1
  %f.done = icmp eq i64 %f.next, 4
  br i1 %f.done, label %multiply, label %fill

multiply:
  %m = phi i64 [ 0, %fill ], [ %m.next, %multiply ]
  %c.at = getelementptr double, ptr %second, i64 %m
  %c = load double, ptr %c.at, align 8
  %mirror = xor i64 %m, 3
  %d.at = getelementptr double, ptr %second, i64 %mirror
  %d = load double, ptr %d.at, align 8
  %factor = fadd double %c, %d
  %z.at = getelementptr double, ptr %z, i64 %m
  %before = load double, ptr %z.at, align 8
  %scaled = fmul double %before, %factor
  store double %scaled, ptr %z.at, align 8
  %m.next = add i64 %m, 1
  %m.done = icmp eq i64 %m.next, 4
  br i1 %m.done, label %multiplied, label %multiply

multiplied:
  call void @llvm.lifetime.end.p0(ptr %second)
  %k.next = add i64 %k, 1
  %k.done = icmp sge i64 %k.next, %n
  br i1 %k.done, label %out, label %again

out:
  ret void
}
