//! The blocks of a function as a graph: what leads where, and what nothing gets around.

use crate::ir::{self, Block, Value};
use inkwell::values::FunctionValue;
use std::collections::HashMap;

/// Passes that take more than linear time do not look closely at functions of more blocks.
pub const MANY: usize = 2000;

/// The blocks, by number; the first is the one that the function begins with.
pub struct Graph {
    number: HashMap<Block, usize>,
    pub successors: Vec<Vec<usize>>,
    pub predecessors: Vec<Vec<usize>>,
}

/// What is reached from each block of a part of the function, in at least one step.
pub type Reached = Vec<Vec<bool>>;

impl Graph {
    /// Of all blocks of a function.
    pub fn of(blocks: &[Block]) -> Graph {
        let number: HashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
        let successors = blocks.iter().map(|b| b.successors().iter().map(|s| number[s]).collect());
        Graph::from_edges(successors.collect(), number)
    }

    fn from_edges(successors: Vec<Vec<usize>>, number: HashMap<Block, usize>) -> Graph {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (block, next) in successors.iter().enumerate() {
            next.iter().for_each(|&n| predecessors[n].push(block));
        }
        Graph { number, successors, predecessors }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// The number of a block.
    pub fn number(&self, block: Block) -> usize {
        self.number[&block]
    }

    /// What each block of the part `inside` leads to, without the edges to `head`.
    pub fn reached(&self, inside: &[bool], head: Option<usize>) -> Reached {
        let open = |next: usize| inside[next] && Some(next) != head;
        (0..inside.len()).map(|b| if inside[b] { self.reached_from(b, open) } else { Vec::new() }).collect()
    }

    /// What a block leads to in at least one step, through blocks that are `open`.
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

    /// For each block the last one before it that every way to it leads through; none for the first, and for what is never
    /// reached. (Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm, 2001.)
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
                let mut ways = self.predecessors[block].iter().copied().filter(known);
                let Some(first) = ways.next() else { continue };
                let met = ways.fold(first, |a, b| meet(&above, &place, a, b));
                changed |= above[block].replace(met) != Some(met);
            }
        }
        Dominators { above, reached: place.iter().map(|p| *p != usize::MAX).collect() }
    }

    /// Every loop: a block that others, which only it leads to, lead back to.
    pub fn natural_loops(&self, dominators: &Dominators) -> Vec<NaturalLoop> {
        let at = |head: usize| {
            let leads_back = |p: &usize| dominators.dominates(head, *p);
            let ends: Vec<usize> = self.predecessors[head].iter().copied().filter(leads_back).collect();
            (!ends.is_empty()).then(|| NaturalLoop { head, body: self.leading_to(&ends, head), ends })
        };
        (0..self.len()).filter_map(at).collect()
    }

    /// `head`, and what leads to one of the `ends` without passing it.
    fn leading_to(&self, ends: &[usize], head: usize) -> Vec<bool> {
        let (mut inside, mut waiting) = (vec![false; self.len()], ends.to_vec());
        inside[head] = true;
        while let Some(block) = waiting.pop() {
            if !std::mem::replace(&mut inside[block], true) {
                waiting.extend(&self.predecessors[block]);
            }
        }
        inside
    }

    fn in_reverse_postorder(&self) -> Vec<usize> {
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

/// A loop that is entered by its head only.
pub struct NaturalLoop {
    pub head: usize,
    /// The blocks that lead back to the head.
    pub ends: Vec<usize>,
    /// For each block whether it is inside.
    pub body: Vec<bool>,
}

impl NaturalLoop {
    /// Whether another loop is in this one.
    pub fn is_around(&self, other: &NaturalLoop) -> bool {
        other.head != self.head && self.body[other.head]
    }
}

/// The blocks of a function, and the loops among them.
pub struct Nest {
    pub blocks: Vec<Block>,
    pub graph: Graph,
    pub loops: Vec<NaturalLoop>,
}

impl Nest {
    /// Of a function; none where it has too many blocks to look closely.
    pub fn of(function: FunctionValue<'_>) -> Option<Nest> {
        let blocks = ir::blocks(function);
        if blocks.len() > MANY {
            return None;
        }
        let graph = Graph::of(&blocks);
        let loops = graph.natural_loops(&graph.dominators());
        Some(Nest { blocks, graph, loops })
    }

    /// The numbers that a loop carries from turn to turn.
    pub fn carried(&self, by: &NaturalLoop) -> impl Iterator<Item = Value> + use<> {
        self.blocks[by.head].phis().into_iter().filter(|phi| phi.is_float())
    }

    /// What the turns of a loop leave of such a number, by each of the loop's ends.
    pub fn left_of(&self, phi: Value, by: &NaturalLoop) -> Vec<Value> {
        let comes_back = |from: Block| by.ends.iter().any(|end| self.blocks[*end] == from);
        phi.incoming().into_iter().filter(|(_, from)| comes_back(*from)).map(|(value, _)| value).collect()
    }

    /// Whether an instruction stands in a loop.
    pub fn is_in(&self, value: Value, inside: &NaturalLoop) -> bool {
        inside.body[self.graph.number(value.parent())]
    }
}

/// The nearest block above both.
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

/// Which blocks no way to a block gets around.
pub struct Dominators {
    above: Vec<Option<usize>>,
    reached: Vec<bool>,
}

impl Dominators {
    /// Whether every way to `block` leads through `by`, itself included.
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

    /// Whether any way leads to a block.
    pub fn is_reached(&self, block: usize) -> bool {
        self.reached[block]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(successors: &[&[usize]]) -> Graph {
        Graph::from_edges(successors.iter().map(|s| s.to_vec()).collect(), HashMap::new())
    }

    #[test]
    fn what_no_way_gets_around_is_found() {
        // 0 → 1 → {2, 3} → 4 → {1, 5}; 6 is never reached.
        let graph = graph(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[], &[4]]);
        let dominators = graph.dominators();
        let above = |block| (0..7).filter(|&by| dominators.dominates(by, block)).collect::<Vec<_>>();
        assert_eq!(above(4), [0, 1, 4]);
        assert_eq!(above(5), [0, 1, 4, 5]);
        assert_eq!(above(2), [0, 1, 2]);
        assert!(dominators.is_reached(5) && !dominators.is_reached(6));
        let [found] = &graph.natural_loops(&dominators)[..] else { panic!("there is one loop") };
        assert_eq!((found.head, &found.ends[..]), (1, &[4][..]));
        assert_eq!(found.body[..6], [false, true, true, true, true, false]);
        assert_eq!(graph.reached_from(4, |b| b != 3), [false, true, true, false, true, true, false]);
    }
}
