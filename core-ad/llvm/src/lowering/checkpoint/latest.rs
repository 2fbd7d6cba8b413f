//! Memory that one of several allocations gives, before the loop: a vector that grows (`push_back`, `reserve`), memory that is allocated on a condition.
//!
//! ```text
//! %a = call ptr @_Znwm(i64 %reserved)
//! %b = call ptr @_Znwm(i64 %doubled)         ; in a loop: `push_back` found no room
//! %data = phi ptr [ %a, .. ], [ %b, .. ]      ; what the loop that is checkpointed uses
//! ```
//!
//! These allocations are one region, whose base is the phi and whose size is a phi of their sizes. Other addresses of the loop may lead to an
//! older block as far as the code shows (`end()` is a phi of its own), so the runtime compares them with the region before the first step.

use super::Refusal;
use super::refusal;
use super::regions::Finder;
use super::sizes::reallocates;
use crate::analysis::memory_objects::{allocates, origins};
use crate::ir::{Op, Value};
use std::collections::{HashMap, HashSet};

/// The regions of merged allocations: of each object the address that stands for it.
pub(super) type Merged = HashMap<Value, Value>;

impl Finder<'_, '_> {
    /// Finds the objects that are not known by one instruction that dominates the loop and runs once.
    pub(super) fn merge(&self, objects: &[Value], access: impl Fn(Value) -> Value) -> Result<Merged, Refusal> {
        let mut merged = Merged::new();
        for object in objects.iter().copied().filter(|o| o.is_instruction()) {
            if merged.contains_key(&object) || self.is_before(object) && !self.runs_again(object) {
                continue;
            }
            let Some(base) = self.latest(object) else {
                return Err(refusal::of(
                    self.target,
                    access(object),
                    "it uses memory that is allocated on a condition",
                    "Allocate it always, right before the loop.",
                ));
            };
            for member in origins(base) {
                if merged.insert(member, base).is_some_and(|other| other != base) {
                    return Err(refusal::of(
                        self.target,
                        access(object),
                        "it uses memory that one line of the program allocates several times",
                        "Allocate each array in a line of its own, before the loop.",
                    ));
                }
            }
        }
        Ok(merged)
    }

    /// The address of an object that comes last before the loop: itself, or a phi of it and of other allocations.
    fn latest(&self, object: Value) -> Option<Value> {
        let (mut open, mut seen) = (vec![object], HashSet::from([object]));
        let mut best: Option<Value> = None;
        while let Some(value) = open.pop() {
            let is_later = |than: Value| {
                let (first, last) = (self.cfg.number(than.parent()), self.cfg.number(value.parent()));
                self.dominators.dominates(first, last)
            };
            if self.is_before(value) && is_beginning(value) && best.is_none_or(is_later) {
                best = Some(value);
            }
            open.extend(value.users().into_iter().filter(|user| user.is(Op::LLVMPHI) && seen.insert(*user)));
        }
        best
    }

    /// Whether control comes back to an instruction.
    fn runs_again(&self, value: Value) -> bool {
        let block = self.cfg.number(value.parent());
        self.cfg.reached_from(block, |_| true)[block]
    }
}

/// Whether an address is that of an allocation's first byte, or null.
fn is_beginning(address: Value) -> bool {
    let (mut open, mut seen) = (vec![address], HashSet::new());
    while let Some(value) = open.pop() {
        if !seen.insert(value) || value.is_null_or_undefined() {
            continue;
        }
        match value.op() {
            Some(Op::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(incoming, _)| incoming)),
            Some(Op::LLVMAlloca) => {}
            _ if value.callee().is_some_and(|name| allocates(&name) || reallocates(&name)) => {}
            _ => return false,
        }
    }
    true
}
