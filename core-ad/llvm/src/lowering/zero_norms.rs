//! Lengths of a vector of zeros, in the pipeline `guarded`.
//!
//! ```text
//! %r = call double @hypot(double %x, double %y)    becomes   %zero = hidden(%x == 0 and %y == 0)
//!                                                            %a = call double @hypot(double (%zero ? 0.5 : %x), double %y)
//!                                                            %r = select i1 %zero, double 0.0, double %a
//! ```
//!
//! The derivative `x / r` is none at the origin, and Enzyme multiplies it even by an adjoint of zero: a length that only a comparison needs, or that `max` with a
//! small number keeps away from zero, made the whole gradient a NaN. It is 0 there now, as that of a square root: a subgradient of the length.
//! `cabs` of a complex number in two registers is the same function.

use crate::ir::markers::hide;
use crate::ir::{self, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMRealPredicate::LLVMRealOEQ;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;

const LENGTHS: [&str; 3] = ["hypot", "hypotf", "cabs"];

/// A first coordinate with which the length and its derivatives are finite.
const SAFE: f64 = 0.5;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Rewrites the lengths of one function.
pub fn run(module: &Module<'_>, function: FunctionValue<'_>) {
    let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
    let lengths: Vec<Value> = all.filter(|i| is_length(*i)).collect();
    // SAFETY: live calls of the module, in blocks with terminators.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        lengths.into_iter().for_each(|length| keep_from_zero(module, builder, length));
        LLVMDisposeBuilder(builder);
    }
}

fn is_length(i: Value) -> bool {
    let is_named = i.callee().is_some_and(|name| LENGTHS.contains(&name.as_str()));
    is_named && i.is_float() && [0, 1].into_iter().all(|operand| i.operand(operand).ty() == i.ty())
}

/// Gives a length a coordinate that is not zero where both are.
///
/// # Safety
///
/// The call is live, in a block with a terminator, and the builder is of its context.
unsafe fn keep_from_zero(module: &Module<'_>, builder: LLVMBuilderRef, length: Value) {
    let (x, y, ty) = (length.operand(0).0, length.operand(1).0, length.ty());
    // SAFETY: by this function's promise; the operands dominate the call, which stands before the choice.
    unsafe {
        LLVMPositionBuilderBefore(builder, length.0);
        let nothing = LLVMConstReal(ty, 0.0);
        let [x_is_zero, y_is_zero] = [x, y].map(|of| LLVMBuildFCmp(builder, LLVMRealOEQ, of, nothing, NONE));
        let both = LLVMBuildAnd(builder, x_is_zero, y_is_zero, NONE);
        let Some(zero) = hide(module, builder, both) else { return };
        LLVMSetOperand(length.0, 0, LLVMBuildSelect(builder, zero, LLVMConstReal(ty, SAFE), x, NONE));
        LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(length.0));
        let result = LLVMBuildSelect(builder, zero, nothing, length.0, NONE);
        LLVMReplaceAllUsesWith(length.0, result);
        LLVMSetOperand(result, 2, length.0);
    }
}
