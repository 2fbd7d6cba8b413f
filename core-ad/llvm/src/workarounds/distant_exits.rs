//! Leads exits from the middle of a long loop body through the loop's latch: Enzyme would follow every path from such an exit to the header.
//!
//! ```text
//! for (k = 0; k < n; k++) {
//!   if (s > 50) break;
//!   if (x[0] < s) s = sin(s); else s = exp(s);      // fifteen such lines: no derivative after 100 s
//! }
//! ```
//!
//! `CacheUtility::getContext` asks of each block that leaves a loop whether the loop's header can be reached from it. Its search is breadth-first
//! and does not remember the blocks that it has been at, so it takes one step for each path that is no longer than the shortest one to the header:
//! exponentially many in the number of branches. A leaving block that is next to the header is found at once. So the edge goes to a new
//! latch, with a number that tells it whether to leave:
//!
//! ```text
//! early:  br i1 %enough, label %exit, label %body          early:  br i1 %enough, label %latch, label %body
//! last:   br i1 %more, label %header, label %exit          last:   br i1 %more, label %latch, label %exit
//!                                                          latch:  %leaves = phi i64 [ %one, %early ], [ %zero, %last ]
//!                                                                  br (%leaves == 0), label %header, label %exit
//! ```
//!
//! Both numbers are opaque, or LLVM, inside Enzyme, would thread the edge back. Exits that Enzyme finds soon enough stay.

use crate::analysis::cfg::{Cfg, NaturalLoop};
use crate::ir::edges::{redirect, replace_incoming};
use crate::ir::markers::load_opaque_zero;
use crate::ir::{self, Block, Op, Result, Value, crash_trace};
use crate::llvm::pipelines;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;
use std::collections::{BTreeMap, HashSet};

/// First number of the opaque zeros created here.
const NUMBER_BASE: u64 = 1 << 30;

/// Steps of Enzyme's search that are too many: about 5 ms, several times for each function.
const MAX_STEPS: u64 = 50_000;

/// Functions with more blocks than this are skipped. What is done for each exit takes linear time.
const MAX_BLOCKS: usize = 20_000;

/// New latches in one function at most.
const MAX_LATCHES: usize = 300;

/// Leads such exits through the latch.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    let mut done = NUMBER_BASE;
    for function in ir::functions(module) {
        if find_distant(function).is_none() {
            continue;
        }
        crash_trace::step("closing loops");
        // So that what is used behind a loop passes a phi there.
        pipelines::on_function(function, c"lcssa")?;
        for _ in 0..MAX_LATCHES {
            let Some(exit) = find_distant(function) else { break };
            lead_through_latch(module, function, &exit, done);
            done += 1;
        }
    }
    Ok(())
}

/// The edges by which a loop is left for one block, from blocks that are far from its header.
struct Exit {
    from: Vec<Block>,
    to: Block,
    header: Block,
    latches: Vec<Block>,
}

/// The first such edges of a function.
fn find_distant(function: FunctionValue<'_>) -> Option<Exit> {
    let blocks = ir::blocks(function);
    if blocks.len() < 3 || blocks.len() > MAX_BLOCKS {
        return None;
    }
    let cfg = Cfg::of(&blocks);
    let returns = leading_to_return(&blocks, &cfg);
    let named = |numbers: &[usize]| numbers.iter().map(|n| blocks[*n]).collect();
    for l in cfg.natural_loops(&cfg.dominators()) {
        // A landing pad is reached from its invokes only.
        let is_exit = |to: usize| !l.body[to] && returns[to] && !blocks[to].first_after_phis().is(Op::LLVMLandingPad);
        let mut exits: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for from in (0..cfg.len()).filter(|b| l.body[*b] && is_plain(blocks[*b])) {
            let targets: HashSet<usize> = cfg.successors[from].iter().copied().filter(|to| is_exit(*to)).collect();
            if !targets.is_empty() && is_distant(&cfg, &l, from) {
                targets.into_iter().for_each(|to| exits.entry(to).or_default().push(from));
            }
        }
        if let Some((to, from)) = exits.into_iter().next().filter(|_| l.latches.iter().all(|b| is_plain(blocks[*b]))) {
            let (header, latches) = (blocks[l.header], named(&l.latches));
            return Some(Exit { from: named(&from), to: blocks[to], header, latches });
        }
    }
    None
}

/// Whether the edges from a block can be redirected.
fn is_plain(block: Block) -> bool {
    [Op::LLVMBr, Op::LLVMSwitch, Op::LLVMInvoke].iter().any(|op| block.terminator().is(*op))
}

