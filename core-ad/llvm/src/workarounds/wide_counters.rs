//! Hides comparisons of integers of more than 64 bits that end a loop: Enzyme crashes on trip counts of that width.
//!
//! ```text
//! for (__int128 i = 0; i < n; i++) s += x[i];              for (auto i : std::views::iota(k, v.size()))
//! ```
//!
//! (The difference of two numbers of the widest integer type has 128 bits, and so has the counter of a copy of such a range.) Enzyme asks scalar
//! evolution for the trip count and extends it to 64 bits (`getContext` in GradientUtils.cpp); LLVM asserts that it is an
//! extension. The smallest IR:
//!
//! ```text
//! loop:   %i = phi i128 [ 0, %entry ], [ %more, %loop ]
//!         %more = add i128 %i, 1
//!         %done = icmp eq i128 %more, %n
//! ```
//!
//! With an operand that is the exclusive or with an opaque zero there is no such trip count, and Enzyme counts the iterations itself.

use crate::analysis::cfg::LoopNest;
use crate::ir::markers::load_opaque_zero;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
use llvm_sys::core::*;

/// The first id of the opaque zeros made here.
const FIRST: u64 = 1 << 30;

/// The widest trip count that Enzyme knows, in bits.
const WIDEST: u32 = 64;

/// Hides such comparisons.
pub fn run(module: &Module<'_>) {
    let mut done = FIRST;
    for function in ir::functions(module) {
        let wide: Vec<Value> =
            ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(is_wide).collect();
        let Some(nest) = (!wide.is_empty()).then(|| LoopNest::of(function)).flatten() else { continue };
        let in_loop = |i: &Value| nest.loops.iter().any(|inside| nest.is_in(*i, inside));
        let found: Vec<Value> = wide.into_iter().filter(in_loop).collect();
        if !found.is_empty() {
            hide(module, function, &found, done);
            done += 1;
        }
    }
}

/// Whether an instruction compares such integers.
fn is_wide(instruction: &Value) -> bool {
    // SAFETY: the width is asked of an integer type only.
    let is_wide = |ty| unsafe { LLVMGetTypeKind(ty) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) > WIDEST };
    instruction.is(Op::LLVMICmp) && is_wide(instruction.operand(0).ty())
}

/// Takes the exclusive or of each left operand with an opaque zero.
fn hide(module: &Module<'_>, function: FunctionValue<'_>, found: &[Value], number: u64) {
    // SAFETY: live values of one function; the entry block dominates all loops.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let zero = load_opaque_zero(module, function, LLVMInt64TypeInContext(context), number);
        for comparison in found {
            LLVMPositionBuilderBefore(builder, comparison.0);
            let left = comparison.operand(0);
            let extended = LLVMBuildZExt(builder, zero, left.ty(), c"".as_ptr());
            LLVMSetOperand(comparison.0, 0, LLVMBuildXor(builder, left.0, extended, c"".as_ptr()));
        }
        LLVMDisposeBuilder(builder);
    }
}
