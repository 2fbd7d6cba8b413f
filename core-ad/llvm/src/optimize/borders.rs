//! Takes the cases at the borders out of the loops of stencils.
//!
//! ```text
//! for c:  north = r > 0 ? t[here - cols] : t[here];  west = c > 0 ? t[here - 1] : t[here]
//! ```
//!
//! LLVM vectorises such a loop, with masks. Its derivative, which adds to the neighbours on a condition, it does not. So the first and the last
//! iteration are peeled off where that decides a condition of the innermost loop, and where a condition holds for all of the loop, or for
//! none of it, one load takes the place of two:
//!
//! ```text
//! north = *(&t[here] + (r > 0 ? -cols : 0))
//! ```
//!
//! The other cell is loaded in any case. So nothing is read that was not.

mod last;

use crate::analysis::affine::{self, Linear};
use crate::analysis::cfg::LoopNest;
use crate::ir::{self, Block, Op, Result, Value};
use crate::llvm::pipelines;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// LLVM peels first iterations.
const PEEL_FIRST: &std::ffi::CStr =
    c"loop-simplify,loop-unroll<O3;peeling;no-partial;no-runtime;no-profile-peeling;full-unroll-max=0>,instsimplify,simplifycfg";

const FORM: &std::ffi::CStr = c"loop-simplify,lcssa";
const CLEAN_UP: &std::ffi::CStr = c"instsimplify,simplifycfg";

/// So many loops of a function at most.
const MOST_LOOPS: usize = 32;

/// Rewrites the loops of the functions that are there.
///
/// # Errors
///
/// None but LLVM's.
pub fn run(module: &Module<'_>) -> Result<()> {
    let layout = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    for function in ir::functions(module) {
        if !has_border(function) {
            continue;
        }
        pipelines::on_function(function, PEEL_FIRST)?;
        for _ in 0..MOST_LOOPS {
            pipelines::on_function(function, FORM)?;
            if !last::peel(function) {
                break;
            }
            pipelines::on_function(function, CLEAN_UP)?;
        }
        while let Some(found) = find(function, &layout) {
            found.rewrite();
            pipelines::on_function(function, CLEAN_UP)?;
        }
    }
    Ok(())
}

/// Whether an innermost loop that is not short loads on a condition that compares integers, or from a chosen place.
fn has_border(function: FunctionValue<'_>) -> bool {
    let Some(nest) = LoopNest::of(function) else { return false };
    let chosen = |i: Value| {
        let address = i.operands().into_iter().next().filter(|_| i.is(Op::LLVMLoad));
        address.is_some_and(|a| a.operands().into_iter().skip(1).any(leads_to_select))
    };
    let conditional = |block: &Block| Border::at(*block).is_some() || block.instructions().into_iter().any(chosen);
    let innermost = nest.loops.iter().filter(|l| !nest.loops.iter().any(|other| l.is_around(other)));
    let mut long = innermost.filter(|l| l.latches.iter().all(|latch| !has_constant_bound(nest.blocks[*latch])));
    long.any(|l| nest.blocks.iter().zip(&l.body).any(|(block, inside)| *inside && conditional(block)))
}

/// Whether a loop that ends in this block is one that LLVM unrolls.
fn has_constant_bound(latch: Block) -> bool {
    let condition = latch.terminator().operands().into_iter().next();
    condition.is_some_and(|c| c.is(Op::LLVMICmp) && c.operand(1).constant().is_some())
}

/// Whether an index is chosen.
fn leads_to_select(index: Value) -> bool {
    let step = matches!(index.op(), Some(Op::LLVMAnd | Op::LLVMSExt | Op::LLVMZExt));
    index.is(Op::LLVMSelect) || step && leads_to_select(index.operand(0))
}

fn is_innermost(nest: &LoopNest, block: Block) -> bool {
    let number = nest.cfg.number(block);
    let around: Vec<_> = nest.loops.iter().filter(|l| l.body[number]).collect();
    around.iter().any(|l| !nest.loops.iter().any(|other| l.is_around(other)))
}

/// `cond ? *there : v`, with `v` loaded from near.
struct Border {
    block: Block,
    merge: Block,
    phi: Value,
    there: Value,
    here: Value,
    /// Whether the condition is to hold for `there`.
    is_true: bool,
}

