; Erasing becomes inserting below no node, for Enzyme, and is erasing again behind it.
target triple = "x86_64-unknown-linux-gnu"

declare ptr @_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(ptr, ptr)

define ptr @erase(ptr %one, ptr %header) {
  %erased = call ptr @_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(ptr %one, ptr %header)
  ret ptr %erased
}
