; The release that calls itself through a dispatcher is erased. One that writes a number stays, one that marks nodes, and a call from outside.
target triple = "x86_64-unknown-linux-gnu"

declare void @_ZdlPv(ptr)

define void @release(ptr %this) {
  %owned = load ptr, ptr %this
  %count = load i32, ptr %owned
  %left = sub i32 %count, 1
  store i32 %left, ptr %owned
  %last = icmp eq i32 %left, 0
  br i1 %last, label %dispose, label %done

dispose:
  call void @dispatch(ptr %owned)
  call void @_ZdlPv(ptr %owned)
  br label %done

done:
  ret void
}

define void @dispatch(ptr %this) {
  call void @release(ptr %this)
  ret void
}

define void @logs(ptr %this, i32 %depth) {
  store double 1.0, ptr %this
  %deeper = icmp sgt i32 %depth, 0
  br i1 %deeper, label %again, label %done

again:
  %less = sub i32 %depth, 1
  call void @logs(ptr %this, i32 %less)
  br label %done

done:
  ret void
}

define void @marks(ptr %seen, i32 %node) {
  %place = getelementptr i32, ptr %seen, i32 %node
  store i32 0, ptr %place
  %more = icmp sgt i32 %node, 0
  br i1 %more, label %again, label %done

again:
  %next = sub i32 %node, 1
  call void @marks(ptr %seen, i32 %next)
  br label %done

done:
  ret void
}

define void @run(ptr %this) {
  call void @dispatch(ptr %this)
  call void @logs(ptr %this, i32 3)
  call void @marks(ptr %this, i32 3)
  ret void
}
