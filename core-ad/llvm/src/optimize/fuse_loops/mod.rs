//! Fuses two adjacent loops of the adjoint into one, and drops the memory between them.
//!
//! A time stepper that writes its new state to a second array and copies it back has the adjoint
//!
//! ```text
//! for i: dnext[i] += du[i]; du[i] = 0                                       // of the copy
//! for i: d = dnext[i]; dnext[i] = 0; du[i-1] += a d + ..;                   // of the step, as `scatter-to-gather` leaves it
//! ```
//!
//! Both loops run over one range, and no iteration of the first touches what an earlier one of the second has touched:
//! they can be one loop ([`legal`]). In it the second array is written and read in one place, which takes the memory out of
//! between ([`forward`]), and what `du` held in a cell is known where the cell is touched last ([`settle`]). Left is a
//! loop that reads `du[i]` and writes `du[i-1]`. `dnext` is then zero whenever it is read, see `zero_memory.rs`.
//!
//! Fusing changes no result; `settle` adds in another order, where the flags allow it.

mod forward;
mod legal;
mod settle;

use crate::analysis::counted_loop::{Facts, Place};
use crate::analysis::inner_loop::Loop;
use crate::analysis::memory_objects::Objects;
use crate::ir::{self, Block, Op, Result, Value};
use crate::llvm::codegen;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;

/// Fuses what can be fused in every function.
pub fn run(module: &Module<'_>) -> Result<()> {
    let layout = codegen::target_machine("generic")?.get_target_data();
    for function in ir::functions(module) {
        while let Some(fused) = fuse_one(function, &layout) {
            let Some(one) = Loop::of(fused) else { continue };
            let facts = Facts::at(one.before);
            let context = Context { objects: &Objects::of(function), facts: &facts, layout: &layout };
            forward::run(&one, &context);
            let context = Context { objects: &Objects::of(function), facts: &facts, layout: &layout };
            settle::run(&one, &context);
        }
    }
    Ok(())
}

/// What is known of the function of a loop.
struct Context<'a> {
    objects: &'a Objects,
    facts: &'a Facts,
    layout: &'a TargetData,
}

impl Context<'_> {
    fn place(&self, pointer: Value, one: &Loop) -> Option<Place> {
        Place::of(pointer, one, self.facts, self.layout)
    }

    /// The one object that a pointer leads into, whose address nobody else has.
    fn object(&self, pointer: Value) -> Option<usize> {
        match self.objects.underlying(pointer) {
            &[object] if !self.objects.get(object).escapes => Some(object),
            _ => None,
        }
    }
}

/// A load or a store: its pointer, and the type of what it reads or writes.
fn access(i: Value) -> Option<(Value, LLVMTypeRef)> {
    match i.op()? {
        Op::LLVMLoad => Some((i.operand(0), i.ty())),
        Op::LLVMStore => Some((i.operand(1), i.operand(0).ty())),
        _ => None,
    }
}

/// Fuses the first two loops that can be; returns the loop.
fn fuse_one(function: FunctionValue<'_>, layout: &TargetData) -> Option<Block> {
    let loops: Vec<Loop> = ir::blocks(function).into_iter().filter_map(Loop::of).collect();
    let follows = |first: &Loop, second: &Loop| first.after == second.before && is_empty(first.after);
    let pairs: Vec<(&Loop, &Loop)> =
        loops.iter().flat_map(|a| loops.iter().map(move |b| (a, b))).filter(|(a, b)| follows(a, b)).collect();
    if pairs.is_empty() {
        return None;
    }
    let objects = Objects::of(function);
    let (first, second) = pairs.into_iter().find(|(first, second)| {
        let facts = Facts::at(first.before);
        legal::can_fuse(first, second, &Context { objects: &objects, facts: &facts, layout })
    })?;
    merge(first, second);
    Some(first.block)
}

/// Whether a block only leads to the next.
fn is_empty(block: Block) -> bool {
    block.instructions().len() == 1 && block.successors().len() == 1
}

/// Makes the second loop part of the first.
fn merge(first: &Loop, second: &Loop) {
    let (into, from) = (first.block, second.block);
    // SAFETY: all handles are live until they are erased, and every value moved is defined where it now stands: `legal` has
    // seen that the second loop uses nothing of the first, and nothing stands between them.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(into.terminator().operand(0).ty()));
        for phi in from.phis() {
            LLVMPositionBuilderBefore(builder, into.instructions()[0].0);
            let moved = LLVMBuildPhi(builder, phi.ty(), c"".as_ptr());
            for (value, edge) in phi.incoming() {
                let edge = if edge == from { into } else { first.before };
                LLVMAddIncoming(moved, [value.0].as_mut_ptr(), [edge.0].as_mut_ptr(), 1);
            }
            LLVMReplaceAllUsesWith(phi.0, moved);
            phi.erase();
        }
        let (end, old_end) = (into.terminator(), from.terminator());
        for instruction in from.instructions().into_iter().filter(|i| *i != old_end) {
            LLVMInstructionRemoveFromParent(instruction.0);
            LLVMPositionBuilderBefore(builder, end.0);
            LLVMInsertIntoBuilder(builder, instruction.0);
        }
        LLVMDisposeBuilder(builder);
        for phi in second.after.phis() {
            LLVMReplaceAllUsesWith(phi.0, phi.operand(0).0);
            phi.erase();
        }
        let exit = into.successors().iter().position(|b| *b == first.after).unwrap_or_default();
        LLVMSetSuccessor(end.0, exit as u32, second.after.0);
        old_end.erase();
        first.after.terminator().erase();
        LLVMDeleteBasicBlock(from.0);
        LLVMDeleteBasicBlock(first.after.0);
    }
}
