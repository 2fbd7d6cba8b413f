//! Lets Enzyme erase a node of `std::map` and `std::set` from the shadow too.
//!
//! Both are red-black trees, whose nodes the C++ library links. Enzyme knows the function that inserts a node, and calls it once more for the
//! shadow of the tree; so the two trees have one shape. It does not know the function that erases one. So for Enzyme erasing is inserting below
//! no node; after it such a call does what it is asked for:
//!
//! ```text
//! node *erase(node *one, node *header)   ->   insert(false, one, null, header), one
//! ```

use crate::ir::{self, Value};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// libstdc++'s `_Rb_tree_insert_and_rebalance(left, node, parent, header)`.
const INSERT: &str = "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_";

/// libstdc++'s `_Rb_tree_rebalance_for_erase(node, header)`. It returns the node.
const ERASE: &str = "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_";

/// Before Enzyme.
pub fn run(module: &Module<'_>) {
    let erasures = ir::all_instructions(module).into_iter().filter(|i| i.callee().is_some_and(|name| name == ERASE));
    let erasures: Vec<Value> = erasures.collect();
    if erasures.is_empty() {
        return;
    }
    let context = module.get_context();
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let parameters = [context.bool_type().into(), pointer.into(), pointer.into(), pointer.into()];
    let ty = context.void_type().fn_type(&parameters, false);
    let insert = module.get_function(INSERT).unwrap_or_else(|| module.add_function(INSERT, ty, None));
    let (no, none) = (context.bool_type().const_zero().as_value_ref(), pointer.const_null().as_value_ref());
    for erasure in erasures {
        let (one, header) = (erasure.operand(0), erasure.operand(1));
        call_before(module, erasure, insert.as_value_ref(), &mut [no, one.0, none, header.0]);
        // SAFETY: a live call, whose value is the node.
        unsafe { LLVMReplaceAllUsesWith(erasure.0, one.0) };
        erasure.erase();
    }
}

/// After Enzyme: erases, from the tree and from its shadow.
pub fn undo(module: &Module<'_>) {
    let erases = |i: &Value| i.callee().is_some_and(|name| name == INSERT) && i.operand(2).is_null_or_undefined();
    let calls: Vec<Value> = ir::all_instructions(module).into_iter().filter(erases).collect();
    if calls.is_empty() {
        return;
    }
    let pointer = module.get_context().ptr_type(inkwell::AddressSpace::default());
    let ty = pointer.fn_type(&[pointer.into(), pointer.into()], false);
    let erase = module.get_function(ERASE).unwrap_or_else(|| module.add_function(ERASE, ty, None)).as_value_ref();
    for call in calls {
        call_before(module, call, erase, &mut [call.operand(1).0, call.operand(3).0]);
        call.erase();
    }
}

/// Calls a function before an instruction.
fn call_before(module: &Module<'_>, place: Value, callee: LLVMValueRef, arguments: &mut [LLVMValueRef]) {
    // SAFETY: a live instruction of the module, and a function of it with these parameters.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, place.0);
        let ty = LLVMGlobalGetValueType(callee);
        LLVMBuildCall2(builder, ty, callee, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr());
        LLVMDisposeBuilder(builder);
    }
}
