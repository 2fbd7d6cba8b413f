//! Induction variables: which phi counts which loop, from where and by what step.

use super::cfg::{Graph, NaturalLoop};
use crate::ir::{Block, Op, Value};

/// The loops of a function.
pub struct Loops<'a> {
    /// The blocks.
    pub graph: &'a Graph,
    /// In the order of their heads.
    pub all: Vec<NaturalLoop>,
}

impl Loops<'_> {
    /// The block of a loop's head, if the value counts its turns: where it begins, and its step.
    pub fn counter(&self, phi: Value) -> Option<(usize, Value, Value)> {
        let [(one, from), (other, back)] = phi.incoming()[..] else { return None };
        let head = self.graph.number(phi.parent());
        let ends = &self.at(head)?.ends;
        let is_back = |block: Block| ends.contains(&self.graph.number(block));
        let (start, next) = match (is_back(from), is_back(back)) {
            (false, true) => (one, other),
            (true, false) => (other, one),
            _ => return None,
        };
        let step = match next.op() {
            Some(Op::LLVMAdd | Op::LLVMGetElementPtr) if next.operand(0) == phi => next.operand(1),
            Some(Op::LLVMAdd) if next.operand(1) == phi => next.operand(0),
            _ => return None,
        };
        Some((head, start, step))
    }

    /// The loop with this head.
    pub fn at(&self, head: usize) -> Option<&NaturalLoop> {
        self.all.binary_search_by_key(&head, |l| l.head).ok().map(|i| &self.all[i])
    }

    /// The heads of the loops that a block is in.
    pub fn around(&self, block: usize) -> Vec<usize> {
        self.all.iter().filter(|l| l.body[block]).map(|l| l.head).collect()
    }

    /// Whether a number grows by one with each turn of the loop with this head.
    pub fn steps_by_one(&self, index: Value, head: usize) -> bool {
        match index.op() {
            Some(Op::LLVMSExt | Op::LLVMZExt) => self.steps_by_one(index.operand(0), head),
            Some(Op::LLVMAdd | Op::LLVMOr) => index.operands().into_iter().any(|part| self.steps_by_one(part, head)),
            Some(Op::LLVMPHI) => {
                self.counter(index).is_some_and(|(h, _, step)| h == head && step.constant() == Some(1))
            }
            _ => false,
        }
    }

    /// Whether the loop with this head lies in the one with the other.
    pub fn is_inside(&self, inner: usize, outer: usize) -> bool {
        self.at(outer).is_some_and(|l| l.body[inner])
    }
}
