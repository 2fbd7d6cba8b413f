//! Where values go that are read from memory which the loop writes: by additions alone, into such memory.

use super::{Candidate, Iteration, is_addend};
use crate::ir::identity::look_through;
use crate::ir::{Op, Value};
use std::collections::HashSet;

impl Candidate<'_> {
    /// Whether the phis of the loop are sums: each goes by additions into itself, and nowhere else.
    pub(super) fn sums_are_plain(&self, iteration: &Iteration, private: &HashSet<usize>) -> bool {
        iteration.sums.iter().all(|sum| self.only_adds(*sum, private, Some(*sum)))
    }

    /// Whether a value goes by additions alone, whose derivatives need no value, into memory that is not the iteration's own; or into the phi `sum`.
    pub(super) fn only_adds(&self, value: Value, private: &HashSet<usize>, sum: Option<Value>) -> bool {
        let (mut seen, mut open) = (HashSet::from([value]), vec![value]);
        while let Some(part) = open.pop() {
            for user in part.users() {
                if !self.contains(user) {
                    // What is used behind the loop is the total of a sum: `only_sums_are_used_outside`.
                    match sum {
                        Some(_) if part != value => continue,
                        _ => return false,
                    }
                }
                let goes_on = match user.op() {
                    Some(Op::LLVMFAdd | Op::LLVMFSub | Op::LLVMFNeg | Op::LLVMFPExt | Op::LLVMFPTrunc) => true,
                    Some(Op::LLVMPHI) if Some(user) == sum => false,
                    Some(Op::LLVMPHI) => user.parent() != self.blocks[self.natural.header],
                    Some(Op::LLVMSelect) if user.operand(0) != part => true,
                    Some(Op::LLVMCall) if is_addend(user, part) || look_through(user) != user => true,
                    Some(Op::LLVMStore) if self.takes_sum(user, part, private) => continue,
                    _ => return false,
                };
                if goes_on && seen.insert(user) {
                    open.push(user);
                }
                if !goes_on && Some(user) != sum {
                    return false;
                }
            }
        }
        true
    }

    /// Whether a store puts a value into memory that is not the iteration's own. That is not read again but for another sum, since the store
    /// itself is one of the writes that every read is tested against.
    fn takes_sum(&self, store: Value, part: Value, private: &HashSet<usize>) -> bool {
        let objects = self.objects.underlying(store.operand(1));
        store.operand(0) == part
            && store.operand(1) != part
            && self.is_known(store.operand(1))
            && !objects.iter().any(|o| private.contains(o))
    }
}

/// Whether the derivative of what is computed of a value needs the value: it is multiplied, divided, or given to a function. Through memory it is not
/// followed: what is loaded again is another value.
pub fn is_needed(value: Value) -> bool {
    let (mut seen, mut open) = (HashSet::from([value]), vec![value]);
    while let Some(part) = open.pop() {
        for user in part.users() {
            let goes_on = match user.op() {
                Some(Op::LLVMFMul) if user.operands().into_iter().any(|factor| factor.is_number()) => true,
                Some(Op::LLVMFMul | Op::LLVMFDiv) => return true,
                Some(Op::LLVMCall) if !is_addend(user, part) && look_through(user) == user => return true,
                Some(Op::LLVMStore | Op::LLVMFCmp) => false,
                Some(Op::LLVMInsertValue) => true,
                _ => user.is_float(),
            };
            if goes_on && seen.insert(user) {
                open.push(user);
            }
        }
    }
    false
}

/// The same of a user of the value.
pub(super) fn is_needed_by(user: Value) -> bool {
    match user.op() {
        Some(Op::LLVMStore) => false,
        Some(Op::LLVMFAdd | Op::LLVMFSub | Op::LLVMFNeg | Op::LLVMPHI | Op::LLVMSelect) => is_needed(user),
        _ => true,
    }
}