impl Border {
    /// At the end of a block.
    fn at(block: Block) -> Option<Border> {
        let end = block.terminator();
        let [yes, no] = block.successors()[..] else { return None };
        let condition = end.operands().into_iter().next().filter(|c| c.is(Op::LLVMICmp))?;
        // SAFETY: the operands of a comparison.
        let is_integer =
            unsafe { LLVMGetTypeKind(condition.operand(0).ty()) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind };
        let leads = |side: Block, to: Block| side.predecessors() == [block] && side.successors() == [to];
        let (side, merge, is_true) = match (leads(yes, no), leads(no, yes)) {
            (true, false) => (yes, no, true),
            (false, true) => (no, yes, false),
            _ => return None,
        };
        let [phi] = merge.phis()[..] else { return None };
        let taken = |from: Block| phi.incoming().into_iter().find(|(_, b)| *b == from).map(|(v, _)| v);
        let (there, here) = (taken(side)?, taken(block)?);
        let is_load = |v: Value| v.is(Op::LLVMLoad) && !v.is_special() && v.ty() == phi.ty();
        let plain = |i: &Value| {
            *i == there || i.is_terminator() || crate::analysis::iterations::is_plain(i.op().unwrap_or(Op::LLVMCall))
        };
        let fits = is_integer
            && merge.predecessors().len() == 2
            && is_load(there)
            && is_load(here)
            && there.stands_in(side)
            && there.users() == [phi]
            && side.instructions().iter().all(plain);
        fits.then_some(Border { block, merge, phi, there, here, is_true })
    }

    /// The distance of the two cells, where the condition and that stay the same in the innermost loop.
    fn distance(&self, nest: &LoopNest, layout: &TargetData) -> Option<Linear> {
        let number = nest.cfg.number(self.block);
        let around = nest.loops.iter().filter(|l| l.body[number]);
        let inside = around.min_by_key(|l| l.body.iter().filter(|b| **b).count())?;
        let stays = |value: &Value| !value.is_instruction() || !nest.is_in(*value, inside);
        let condition = self.block.terminator().operand(0);
        let written_between = || {
            let all = self.block.instructions();
            let from = all.iter().position(|i| *i == self.here);
            let writes = |i: &Value| match i.op() {
                Some(Op::LLVMLoad | Op::LLVMBr) => false,
                Some(Op::LLVMCall) => !i.only_computes(),
                Some(op) => !crate::analysis::iterations::is_plain(op),
                None => true,
            };
            from.is_none_or(|from| all[from..].iter().any(writes))
        };
        if !stays(&condition) || written_between() {
            return None;
        }
        let (base, there) = affine::address(self.there.operand(0), layout)?;
        let (other, here) = affine::address(self.here.operand(0), layout)?;
        let distance = there.plus(&here, -1);
        // SAFETY: the types of live values.
        let is_wide = |v: &Value| unsafe {
            LLVMGetTypeKind(v.ty()) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(v.ty()) == 64
        };
        (base == other && distance.terms.keys().all(|v| stays(v) && is_wide(v))).then_some(distance)
    }
}

/// One that can be rewritten, with the distance.
struct Found {
    border: Border,
    distance: Linear,
}

fn find(function: FunctionValue<'_>, layout: &TargetData) -> Option<Found> {
    let nest = LoopNest::of(function)?;
    let blocks = nest.blocks.iter().filter(|b| is_innermost(&nest, **b));
    blocks.filter_map(|b| Border::at(*b)).find_map(|border| {
        let distance = border.distance(&nest, layout)?;
        Some(Found { border, distance })
    })
}

impl Found {
    fn rewrite(&self) {
        let Border { block, merge, phi, there, here, is_true } = &self.border;
        let end = block.terminator();
        // SAFETY: live values of one function; what is erased has no use left.
        unsafe {
            let context = LLVMGetTypeContext(there.ty());
            let word = LLVMInt64TypeInContext(context);
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(builder, end.0);
            let mut sum = LLVMConstInt(word, self.distance.constant as u64, 1);
            let mut terms: Vec<(&Value, &i64)> = self.distance.terms.iter().collect();
            terms.sort_by_key(|(value, _)| value.0);
            for (value, factor) in terms {
                let part = LLVMBuildMul(builder, value.0, LLVMConstInt(word, *factor as u64, 1), NONE);
                sum = LLVMBuildAdd(builder, sum, part, NONE);
            }
            let zero = LLVMConstInt(word, 0, 0);
            let (yes, no) = if *is_true { (sum, zero) } else { (zero, sum) };
            let mut step = LLVMBuildSelect(builder, end.operand(0).0, yes, no, c"border".as_ptr());
            let byte = LLVMInt8TypeInContext(context);
            let address = LLVMBuildGEP2(builder, byte, here.operand(0).0, &mut step, 1, NONE);
            let load = LLVMInstructionClone(there.0);
            LLVMSetOperand(load, 0, address);
            LLVMInsertIntoBuilder(builder, load);
            LLVMReplaceAllUsesWith(phi.0, load);
            phi.erase();
            LLVMPositionBuilderBefore(builder, end.0);
            LLVMBuildBr(builder, merge.0);
            LLVMDisposeBuilder(builder);
        }
        end.erase();
    }
}
