; The header of a tree at file scope comes into a phi, and the tree's address into a function: both are marked. The load of a member is not.
%tree = type { ptr, ptr, ptr, i64 }

@rates = internal global %tree zeroinitializer, align 8

define internal ptr @end(ptr %0) {
  %2 = getelementptr inbounds nuw i8, ptr %0, i64 8
  ret ptr %2
}

define ptr @find(double %0) {
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @rates, i64 16), align 8
  br label %3

3:
  %4 = phi ptr [ getelementptr inbounds nuw (i8, ptr @rates, i64 8), %1 ], [ %5, %3 ]
  %5 = phi ptr [ %2, %1 ], [ %7, %3 ]
  %6 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %7 = load ptr, ptr %6, align 8
  %8 = getelementptr inbounds nuw i8, ptr %5, i64 40
  %9 = load double, ptr %8, align 8
  %10 = fcmp olt double %9, %0
  br i1 %10, label %3, label %11

11:
  %12 = call ptr @end(ptr @rates)
  %13 = icmp eq ptr %4, %12
  %14 = select i1 %13, ptr null, ptr %4
  ret ptr %14
}

; Type information of the C++ library has its name behind the one address that is declared.
@_ZTIi = external constant ptr
@_ZTId = external constant ptr

define ptr @name(i1 %0) {
  %2 = select i1 %0, ptr @_ZTIi, ptr @_ZTId
  %3 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @_ZTIi, i64 8), align 8
  %6 = icmp eq ptr %4, %5
  %7 = select i1 %6, ptr %4, ptr null
  ret ptr %7
}