/// The blocks from which a path leads to the end of the function. Enzyme drops the others.
fn leading_to_return(blocks: &[Block], cfg: &Cfg) -> Vec<bool> {
    let is_end = |b: &usize| blocks[*b].terminator().is(Op::LLVMRet);
    let (mut seen, mut open) = (vec![false; cfg.len()], (0..cfg.len()).filter(is_end).collect::<Vec<_>>());
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut seen[block], true) {
            open.extend(&cfg.predecessors[block]);
        }
    }
    seen
}

/// Whether Enzyme's search takes too many steps from a block to the header: the paths of each length, counted.
fn is_distant(cfg: &Cfg, l: &NaturalLoop, from: usize) -> bool {
    let (mut level, mut steps) = (BTreeMap::from([(from, 1u64)]), 0u64);
    while !level.is_empty() && !level.contains_key(&l.header) {
        steps = level.values().fold(steps, |sum, paths| sum.saturating_add(*paths));
        if steps > MAX_STEPS {
            return true;
        }
        let mut next: BTreeMap<usize, u64> = BTreeMap::new();
        for (block, paths) in level {
            for to in cfg.successors[block].iter().filter(|to| l.body[**to]) {
                let known = next.entry(*to).or_default();
                *known = known.saturating_add(paths);
            }
        }
        level = next;
    }
    false
}

/// Redirects the exit's edges and the loop's back edges to a new latch, which leaves the loop or goes on.
fn lead_through_latch(module: &Module<'_>, function: FunctionValue<'_>, exit: &Exit, number: u64) {
    // SAFETY: live blocks and values of one function; the builder is disposed of at the end.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let word = LLVMInt64TypeInContext(context);
        let zero = load_opaque_zero(module, function, word, number);
        LLVMPositionBuilderBefore(builder, Value(zero).next().0);
        let one = LLVMBuildAdd(builder, zero, LLVMConstInt(word, 1, 0), c"".as_ptr());
        let latch = Block(LLVMInsertBasicBlockInContext(context, exit.header.0, c"".as_ptr()));
        let [back, out] = [edges(&exit.latches, exit.header), edges(&exit.from, exit.to)];
        let targets = [(&back, exit.header), (&out, exit.to)];
        LLVMPositionBuilderAtEnd(builder, latch.0);
        let leaves = LLVMBuildPhi(builder, word, c"".as_ptr());
        for (edges, number) in [(&back, zero), (&out, one)] {
            edges.iter().for_each(|b| LLVMAddIncoming(leaves, &mut { number }, &mut { b.0 }, 1));
        }
        for (i, (edges, to)) in targets.iter().enumerate() {
            for phi in to.phis() {
                LLVMPositionBuilderAtEnd(builder, latch.0);
                let merged = merge(builder, phi, edges, targets[1 - i].0);
                replace_incoming(builder, phi, edges, (merged, latch));
            }
        }
        LLVMPositionBuilderAtEnd(builder, latch.0);
        let stays = LLVMBuildICmp(builder, LLVMIntEQ, leaves, LLVMConstInt(word, 0, 0), c"".as_ptr());
        for (edges, to) in targets {
            edges.iter().for_each(|from| redirect(*from, to, latch));
        }
        LLVMBuildCondBr(builder, stays, exit.header.0, exit.to.0);
        LLVMDisposeBuilder(builder);
    }
}

/// Each block as often as it has edges to another: a phi has a value for each.
fn edges(from: &[Block], to: Block) -> Vec<Block> {
    from.iter().flat_map(|block| block.successors().into_iter().filter(|next| *next == to).map(|_| *block)).collect()
}

/// A phi of what another phi gets from some blocks; 0 from the others.
///
/// # Safety
///
/// The builder is positioned at the end of a block of phis that has these predecessors.
unsafe fn merge(builder: LLVMBuilderRef, phi: Value, ours: &[Block], others: &[Block]) -> Value {
    // SAFETY: by this function's promise.
    unsafe {
        let new = LLVMBuildPhi(builder, phi.ty(), c"".as_ptr());
        for (value, from) in phi.incoming().into_iter().filter(|(_, from)| ours.contains(from)) {
            LLVMAddIncoming(new, &mut { value.0 }, &mut { from.0 }, 1);
        }
        let nothing = LLVMConstNull(phi.ty());
        others.iter().for_each(|from| LLVMAddIncoming(new, &mut { nothing }, &mut { from.0 }, 1));
        Value(new).set_flags(phi.flags().unwrap_or(0));
        Value(new)
    }
}
