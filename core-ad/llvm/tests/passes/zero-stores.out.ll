define void @f(ptr %block, ptr %data, i64 %rows) {
  store ptr %data, ptr %block, align 8, !nontemporal !0
  %row = getelementptr i8, ptr %block, i64 8
  store i64 0, ptr %row, align 4, !nontemporal !0
  %count = getelementptr i8, ptr %block, i64 16
  store i64 %rows, ptr %count, align 4, !nontemporal !0
  %scale = getelementptr i8, ptr %block, i64 24
  store double 0.000000e+00, ptr %scale, align 8
  ret void
}

define void @complex(ptr %this, double %r, double %i) {
  %slot = alloca double, align 8
  store double %i, ptr %slot, align 8, !nontemporal !0
  store double %r, ptr %this, align 8, !nontemporal !0
  %imag = getelementptr i8, ptr %this, i64 8
  %kept = load double, ptr %slot, align 8
  store double %kept, ptr %imag, align 8, !nontemporal !0
  ret void
}

define void @fill(ptr %to, double %x) {
  store double %x, ptr %to, align 8
  ret void
}

!0 = !{i32 1}
