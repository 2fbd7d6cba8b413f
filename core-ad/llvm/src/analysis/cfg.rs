//! The control-flow graph of a function: reachability, dominators, natural loops.

use crate::ir::{self, Block, Op, Value};
use inkwell::values::FunctionValue;
use std::collections::HashMap;
use std::collections::HashSet;

/// Passes that take more than linear time skip functions with more blocks than this.
pub const MAX_BLOCKS: usize = 2000;

/// The blocks, by number; 0 is the entry block.
pub struct Cfg {
    number: HashMap<Block, usize>,
    pub successors: Vec<Vec<usize>>,
    pub predecessors: Vec<Vec<usize>>,
}

/// The blocks reachable from each block of a part of the function, in at least one step.
pub type Reached = Vec<Vec<bool>>;

/// The blocks with an edge from a block that they dominate: there loops begin, and a phi may have a value of the iteration before. All of a
/// function that is too large to look at.
pub fn headers(blocks: &[Block]) -> HashSet<Block> {
    if blocks.len() > MAX_BLOCKS {
        return blocks.iter().copied().collect();
    }
    let cfg = Cfg::of(blocks);
    let dominators = cfg.dominators();
    let is_header = |block: &&Block| {
        let own = cfg.number(**block);
        cfg.predecessors[own].iter().any(|from| dominators.dominates(own, *from))
    };
    blocks.iter().filter(is_header).copied().collect()
}

/// Whether any path returns to the caller.
pub fn returns(function: FunctionValue<'_>) -> bool {
    ir::blocks(function).into_iter().any(|block| block.terminator().is(Op::LLVMRet))
}

impl Cfg {
    /// The CFG of the blocks of a function.
    pub fn of(blocks: &[Block]) -> Cfg {
        let number: HashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
        let successors = blocks.iter().map(|b| b.successors().iter().map(|s| number[s]).collect());
        Cfg::from_edges(successors.collect(), number)
    }

    fn from_edges(successors: Vec<Vec<usize>>, number: HashMap<Block, usize>) -> Cfg {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (block, next) in successors.iter().enumerate() {
            next.iter().for_each(|&n| predecessors[n].push(block));
        }
        Cfg { number, successors, predecessors }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// The number of a block.
    pub fn number(&self, block: Block) -> usize {
        self.number[&block]
    }

    /// The blocks reachable from each block of the part `inside`, without the edges to `header`.
    pub fn reached(&self, inside: &[bool], header: Option<usize>) -> Reached {
        let open = |next: usize| inside[next] && Some(next) != header;
        (0..inside.len()).map(|b| if inside[b] { self.reached_from(b, open) } else { Vec::new() }).collect()
    }

    /// The blocks reachable from a block in at least one step, through blocks that are `open`.
    pub fn reached_from(&self, start: usize, open: impl Fn(usize) -> bool) -> Vec<bool> {
        let (mut seen, mut waiting) = (vec![false; self.len()], vec![start]);
        while let Some(block) = waiting.pop() {
            for &next in self.successors[block].iter().filter(|next| open(**next)) {
                if !std::mem::replace(&mut seen[next], true) {
                    waiting.push(next);
                }
            }
        }
        seen
    }

    /// The immediate dominator of each block; none for the entry block and for unreachable ones.
    /// (Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm, 2001.)
    pub fn dominators(&self) -> Dominators {
        let order = self.in_reverse_postorder();
        let mut place = vec![usize::MAX; self.len()];
        order.iter().enumerate().for_each(|(i, &block)| place[block] = i);
        let mut above: Vec<Option<usize>> = vec![None; self.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for &block in order.iter().skip(1) {
                let known = |p: &usize| *p == order[0] || above[*p].is_some();
                let mut known_predecessors = self.predecessors[block].iter().copied().filter(known);
                let Some(first) = known_predecessors.next() else { continue };
                let met = known_predecessors.fold(first, |a, b| meet(&above, &place, a, b));
                changed |= above[block].replace(met) != Some(met);
            }
        }
        Dominators { above, reached: place.iter().map(|p| *p != usize::MAX).collect() }
    }

    /// The natural loops: a header, and latches that it dominates.
    pub fn natural_loops(&self, dominators: &Dominators) -> Vec<NaturalLoop> {
        let at = |header: usize| {
            let leads_back = |p: &usize| dominators.dominates(header, *p);
            let latches: Vec<usize> = self.predecessors[header].iter().copied().filter(leads_back).collect();
            (!latches.is_empty()).then(|| NaturalLoop { header, body: self.leading_to(&latches, header), latches })
        };
        (0..self.len()).filter_map(at).collect()
    }

    /// Whether each loop is entered at its header only.
    pub fn is_reducible(&self, dominators: &Dominators) -> bool {
        let order = self.in_reverse_postorder();
        let mut place = vec![usize::MAX; self.len()];
        order.iter().enumerate().for_each(|(i, &block)| place[block] = i);
        let is_entered_so = |from: &usize| {
            let back = |to: &&usize| place[**to] <= place[*from];
            self.successors[*from].iter().filter(back).all(|to| dominators.dominates(*to, *from))
        };
        order.iter().all(is_entered_so)
    }

    /// The body: `header`, and what reaches one of the `latches` without passing it.
    fn leading_to(&self, latches: &[usize], header: usize) -> Vec<bool> {
        let (mut inside, mut waiting) = (vec![false; self.len()], latches.to_vec());
        inside[header] = true;
        while let Some(block) = waiting.pop() {
            if !std::mem::replace(&mut inside[block], true) {
                waiting.extend(&self.predecessors[block]);
            }
        }
        inside
    }

    /// The reachable blocks, each before those that it leads to, back edges aside.
    pub fn in_reverse_postorder(&self) -> Vec<usize> {
        let (mut order, mut seen) = (Vec::new(), vec![false; self.len()]);
        let mut stack = vec![(0, 0)];
        seen[0] = true;
        while let Some((block, next)) = stack.pop() {
            match self.successors[block].get(next) {
                Some(&successor) => {
                    stack.push((block, next + 1));
                    if !std::mem::replace(&mut seen[successor], true) {
                        stack.push((successor, 0));
                    }
                }
                None => order.push(block),
            }
        }
        order.reverse();
        order
    }
}

/// A natural loop.
pub struct NaturalLoop {
    pub header: usize,
    /// The sources of its back edges.
    pub latches: Vec<usize>,
    /// For each block whether it is inside.
    pub body: Vec<bool>,
}

impl NaturalLoop {
    /// Whether this loop contains another.
    pub fn is_around(&self, other: &NaturalLoop) -> bool {
        other.header != self.header && self.body[other.header]
    }
}

/// The blocks of a function, its CFG and its loops.
pub struct LoopNest {
    pub blocks: Vec<Block>,
    pub cfg: Cfg,
    pub loops: Vec<NaturalLoop>,
}

impl LoopNest {
    /// Of a function; `None` where it has more than [`MAX_BLOCKS`] blocks.
    pub fn of(function: FunctionValue<'_>) -> Option<LoopNest> {
        LoopNest::up_to(function, MAX_BLOCKS)
    }

