; The destructor that calls itself through a dispatcher is erased. A recursion that writes a number stays, one that marks nodes, one that resets a tree, and a call from outside.
target triple = "x86_64-unknown-linux-gnu"

declare void @_ZdlPv(ptr)

define void @_ZN4TermD2Ev(ptr %this) {
  %owned = load ptr, ptr %this
  %count = load i32, ptr %owned
  %left = sub i32 %count, 1
  store i32 %left, ptr %owned
  %last = icmp eq i32 %left, 0
  br i1 %last, label %dispose, label %done

dispose:
  call void @ffgrad.dispatch.0(ptr %owned)
  call void @_ZdlPv(ptr %owned)
  br label %done

done:
  ret void
}

define void @ffgrad.dispatch.0(ptr %this) {
  call void @_ZN4TermD2Ev(ptr %this)
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

define void @resets(ptr %tree) {
  %child = load ptr, ptr %tree
  %leaf = icmp eq ptr %child, null
  br i1 %leaf, label %done, label %deeper

deeper:
  call void @resets(ptr %child)
  %buffer = getelementptr ptr, ptr %tree, i64 1
  %old = load ptr, ptr %buffer
  call void @_ZdlPv(ptr %old)
  store ptr null, ptr %buffer
  br label %done

done:
  ret void
}

define void @run(ptr %this) {
  call void @ffgrad.dispatch.0(ptr %this)
  call void @logs(ptr %this, i32 3)
  call void @marks(ptr %this, i32 3)
  call void @resets(ptr %this)
  ret void
}
