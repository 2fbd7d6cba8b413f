//! Loops that may end only inside a loop of theirs.
//!
//! ```text
//! for (i = 20; i >= 0; i--)
//!   for (j = 0; j < 30; j++) { v *= sin(y[j]);  if (i == 0) break; }
//! ```
//!
//! After the last `break` the outer loop ends, too, and nowhere else: LLVM, in the engine, leaves it without a condition of its own. From
//! where the inner loop has run all its turns every way leads back into it, then; the engine takes that for a way that is never taken, and does
//! not note how many turns the inner loop ran: a wrong gradient (`tests/cases/last_break.c`). It looks no further than to the next block with
//! more than two successors, so the end of a loop around a loop with several ways out leads through a switch, whose number, 0, it does not know.

use crate::analysis::cfg::{Graph, NaturalLoop, Nest};
use crate::ir::edges;
use crate::ir::markers::{edge_marker, load_offset};
use crate::ir::{self, Block};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;

/// What the numbers of markers and offsets made here begin with.
const FIRST: u64 = 1 << 25;

/// Branches of a switch. With fewer LLVM makes a condition of it.
const WAYS: u64 = 3;

/// Puts the switches in. To be called last before the engine, behind `three_predecessors`.
pub fn keep_ends(module: &Module<'_>) {
    let mut done = FIRST;
    for function in ir::functions(module) {
        for (end, head) in ends(function) {
            lead_through_switch(module, function, end, head, done);
            done += WAYS + 1;
        }
    }
}

/// The ends of loops around such with several ways out, each with the loop's head.
fn ends(function: FunctionValue<'_>) -> Vec<(Block, Block)> {
    let Some(Nest { blocks, graph, loops }) = Nest::of(function) else { return Vec::new() };
    let inner: Vec<&NaturalLoop> = loops.iter().filter(|l| ways_out(&graph, l) > 1).collect();
    let is_around = |l: &&NaturalLoop| inner.iter().any(|i| l.is_around(i));
    loops.iter().filter(is_around).flat_map(|l| l.ends.iter().map(|end| (blocks[*end], blocks[l.head]))).collect()
}

fn ways_out(graph: &Graph, inside: &NaturalLoop) -> usize {
    let leaves = |block: usize| graph.successors[block].iter().filter(|next| !inside.body[**next]).count();
    (0..graph.len()).filter(|block| inside.body[*block]).map(leaves).sum()
}

/// Leads the edges from one block to another through a switch with a marker in each branch.
fn lead_through_switch(module: &Module<'_>, function: FunctionValue<'_>, from: Block, to: Block, number: u64) {
    let last = edges::join_all(module, &[from], to, number);
    let marker = edge_marker(module).as_value_ref();
    // SAFETY: live blocks of one function; `last` is reached from `from` only, and has no phis that others would have to be in.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let (word, short) = (LLVMInt64TypeInContext(context), LLVMInt32TypeInContext(context));
        let unknown = load_offset(module, function, word, number);
        let builder = LLVMCreateBuilderInContext(context);
        let new = || LLVMInsertBasicBlockInContext(context, last.0, c"".as_ptr());
        let start = new();
        let ways: Vec<_> = (1..=WAYS).map(|i| (i, new())).collect();
        for &(i, way) in &ways {
            LLVMPositionBuilderAtEnd(builder, way);
            let mut argument = LLVMConstInt(short, number + i, 0);
            LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut argument, 1, c"".as_ptr());
            LLVMBuildBr(builder, last.0);
        }
        LLVMPositionBuilderAtEnd(builder, start);
        let (_, otherwise) = ways[0];
        let switch = LLVMBuildSwitch(builder, unknown, otherwise, ways.len() as u32 - 1);
        for &(i, way) in &ways[1..] {
            LLVMAddCase(switch, LLVMConstInt(word, i, 0), way);
        }
        for (i, _) in (0u32..).zip(from.successors()).filter(|(_, s)| *s == last) {
            LLVMSetSuccessor(from.terminator().0, i, start);
        }
        LLVMDisposeBuilder(builder);
    }
}
