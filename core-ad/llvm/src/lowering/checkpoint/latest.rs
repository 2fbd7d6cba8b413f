//! Memory that one allocation gives several times, before the loop: which of it the loop uses.

use super::inputs::exit_phis;
use super::regions::Finder;
use super::{Refusal, refusal};
use crate::analysis::memory_objects::origins;
use crate::ir::{self, Op, Value};
use std::collections::HashSet;

impl Finder<'_, '_> {
    /// An allocation in a loop of its own makes an object each time (a vector that grows). One region has one of them, that of `base`: every
    /// address that the checkpointed loop uses must lead there. It does where all phis between them are dominated by `base`, so that it is its
    /// latest value that they take.
    pub(super) fn check_latest(&self, object: Value, base: Value, access: Value) -> Result<(), Refusal> {
        if !object.is_instruction() || !self.runs_again(object) {
            return Ok(());
        }
        let leaving = exit_phis(self.target).into_iter().flat_map(|phi| phi.incoming()).map(|(value, _)| value);
        let used = self.target.instructions().into_iter().flat_map(|i| i.operands()).chain(leaving);
        let (mut open, mut seen): (Vec<Value>, _) = (used.filter(|v| v.is_pointer()).collect(), HashSet::new());
        let mut suspects = Vec::new();
        while let Some(value) = open.pop() {
            if value == base || !seen.insert(value) {
                continue;
            }
            match value.op() {
                Some(Op::LLVMGetElementPtr) => open.push(value.operand(0)),
                Some(Op::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
                Some(Op::LLVMPHI) => {
                    open.extend(value.incoming().into_iter().map(|(incoming, _)| incoming));
                    suspects.push(value);
                }
                _ if value == object => suspects.push(value),
                _ => {}
            }
        }
        let is_older =
            |value: &Value| origins(*value).contains(&object) && (*value == object || !self.is_behind(*value, base));
        match suspects.iter().any(is_older) {
            false => Ok(()),
            true => Err(refusal::of(
                self.target,
                access,
                "it uses memory that one line of the program allocates several times",
                "Allocate each array in a line of its own, before the loop.",
            )),
        }
    }

    /// Whether control comes back to an instruction.
    fn runs_again(&self, value: Value) -> bool {
        let block = self.cfg.number(value.parent());
        self.cfg.reached_from(block, |_| true)[block]
    }

    /// Whether the block of a phi comes behind that of a value, on every path.
    fn is_behind(&self, phi: Value, base: Value) -> bool {
        ir::is_argument(base) || {
            let (own, first) = (self.cfg.number(phi.parent()), self.cfg.number(base.parent()));
            own != first && self.dominators.dominates(first, own)
        }
    }
}
