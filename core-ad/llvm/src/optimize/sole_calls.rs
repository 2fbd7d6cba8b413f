//! Has a large function inlined where its only call is, outside of loops.
//!
//! LLVM leaves such a call where the body, or a list of many arguments, costs too much. Enzyme then makes an augmented primal of the function, which hands each
//! value that the reverse sweep needs to it in one structure. NRLMSISE-00's had 6,149 members, and the structure's type stood at each of them: 281 MB of text.
//! Inlined, the values stay variables of the caller.

use crate::analysis::cfg::{self, Cfg};
use crate::ir::{self, Block, Op, Result, Value};
use crate::llvm::pipelines;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::LLVMGetBasicBlockParent;

/// Instructions from which on a function is large. LLVM decides about smaller ones; it keeps few of them as calls, and rightly so: one that allocates is known by its result.
const LARGE: usize = 200;

/// Marks the calls. Before inlining, which deletes the functions.
pub fn run(module: &Module<'_>) -> Result<()> {
    // What a rewrite has left behind calls it too.
    pipelines::drop_unused(module)?;
    for function in ir::functions(module).into_iter().filter(|f| may_be_inlined(*f)) {
        if let Some(call) = sole_call(function)
            && !is_repeated(call)
        {
            call.inline_always();
        }
    }
    Ok(())
}

fn may_be_inlined(function: FunctionValue<'_>) -> bool {
    let has =
        |name| function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name)).is_some();
    let is_large = ir::blocks(function).into_iter().flat_map(Block::instructions).nth(LARGE).is_some();
    is_large
        && function.get_linkage() == Linkage::Internal
        && !has("noinline")
        && !has("cold")
        && cfg::returns(function)
}

/// The call that is the only use of a function.
fn sole_call(function: FunctionValue<'_>) -> Option<Value> {
    let function = Value(function.as_value_ref());
    match *function.users() {
        [call] if call.is(Op::LLVMCall) && call.called() == Some(function) => Some(call),
        _ => None,
    }
}

/// Whether a path leads from an instruction back to it.
fn is_repeated(call: Value) -> bool {
    // SAFETY: a live block, whose function is one.
    let caller = unsafe { FunctionValue::new(LLVMGetBasicBlockParent(call.parent().0)) };
    let Some(blocks) = caller.map(ir::blocks) else { return true };
    let cfg = Cfg::of(&blocks);
    let own = cfg.number(call.parent());
    cfg.successors[own].iter().any(|next| cfg.reached_from(*next, |_| true)[own])
}
