//! Induction variables: which phi counts which loop, from which start and by which step.

use super::cfg::{Cfg, NaturalLoop};
use crate::ir::{Block, Op, Value};

/// The loops of a function.
pub struct Loops<'a> {
    /// The control-flow graph.
    pub cfg: &'a Cfg,
    /// Sorted by header.
    pub all: Vec<NaturalLoop>,
}

impl Loops<'_> {
    /// The header of the loop whose induction variable a phi is, its start and its step.
    pub fn induction_variable(&self, phi: Value) -> Option<(usize, Value, Value)> {
        let [(one, from), (other, back)] = phi.incoming()[..] else { return None };
        let header = self.cfg.number(phi.parent());
        let latches = &self.at(header)?.latches;
        let is_back = |block: Block| latches.contains(&self.cfg.number(block));
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
        Some((header, start, step))
    }

    /// The loop with this header.
    pub fn at(&self, header: usize) -> Option<&NaturalLoop> {
        self.all.binary_search_by_key(&header, |l| l.header).ok().map(|i| &self.all[i])
    }

    /// The headers of the loops around a block.
    pub fn around(&self, block: usize) -> Vec<usize> {
        self.all.iter().filter(|l| l.body[block]).map(|l| l.header).collect()
    }

    /// Whether an index has step 1 in the loop with this header.
    pub fn steps_by_one(&self, index: Value, header: usize) -> bool {
        match index.op() {
            Some(Op::LLVMSExt | Op::LLVMZExt) => self.steps_by_one(index.operand(0), header),
            Some(Op::LLVMAdd | Op::LLVMOr) => index.operands().into_iter().any(|part| self.steps_by_one(part, header)),
            Some(Op::LLVMPHI) => {
                self.induction_variable(index).is_some_and(|(h, _, step)| h == header && step.constant() == Some(1))
            }
            _ => false,
        }
    }

    /// Whether the loop with the first header is nested in the one with the second.
    pub fn is_inside(&self, inner: usize, outer: usize) -> bool {
        self.at(outer).is_some_and(|l| l.body[inner])
    }
}
