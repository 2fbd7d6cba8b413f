%tree = type { ptr, ptr, ptr, i64 }

@rates = internal global %tree zeroinitializer, align 8
@_ZTIi = external constant ptr
@_ZTId = external constant ptr
@ffgrad.offset.728775 = external constant i64, !enzyme_inactive !0

define internal ptr @end(ptr %0) {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  ret ptr %2
}

define ptr @find(double %0) {
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @rates, i64 16), align 8
  %3 = call ptr @ffgrad.object(ptr getelementptr inbounds nuw (i8, ptr @rates, i64 8), i32 0)
  br label %4

4:                                                ; preds = %4, %1
  %5 = phi ptr [ %3, %1 ], [ %6, %4 ]
  %6 = phi ptr [ %2, %1 ], [ %8, %4 ]
  %7 = getelementptr inbounds nuw i8, ptr %6, i64 24
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %6, i64 40
  %10 = load double, ptr %9, align 8
  %11 = fcmp olt double %10, %0
  br i1 %11, label %4, label %12

12:                                               ; preds = %4
  %13 = call ptr @ffgrad.object(ptr @rates, i32 0)
  %14 = call ptr @end(ptr %13)
  %15 = icmp eq ptr %5, %14
  %16 = select i1 %15, ptr null, ptr %5
  ret ptr %16
}

define ptr @name(i1 %0) {
  %2 = call ptr @ffgrad.object(ptr @_ZTIi, i32 0)
  %3 = call ptr @ffgrad.object(ptr @_ZTId, i32 0)
  %4 = select i1 %0, ptr %2, ptr %3
  %5 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %6 = load ptr, ptr %5, align 8
  %7 = call ptr @ffgrad.object(ptr getelementptr inbounds nuw (i8, ptr @_ZTIi, i64 8), i32 0)
  %8 = load ptr, ptr %7, align 8
  %9 = icmp eq ptr %6, %8
  %10 = select i1 %9, ptr %6, ptr null
  ret ptr %10
}

; Function Attrs: nofree noinline nosync nounwind optnone willreturn memory(none)
define internal ptr @ffgrad.object(ptr %0, i32 %1) #0 {
  %3 = load i64, ptr @ffgrad.offset.728775, align 4
  %4 = zext i32 %1 to i64
  %5 = mul i64 %3, %4
  %6 = getelementptr i8, ptr %0, i64 %5
  ret ptr %6
}

attributes #0 = { nofree noinline nosync nounwind optnone willreturn memory(none) "enzyme_ta_norecur" }

!0 = !{}
