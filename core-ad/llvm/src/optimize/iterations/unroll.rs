//! Unrolls the loops of an iteration that is small altogether: the eight corners of an element, the three directions, the modes of a matrix.
//!
//! LLVM unrolls them in the function itself, where factors of 1 and -1 and loads from tables of constants go, and small arrays become
//! values. Enzyme's derivative of a loop keeps what it needs in arrays, and its reverse reads and adds to the shadows of local arrays. Of a body without loops it is
//! arithmetic alone. So where each loop of an iteration has a constant length, and all of them unrolled are a few thousand instructions, they are unrolled
//! before Enzyme. Where one has to stay, all stay: what is repeated in several loops that remain is what Enzyme confuses (`workarounds/keep_rolled.rs`).

use crate::analysis::affine;
use crate::analysis::cfg::{LoopNest, NaturalLoop};
use crate::ir::{Op, Result, Value, metadata};
use crate::llvm::pipelines;
use inkwell::values::FunctionValue;
use std::ffi::CStr;

/// Instructions of an unrolled iteration, before it is simplified.
const MOST: u64 = 8192;

/// Iterations of one loop.
const LONGEST: u64 = 64;

const UNROLL: &CStr = c"loop-simplify,lcssa,loop-unroll<O3;no-partial;no-runtime;no-peeling>,simplifycfg,sroa,early-cse,\
                        instcombine<no-verify-fixpoint>,simplifycfg,sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg";

/// Does so in the function of one iteration.
///
/// # Errors
///
/// None but LLVM's.
pub fn run(function: FunctionValue<'_>) -> Result<()> {
    let Some(nest) = LoopNest::of(function).filter(|nest| !nest.loops.is_empty()) else { return Ok(()) };
    let Some(lengths) = nest.loops.iter().map(|l| length(&nest, l)).collect::<Option<Vec<u64>>>() else {
        return Ok(());
    };
    let times = |block: usize| -> u64 {
        let around = nest.loops.iter().zip(&lengths).filter(|(l, _)| l.body[block]);
        around.fold(1_u64, |product, (_, length)| product.saturating_mul(*length))
    };
    let size = |block: usize| times(block).saturating_mul(nest.blocks[block].instructions().len() as u64);
    if (0..nest.blocks.len()).map(size).fold(0, u64::saturating_add) > MOST {
        return Ok(());
    }
    for latch in nest.loops.iter().flat_map(|l| &l.latches) {
        metadata::hint_loop(nest.blocks[*latch].terminator(), "llvm.loop.unroll.full");
    }
    pipelines::on_function(function, UNROLL)
}

/// How often a loop runs that a counter with constant start, step and end decides, at its latch.
fn length(nest: &LoopNest, natural: &NaturalLoop) -> Option<u64> {
    let &[latch] = &natural.latches[..] else { return None };
    let (header, latch) = (nest.blocks[natural.header], nest.blocks[latch]);
    let leads_out = |block: usize| nest.blocks[block].successors().iter().any(|b| !natural.body[nest.cfg.number(*b)]);
    let leaves = |block: usize| natural.body[block] && leads_out(block);
    if (0..nest.blocks.len()).filter(|block| leaves(*block)).any(|block| nest.blocks[block] != latch) {
        return None;
    }
    let condition = latch.terminator().operands().into_iter().next().filter(|c| c.is(Op::LLVMICmp))?;
    let end = condition.operand(1).constant()?;
    let counts = |phi: &Value| {
        let next = phi.incoming().into_iter().find(|(_, from)| *from == latch).map(|(value, _)| value);
        [Some(*phi), next].contains(&Some(condition.operand(0)))
    };
    let counter = header.phis().into_iter().find(counts)?;
    let (start, _) = counter.incoming().into_iter().find(|(_, from)| *from != latch)?;
    let step = affine::step(counter, latch).filter(|step| *step != 0)?;
    let length = end.checked_sub(start.constant()?)?.unsigned_abs().div_ceil(step.unsigned_abs());
    // One more where the counter's old value is compared.
    let length = length.max(1) + u64::from(condition.operand(0) == counter);
    (length <= LONGEST).then_some(length)
}
