//! Blocks that are reached from three others.
//!
//! ```text
//! for (i) { if (skip) continue;  for (j) ...  if (enough) break; }
//! ```
//!
//! What comes behind is reached where the loop runs no turn, where it ends and where it is left. For the reverse sweep the engine has to
//! know which it was. Of three ways it takes the condition of a first branch, which tells one from the other two, and that of a second,
//! which tells those. It does not see that the second branch may not have been reached at all, as after `continue` in the last turn:
//! what it takes for its condition then is a number from nowhere (`tests/torture/found/p71066.c`: adjoints of a turn that never was,
//! a crash). Two ways it tells apart by branches that are always reached, or keeps which it was. So two of the three are led together.

use crate::analysis::cfg::{Dominators, Graph, MANY};
use crate::ir::edges;
use crate::ir::{self, Block, Op};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::{BTreeMap, BTreeSet};

/// What the numbers of the markers made here begin with.
const FIRST: u64 = 1 << 24;

/// Leads them together. To be called last before the engine, behind `split_switch_edges`.
pub fn split(module: &Module<'_>) {
    let mut done = FIRST;
    for function in ir::functions(module) {
        for (from, to) in bypassed(function) {
            edges::join_all(module, &from, to, done);
            done += 1;
        }
    }
}

/// The blocks in question, each with the two that are to be led together.
fn bypassed(function: FunctionValue<'_>) -> Vec<([Block; 2], Block)> {
    let blocks = ir::blocks(function);
    let is_plain = |b: &Block| b.terminator().is(Op::LLVMBr) || b.terminator().is(Op::LLVMSwitch);
    if blocks.len() > MANY || !blocks.iter().any(|b| b.predecessors().len() > 2) {
        return Vec::new();
    }
    let graph = Graph::of(&blocks);
    let dominators = graph.dominators();
    let pair = |to: usize| {
        let (a, b) = Ways::to(&graph, &dominators, to)?.mistaken()?;
        let from = [blocks[a], blocks[b]];
        from.iter().all(is_plain).then_some((from, blocks[to]))
    };
    (0..blocks.len()).filter_map(pair).collect()
}

/// The ways to a block that three others lead to, as the engine sees them.
struct Ways<'a> {
    graph: &'a Graph,
    dominators: &'a Dominators,
    to: usize,
    /// The three.
    from: Vec<usize>,
    /// For each edge on the way those of the three that it may lead to, one bit each.
    leads: BTreeMap<(usize, usize), u8>,
}

impl<'a> Ways<'a> {
    fn to(graph: &'a Graph, dominators: &'a Dominators, to: usize) -> Option<Ways<'a>> {
        let once: BTreeSet<usize> = graph.predecessors[to].iter().copied().collect();
        let is_forward = |p: &usize| dominators.is_reached(*p) && !dominators.dominates(to, *p);
        let from: Vec<usize> = once.into_iter().filter(is_forward).collect();
        if from.len() != 3 {
            return None;
        }
        let mut ways = Ways { graph, dominators, to, from, leads: BTreeMap::new() };
        ways.follow();
        Some(ways)
    }

    /// Back from the block, but not past blocks that are always reached, nor around loops.
    fn follow(&mut self) {
        let mut open: Vec<((usize, usize), u8)> = (0..3).map(|i| ((self.from[i], self.to), 1 << i)).collect();
        while let Some((edge, way)) = open.pop() {
            let known = self.leads.entry(edge).or_default();
            if *known & way != 0 {
                continue;
            }
            *known |= way;
            let block = edge.0;
            if self.dominators.dominates(block, self.to) {
                continue;
            }
            let before = self.graph.predecessors[block].iter().filter(|p| !self.dominators.dominates(block, **p));
            open.extend(before.map(|&p| ((p, block), way)));
        }
    }

    /// The two that would be told apart by a branch that may not have been reached.
    fn mistaken(&self) -> Option<(usize, usize)> {
        let sources: BTreeSet<usize> = self.leads.keys().map(|edge| edge.0).collect();
        let splits = |block: &usize| self.sides(*block).map(|sides| (*block, sides));
        let first = sources.iter().filter(|block| self.dominators.dominates(**block, self.to)).filter_map(splits);
        for (block, sides) in first.filter(|(_, sides)| sides[0].1 ^ sides[1].1 == 0b111) {
            let Some(&(start, both)) = sides.iter().find(|side| side.1.count_ones() == 2) else { continue };
            let is_second = |other: &usize| {
                *other != block && self.sides(*other).is_some_and(|s| s[0].1 ^ s[1].1 == both && s[0].1 & both != both)
            };
            if sources.iter().filter(|other| is_second(other)).any(|second| self.gets_around(start, *second)) {
                let two: Vec<usize> = (0..3).filter(|i| both >> i & 1 == 1).map(|i| self.from[i]).collect();
                return Some((two[0], two[1]));
            }
        }
        None
    }

    /// Where the two sides of a branch lead.
    fn sides(&self, block: usize) -> Option<[(usize, u8); 2]> {
        let &[a, b] = self.graph.successors[block].as_slice() else { return None };
        let side = |next: usize| (next, self.leads.get(&(block, next)).copied().unwrap_or(0));
        let sides = [side(a), side(b)];
        (sides[0].1 != 0 && sides[1].1 != 0 && sides[0].1 & sides[1].1 == 0).then_some(sides)
    }

    /// Whether a way leads from `start` to the block without passing `second`.
    fn gets_around(&self, start: usize, second: usize) -> bool {
        start == self.to || start != second && self.graph.reached_from(start, |b| b != second)[self.to]
    }
}
