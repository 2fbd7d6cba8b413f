//! Lets the derivative of a root be not-a-number where the root is.
//!
//! Enzyme gives sqrt the derivative 0 at 0, and asks `fcmp ueq x, 0`, which holds for a number that is none, too: a simulation that has
//! blown up would have the derivative 0. The same question decides about an exponent of `pow`.
//!
//! Before Enzyme the program's own comparisons of this kind are written as the opposite of `one`. So those that are there
//! afterwards are Enzyme's, and become ordered.

use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::LLVMRealPredicate::{self, LLVMRealOEQ, LLVMRealONE, LLVMRealUEQ};
use llvm_sys::core::*;

/// Names a module in which the comparisons that are there are Enzyme's.
const MARK: &std::ffi::CStr = c"ffgrad.nan-roots";

/// Rewrites the program's own comparisons.
pub fn run(module: &Module<'_>) {
    for compare in compares(module) {
        let opposite = insert(module, compare, LLVMRealONE);
        // SAFETY: live values of the module; the negation stands before the comparison that it replaces.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            LLVMPositionBuilderBefore(builder, compare.0);
            let not = LLVMBuildNot(builder, opposite.0, c"".as_ptr());
            LLVMDisposeBuilder(builder);
            LLVMReplaceAllUsesWith(compare.0, not);
        }
        compare.erase();
    }
    // SAFETY: a live module, and a name with its length.
    unsafe { LLVMGetOrInsertNamedMetadata(module.as_mut_ptr(), MARK.as_ptr(), MARK.count_bytes()) };
}

/// Rewrites Enzyme's, where the pass has run.
pub fn undo(module: &Module<'_>) {
    // SAFETY: as above.
    if unsafe { LLVMGetNamedMetadata(module.as_mut_ptr(), MARK.as_ptr(), MARK.count_bytes()) }.is_null() {
        return;
    }
    for compare in compares(module) {
        let ordered = insert(module, compare, LLVMRealOEQ);
        // SAFETY: both are live and have the same type.
        unsafe { LLVMReplaceAllUsesWith(compare.0, ordered.0) };
        compare.erase();
    }
}

/// Comparisons with zero that hold for what is no number.
fn compares(module: &Module<'_>) -> Vec<Value> {
    let is_zero = |value: Value| value.is_number() && !value.is_instruction() && is_null(value);
    let is_one = |i: &Value| {
        // SAFETY: a comparison of numbers.
        i.is(Op::LLVMFCmp) && unsafe { LLVMGetFCmpPredicate(i.0) } == LLVMRealUEQ && is_zero(i.operand(1))
    };
    ir::all_instructions(module).into_iter().filter(is_one).collect()
}

fn is_null(value: Value) -> bool {
    // SAFETY: a live constant.
    unsafe { LLVMIsNull(value.0) != 0 }
}

/// The comparison with another predicate, before it, with its flags.
fn insert(module: &Module<'_>, compare: Value, predicate: LLVMRealPredicate) -> Value {
    // SAFETY: a live comparison; its operands dominate it.
    let new = unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, compare.0);
        let new = LLVMBuildFCmp(builder, predicate, compare.operand(0).0, compare.operand(1).0, c"".as_ptr());
        LLVMDisposeBuilder(builder);
        Value(new)
    };
    if let Some(flags) = compare.flags() {
        new.set_flags(flags);
    }
    new
}
