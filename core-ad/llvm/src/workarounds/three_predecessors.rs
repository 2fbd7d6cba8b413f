//! Merges two of the three predecessors of a block, where Enzyme would read an uninitialised branch condition.
//!
//! ```text
//! for (i) { if (skip) continue;  for (j) ...  if (enough) break; }
//! ```
//!
//! The block behind the loops is reached when the loop has no iterations, when it ends and when it is left early. In the
//! reverse sweep Enzyme has to know which edge was taken. For three predecessors it uses the condition of a first branch,
//! which separates one from the other two, and that of a second branch, which separates those. It misses that the
//! second branch may not have been executed, as after `continue` in the last iteration: it then reads an uninitialised
//! condition (`tests/cases/enzyme_bugs/skipped_break_generated.c`: adjoints of an iteration that never ran, a crash). Two predecessors it
//! separates by branches that always execute, or it stores which edge was taken. So two of the three are routed through
//! one new block.

use crate::analysis::cfg::{Cfg, Dominators, MAX_BLOCKS};
use crate::ir::edges;
use crate::ir::{self, Block, Op};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::{BTreeMap, BTreeSet};

/// First number of the markers created here.
const MARKER_BASE: u64 = 1 << 24;

/// Merges two predecessors of each affected block.
pub fn run(module: &Module<'_>) {
    let mut done = MARKER_BASE;
    for function in ir::functions(module) {
        for (from, to) in find_affected(function) {
            edges::merge_edges(module, &from, to, done);
            done += 1;
        }
    }
}

/// The affected blocks, each with the two predecessors to merge.
fn find_affected(function: FunctionValue<'_>) -> Vec<([Block; 2], Block)> {
    let blocks = ir::blocks(function);
    let is_plain = |b: &Block| b.terminator().is(Op::LLVMBr) || b.terminator().is(Op::LLVMSwitch);
    if blocks.len() > MAX_BLOCKS || !blocks.iter().any(|b| b.predecessors().len() > 2) {
        return Vec::new();
    }
    let cfg = Cfg::of(&blocks);
    let dominators = cfg.dominators();
    let pair = |to: usize| {
        let (a, b) = Paths::into_block(&cfg, &dominators, to)?.ambiguous_pair()?;
        let from = [blocks[a], blocks[b]];
        from.iter().all(is_plain).then_some((from, blocks[to]))
    };
    (0..blocks.len()).filter_map(pair).collect()
}

/// The paths to a block with three forward predecessors, as Enzyme traces them.
struct Paths<'a> {
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    to: usize,
    /// The three predecessors.
    from: Vec<usize>,
    /// For each edge on a path, which of the three it may lead to, one bit each.
    leads: BTreeMap<(usize, usize), u8>,
}

impl<'a> Paths<'a> {
    fn into_block(cfg: &'a Cfg, dominators: &'a Dominators, to: usize) -> Option<Paths<'a>> {
        let once: BTreeSet<usize> = cfg.predecessors[to].iter().copied().collect();
        let is_forward = |p: &usize| dominators.is_reached(*p) && !dominators.dominates(to, *p);
        let from: Vec<usize> = once.into_iter().filter(is_forward).collect();
        if from.len() != 3 {
            return None;
        }
        let mut paths = Paths { cfg, dominators, to, from, leads: BTreeMap::new() };
        paths.follow();
        Some(paths)
    }

    /// Traces backwards from the block, but not past its dominators, nor along back edges.
    fn follow(&mut self) {
        let mut open: Vec<((usize, usize), u8)> = (0..3).map(|i| ((self.from[i], self.to), 1 << i)).collect();
        while let Some((edge, bit)) = open.pop() {
            let known = self.leads.entry(edge).or_default();
            if *known & bit != 0 {
                continue;
            }
            *known |= bit;
            let block = edge.0;
            if self.dominators.dominates(block, self.to) {
                continue;
            }
            let before = self.cfg.predecessors[block].iter().filter(|p| !self.dominators.dominates(block, **p));
            open.extend(before.map(|&p| ((p, block), bit)));
        }
    }

    /// The two predecessors that Enzyme would separate by a branch that may not have executed.
    fn ambiguous_pair(&self) -> Option<(usize, usize)> {
        let sources: BTreeSet<usize> = self.leads.keys().map(|edge| edge.0).collect();
        let splits = |block: &usize| self.sides(*block).map(|sides| (*block, sides));
        let first = sources.iter().filter(|block| self.dominators.dominates(**block, self.to)).filter_map(splits);
        for (block, sides) in first.filter(|(_, sides)| sides[0].1 ^ sides[1].1 == 0b111) {
            let Some(&(start, both)) = sides.iter().find(|side| side.1.count_ones() == 2) else { continue };
            let is_second = |other: &usize| {
                *other != block && self.sides(*other).is_some_and(|s| s[0].1 ^ s[1].1 == both && s[0].1 & both != both)
            };
            if sources.iter().filter(|other| is_second(other)).any(|second| self.bypasses(start, *second)) {
                let two: Vec<usize> = (0..3).filter(|i| both >> i & 1 == 1).map(|i| self.from[i]).collect();
                return Some((two[0], two[1]));
            }
        }
        None
    }

    /// Which predecessors the two sides of a branch lead to.
    fn sides(&self, block: usize) -> Option<[(usize, u8); 2]> {
        let &[a, b] = self.cfg.successors[block].as_slice() else { return None };
        let side = |next: usize| (next, self.leads.get(&(block, next)).copied().unwrap_or(0));
        let sides = [side(a), side(b)];
        (sides[0].1 != 0 && sides[1].1 != 0 && sides[0].1 & sides[1].1 == 0).then_some(sides)
    }

    /// Whether a path leads from `start` to the block that bypasses `second`.
    fn bypasses(&self, start: usize, second: usize) -> bool {
        start == self.to || start != second && self.cfg.reached_from(start, |b| b != second)[self.to]
    }
}
