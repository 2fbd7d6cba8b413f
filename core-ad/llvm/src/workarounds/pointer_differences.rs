//! Keeps distances between pointers integers.
//!
//! ```text
//! old = end - begin;  ..;  for (p = begin + old; p != begin + size; ++p) *p = 0;
//! ```
//!
//! Inside Enzyme LLVM computes how often such a loop runs, or how many bytes it sets, from all addresses at once: `(begin + end2) - (begin2 + end)`.
//! Enzyme refuses a sum of two addresses ("Illegal updateBinop Analysis"). So a distance that leads to an address comes from a function that LLVM
//! does not look into until Enzyme is done.

use crate::ir::markers::difference;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use std::collections::HashSet;

/// Replaces the subtractions.
pub fn run(module: &Module<'_>) {
    for distance in ir::all_instructions(module).into_iter().filter(|i| is_distance(*i) && leads_to_address(*i)) {
        let function = difference(module).as_value_ref();
        let mut pointers = distance.operands().iter().map(|side| side.operand(0).0).collect::<Vec<_>>();
        // SAFETY: a live subtraction of the module, and a function of it with two pointers as parameters.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            LLVMPositionBuilderBefore(builder, distance.0);
            let ty = LLVMGlobalGetValueType(function);
            let call = LLVMBuildCall2(builder, ty, function, pointers.as_mut_ptr(), 2, c"".as_ptr());
            LLVMDisposeBuilder(builder);
            LLVMReplaceAllUsesWith(distance.0, call);
        }
        distance.erase();
    }
}

/// Whether it subtracts one address from another.
fn is_distance(i: Value) -> bool {
    // SAFETY: a live type of a pointer.
    let is_generic = |v: Value| unsafe { LLVMGetPointerAddressSpace(v.ty()) == 0 };
    let is_address = |v: Value| v.is_instruction() && v.is(Op::LLVMPtrToInt) && is_generic(v.operand(0));
    // SAFETY: a live type.
    let is_word = || unsafe { LLVMGetIntTypeWidth(i.ty()) == 64 };
    i.is(Op::LLVMSub) && i.operands().into_iter().all(is_address) && is_word()
}

/// Whether an address is computed from it.
fn leads_to_address(distance: Value) -> bool {
    const MOST: usize = 64;
    let (mut seen, mut open) = (HashSet::new(), vec![distance]);
    while let Some(value) = open.pop() {
        if !seen.insert(value) || seen.len() > MOST {
            continue;
        }
        for user in value.users() {
            match user.op() {
                Some(Op::LLVMGetElementPtr) => return true,
                Some(
                    Op::LLVMAdd
                    | Op::LLVMSub
                    | Op::LLVMMul
                    | Op::LLVMUDiv
                    | Op::LLVMSDiv
                    | Op::LLVMAnd
                    | Op::LLVMShl
                    | Op::LLVMLShr
                    | Op::LLVMAShr
                    | Op::LLVMPHI
                    | Op::LLVMSelect,
                ) => open.push(user),
                _ => {}
            }
        }
    }
    false
}
