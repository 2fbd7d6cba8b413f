//! Gives undefined operands of phis a value.
//!
//! ```text
//! int which;                                            // loop-carried, undefined before the first iteration
//! for (i..n) if (most < w[i]) { most = w[i]; which = kind[i]; }
//! ```
//!
//! Enzyme simplifies phis of phis: it ignores undefined operands, and takes `which` for `kind[i]` of the present iteration because that is
//! the only value left. But `which` holds the value of an earlier one, and the derivative would follow another path than the function.
//! Any value may stand for an undefined one; zero keeps the phi.

use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::core::*;

/// Replaces the operands.
pub fn run(module: &Module<'_>) {
    for phi in ir::all_instructions(module).into_iter().filter(|i| i.is(Op::LLVMPHI)) {
        for (at, operand) in (0..).zip(phi.operands()) {
            if is_undefined(operand) {
                // SAFETY: a live phi and the number of one of its operands; a constant of the phi's type.
                unsafe { LLVMSetOperand(phi.0, at, LLVMConstNull(phi.ty())) };
            }
        }
    }
}

/// Whether it is `undef` or `poison`.
fn is_undefined(value: Value) -> bool {
    // SAFETY: a live value.
    unsafe { LLVMIsUndef(value.0) != 0 || LLVMIsPoison(value.0) != 0 }
}
