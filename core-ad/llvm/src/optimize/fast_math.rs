//! Fast-math flags of the user's operations and of those that Enzyme adds, by the mode of the build.
//!
//! The user's own operations keep their order; in `contract` mode a multiplication and an addition may be fused. The
//! operations that Enzyme adds have no order in any source, so in that mode they may also be reassociated, and the sign of a
//! zero is not kept. Without that the reverse sweep is full of `x + 0.0`, which IEEE arithmetic cannot drop (`-0.0 + 0.0` is
//! `0.0`), and its sums cannot be vectorised. NaN and infinity keep their meaning.
//!
//! The flags themselves distinguish them: every operation is marked `contract` before Enzyme runs; Enzyme copies the flags of
//! what it recomputes and sets none on what it adds.

use crate::analysis::inner_loop::plain_sum;
use crate::ir::{self, Block, CONTRACT, Op, REASSOCIATE};
use core_ad::protocol::Math;
use inkwell::module::Module;

const NO_SIGNED_ZEROS: u32 = 1 << 3;
const RECIPROCAL: u32 = 1 << 4;

/// Flags of the operations that Enzyme adds, in `contract` mode.
pub const DERIVATIVE: u32 = REASSOCIATE | NO_SIGNED_ZEROS | RECIPROCAL | CONTRACT;

/// Before Enzyme: marks the user's operations `contract`.
pub fn mark_contract(module: &Module<'_>) {
    change_flags(module, |flags| flags | CONTRACT);
}

/// After Enzyme, in `contract` mode: lets the operations that it added be reassociated.
///
/// Quotients and their products keep their order: `(d / b) * (a / b)` would become `d * a / (b * b)`, whose square underflows.
pub fn relax_derivative(module: &Module<'_>) {
    for instruction in ir::all_instructions(module) {
        let Some(flags) = instruction.flags().filter(|flags| flags & CONTRACT == 0) else { continue };
        let of_quotient = || instruction.is(Op::LLVMFMul) && instruction.operands().iter().any(|o| o.is(Op::LLVMFDiv));
        let keeps_order = instruction.is(Op::LLVMFDiv) || of_quotient();
        instruction.set_flags(flags | if keeps_order { DERIVATIVE & !REASSOCIATE } else { DERIVATIVE });
    }
}

/// Lets every multiplication be fused with the addition it feeds, unless the mode forbids it.
pub fn allow_fusing(module: &Module<'_>, math: Math) {
    if math != Math::Strict {
        mark_contract(module);
    }
}

/// Lets the plain sums of innermost loops be added up in any order: what the derivative recomputes for itself is
/// no result, and a sum that keeps its order cannot be vectorised. Nothing but the sum itself is touched, so
/// that compensated summation, rounding by a large constant and their like stay what they are.
pub fn reorder_sums(module: &Module<'_>) {
    for block in ir::functions(module).into_iter().flat_map(ir::blocks) {
        for phi in block.phis() {
            if let Some(sum) = plain_sum(block, phi) {
                sum.set_flags(sum.flags().unwrap_or(0) | REASSOCIATE);
            }
        }
    }
}

fn change_flags(module: &Module<'_>, change: impl Fn(u32) -> u32) {
    for instruction in ir::functions(module).into_iter().flat_map(ir::blocks).flat_map(Block::instructions) {
        if let Some(flags) = instruction.flags() {
            instruction.set_flags(change(flags));
        }
    }
}
