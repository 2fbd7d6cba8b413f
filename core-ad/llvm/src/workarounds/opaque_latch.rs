//! Makes the latch of an outer loop opaque, where the loop can be left only from inside an inner loop.
//!
//! ```text
//! for (i = 20; i >= 0; i--)
//!   for (j = 0; j < 30; j++) { v *= sin(y[j]);  if (i == 0) break; }
//! ```
//!
//! After the last `break` the outer loop ends, too, and nowhere else: LLVM, inside Enzyme, drops the outer loop's own
//! exit condition. Every path from the inner loop's normal exit then leads back into the inner loop; Enzyme takes that exit
//! for unreachable, and does not store the inner trip count: a wrong gradient (`tests/cases/enzyme_bugs/last_break.c`). Its search stops at
//! a block with more than two successors, so the latch of a loop around a loop with several exits branches through a switch on an
//! opaque zero.

use crate::analysis::cfg::{Cfg, LoopNest, NaturalLoop};
use crate::ir::edges;
use crate::ir::markers::{edge_marker, load_opaque_zero};
use crate::ir::{self, Block};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;

/// First number of the markers and opaque zeros created here.
const MARKER_BASE: u64 = 1 << 25;

/// Successors of a switch. LLVM converts a switch with fewer to a branch.
const SWITCH_CASES: u64 = 3;

/// Inserts the switches.
pub fn run(module: &Module<'_>) {
    let mut done = MARKER_BASE;
    for function in ir::functions(module) {
        for (end, header) in latches(function) {
            route_through_switch(module, function, end, header, done);
            done += SWITCH_CASES + 1;
        }
    }
}

/// The latches of loops around a loop with several exits, each with the header.
fn latches(function: FunctionValue<'_>) -> Vec<(Block, Block)> {
    let Some(LoopNest { blocks, cfg, loops }) = LoopNest::of(function) else { return Vec::new() };
    let inner: Vec<&NaturalLoop> = loops.iter().filter(|l| exits(&cfg, l) > 1).collect();
    let is_around = |l: &&NaturalLoop| inner.iter().any(|i| l.is_around(i));
    loops.iter().filter(is_around).flat_map(|l| l.latches.iter().map(|end| (blocks[*end], blocks[l.header]))).collect()
}

fn exits(cfg: &Cfg, inside: &NaturalLoop) -> usize {
    let leaves = |block: usize| cfg.successors[block].iter().filter(|next| !inside.body[**next]).count();
    (0..cfg.len()).filter(|block| inside.body[*block]).map(leaves).sum()
}

/// Routes the edges from one block to another through a switch with a marker in each case.
fn route_through_switch(module: &Module<'_>, function: FunctionValue<'_>, from: Block, to: Block, number: u64) {
    let last = edges::merge_edges(module, &[from], to, number);
    let marker = edge_marker(module).as_value_ref();
    // SAFETY: live blocks of one function; `last` is reached from `from` only, and has no phis that others would have to be in.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let (word, short) = (LLVMInt64TypeInContext(context), LLVMInt32TypeInContext(context));
        let unknown = load_opaque_zero(module, function, word, number);
        let builder = LLVMCreateBuilderInContext(context);
        let new = || LLVMInsertBasicBlockInContext(context, last.0, c"".as_ptr());
        let start = new();
        let cases: Vec<_> = (1..=SWITCH_CASES).map(|i| (i, new())).collect();
        for &(i, case) in &cases {
            LLVMPositionBuilderAtEnd(builder, case);
            let mut argument = LLVMConstInt(short, number + i, 0);
            LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut argument, 1, c"".as_ptr());
            LLVMBuildBr(builder, last.0);
        }
        LLVMPositionBuilderAtEnd(builder, start);
        let (_, otherwise) = cases[0];
        let switch = LLVMBuildSwitch(builder, unknown, otherwise, cases.len() as u32 - 1);
        for &(i, case) in &cases[1..] {
            LLVMAddCase(switch, LLVMConstInt(word, i, 0), case);
        }
        for (i, _) in (0u32..).zip(from.successors()).filter(|(_, s)| *s == last) {
            LLVMSetSuccessor(from.terminator().0, i, start);
        }
        LLVMDisposeBuilder(builder);
    }
}