    /// Of a function; `None` where it has more than so many blocks.
    pub fn up_to(function: FunctionValue<'_>, most: usize) -> Option<LoopNest> {
        let blocks = ir::blocks(function);
        if blocks.len() > most {
            return None;
        }
        let cfg = Cfg::of(&blocks);
        let loops = cfg.natural_loops(&cfg.dominators());
        Some(LoopNest { blocks, cfg, loops })
    }

    /// The loop-carried floating-point phis of a loop.
    pub fn carried(&self, by: &NaturalLoop) -> impl Iterator<Item = Value> + use<> {
        self.blocks[by.header].phis().into_iter().filter(|phi| phi.is_float())
    }

    /// The next values of such a phi, one for each latch.
    pub fn next_values(&self, phi: Value, by: &NaturalLoop) -> Vec<Value> {
        let comes_back = |from: Block| by.latches.iter().any(|end| self.blocks[*end] == from);
        phi.incoming().into_iter().filter(|(_, from)| comes_back(*from)).map(|(value, _)| value).collect()
    }

    /// Whether an instruction is in a loop.
    pub fn is_in(&self, value: Value, inside: &NaturalLoop) -> bool {
        inside.body[self.cfg.number(value.parent())]
    }
}

/// The nearest common dominator.
fn meet(above: &[Option<usize>], place: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let lower = if place[a] > place[b] { &mut a } else { &mut b };
        match above[*lower] {
            Some(next) => *lower = next,
            None => break,
        }
    }
    a
}

/// The dominator tree.
pub struct Dominators {
    above: Vec<Option<usize>>,
    reached: Vec<bool>,
}

impl Dominators {
    /// Whether `by` dominates `block`; a block dominates itself.
    pub fn dominates(&self, by: usize, block: usize) -> bool {
        let mut at = Some(block);
        while let Some(here) = at {
            if here == by {
                return true;
            }
            at = self.above[here];
        }
        false
    }

    /// Whether a block is reachable.
    pub fn is_reached(&self, block: usize) -> bool {
        self.reached[block]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cfg(successors: &[&[usize]]) -> Cfg {
        Cfg::from_edges(successors.iter().map(|s| s.to_vec()).collect(), HashMap::new())
    }

    #[test]
    fn a_loop_with_two_entries_is_not_reducible() {
        // 0 → {1, 2}, 1 → 2 → {1, 3}
        let cfg = cfg(&[&[1, 2], &[2], &[1, 3], &[]]);
        assert!(!cfg.is_reducible(&cfg.dominators()));
    }

    #[test]
    fn dominators_and_loops_are_found() {
        // 0 → 1 → {2, 3} → 4 → {1, 5}; 6 is unreachable.
        let cfg = cfg(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[], &[4]]);
        let dominators = cfg.dominators();
        let above = |block| (0..7).filter(|&by| dominators.dominates(by, block)).collect::<Vec<_>>();
        assert_eq!(above(4), [0, 1, 4]);
        assert_eq!(above(5), [0, 1, 4, 5]);
        assert_eq!(above(2), [0, 1, 2]);
        assert!(dominators.is_reached(5) && !dominators.is_reached(6));
        let [found] = &cfg.natural_loops(&dominators)[..] else { panic!("there is one loop") };
        assert_eq!((found.header, &found.latches[..]), (1, &[4][..]));
        assert_eq!(found.body[..6], [false, true, true, true, true, false]);
        assert!(cfg.is_reducible(&dominators));
        assert_eq!(cfg.reached_from(4, |b| b != 3), [false, true, true, false, true, true, false]);
    }
}
