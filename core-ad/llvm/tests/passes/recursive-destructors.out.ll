target triple = "x86_64-unknown-linux-gnu"

declare void @_ZdlPv(ptr)

define void @_ZN4TermD2Ev(ptr %this) {
  %owned = load ptr, ptr %this, align 8
  %count = load i32, ptr %owned, align 4
  %left = sub i32 %count, 1
  store i32 %left, ptr %owned, align 4
  %last = icmp eq i32 %left, 0
  br i1 %last, label %dispose, label %done

dispose:                                          ; preds = %0
  call void @_ZdlPv(ptr %owned)
  br label %done

done:                                             ; preds = %dispose, %0
  ret void
}

define void @ffgrad.dispatch.0(ptr %this) {
  ret void
}

define void @logs(ptr %this, i32 %depth) {
  store double 1.000000e+00, ptr %this, align 8
  %deeper = icmp sgt i32 %depth, 0
  br i1 %deeper, label %again, label %done

again:                                            ; preds = %0
  %less = sub i32 %depth, 1
  call void @logs(ptr %this, i32 %less)
  br label %done

done:                                             ; preds = %again, %0
  ret void
}

define void @marks(ptr %seen, i32 %node) {
  %place = getelementptr i32, ptr %seen, i32 %node
  store i32 0, ptr %place, align 4
  %more = icmp sgt i32 %node, 0
  br i1 %more, label %again, label %done

again:                                            ; preds = %0
  %next = sub i32 %node, 1
  call void @marks(ptr %seen, i32 %next)
  br label %done

done:                                             ; preds = %again, %0
  ret void
}

define void @resets(ptr %tree) {
  %child = load ptr, ptr %tree, align 8
  %leaf = icmp eq ptr %child, null
  br i1 %leaf, label %done, label %deeper

deeper:                                           ; preds = %0
  call void @resets(ptr %child)
  %buffer = getelementptr ptr, ptr %tree, i64 1
  %old = load ptr, ptr %buffer, align 8
  call void @_ZdlPv(ptr %old)
  store ptr null, ptr %buffer, align 8
  br label %done

done:                                             ; preds = %deeper, %0
  ret void
}

define void @run(ptr %this) {
  call void @ffgrad.dispatch.0(ptr %this)
  call void @logs(ptr %this, i32 3)
  call void @marks(ptr %this, i32 3)
  call void @resets(ptr %this)
  ret void
}
