//! Addresses as affine functions of induction variables.

use super::induction::Loops;
use crate::ir::{Op, Value};
use llvm_sys::core::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMTargetDataRef};
use std::collections::BTreeMap;

/// What stands in an address with a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// The turn of a loop, by its head.
    Turn(usize),
    /// A number that is not looked into.
    Other(usize),
}

/// An address: a beginning, and numbers of bytes.
#[derive(Debug)]
pub struct Address {
    /// Where it begins.
    pub base: Value,
    /// The factors.
    pub terms: BTreeMap<Term, i64>,
    /// The constant.
    pub constant: i64,
}

impl Address {
    /// Of a pointer.
    pub fn of(loops: &Loops<'_>, layout: LLVMTargetDataRef, pointer: Value) -> Option<Address> {
        let mut address = Address { base: pointer, terms: BTreeMap::new(), constant: 0 };
        address.base = address.follow(loops, layout, pointer)?;
        address.terms.retain(|_, factor| *factor != 0);
        Some(address)
    }

    /// Whether a loop around both that neither address counts writes to the same places once more.
    pub fn comes_again(&self, read: &Address, common: &[usize]) -> bool {
        let counts = |address: &Address, head: &usize| address.terms.contains_key(&Term::Turn(*head));
        common.iter().any(|head| counts(self, head) && counts(read, head))
            && common.iter().any(|head| !counts(self, head) && !counts(read, head))
    }

    /// Whether this place, that of a store, is one that the load's was in an earlier turn.
    pub fn follows(&self, read: &Address) -> bool {
        let turns = |a: &Address| {
            a.terms.iter().filter(|(t, _)| matches!(t, Term::Turn(_))).map(|(t, f)| (*t, *f)).collect::<Vec<_>>()
        };
        let (ours, theirs) = (turns(self), turns(read));
        if !ours.iter().any(|(turn, _)| theirs.iter().any(|(other, _)| other == turn)) {
            return false;
        }
        if ours != theirs {
            return true;
        }
        let ahead = self.constant - read.constant;
        self.terms == read.terms && ours.iter().any(|(_, factor)| factor.signum() * ahead.signum() < 0)
    }

    /// Whether this place, that of a store, is one that the load's will be in in a later turn. (Where the engine has to keep what is read, it
    /// copies the array before the loop, as if the loop did not write to it.)
    pub fn leads(&self, read: &Address) -> bool {
        let turns = self.terms.keys().any(|t| matches!(t, Term::Turn(_)));
        turns && self.terms == read.terms && self.constant != read.constant
    }

    /// Adds the bytes from a pointer's beginning, which it returns.
    fn follow(&mut self, loops: &Loops<'_>, layout: LLVMTargetDataRef, pointer: Value) -> Option<Value> {
        match pointer.op() {
            Some(Op::LLVMGetElementPtr) => {
                let base = self.follow(loops, layout, pointer.operand(0))?;
                // SAFETY: a step; what it steps by is a type of the module.
                let mut element = unsafe { LLVMGetGEPSourceElementType(pointer.0) };
                for (place, index) in (1..).zip(pointer.operands().into_iter().skip(1)) {
                    if place > 1 {
                        // SAFETY: as above; only arrays have elements alike.
                        element = unsafe {
                            match LLVMGetTypeKind(element) {
                                llvm_sys::LLVMTypeKind::LLVMArrayTypeKind => LLVMGetElementType(element),
                                _ => return None,
                            }
                        };
                    }
                    // SAFETY: a type of the module, with a size where it is stepped by.
                    let size = unsafe { LLVMABISizeOfType(layout, element) };
                    self.add(loops, index, i64::try_from(size).ok()?, 0)?;
                }
                Some(base)
            }
            Some(Op::LLVMPHI) => match loops.counter(pointer) {
                Some((head, start, step)) => {
                    let next =
                        pointer.users().into_iter().find(|u| u.is(Op::LLVMGetElementPtr) && u.operand(1) == step)?;
                    // SAFETY: a step; what it steps by is a type of the module.
                    let size = unsafe { LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(next.0)) };
                    let bytes = i64::try_from(size).ok()?.checked_mul(step.constant()?)?;
                    *self.terms.entry(Term::Turn(head)).or_default() += bytes;
                    self.follow(loops, layout, start)
                }
                None => Some(pointer),
            },
            _ => Some(pointer),
        }
    }

    /// Adds a number, so many times.
    fn add(&mut self, loops: &Loops<'_>, value: Value, times: i64, depth: usize) -> Option<()> {
        if depth > 16 {
            return None;
        }
        if let Some(number) = value.constant() {
            self.constant = self.constant.checked_add(number.checked_mul(times)?)?;
            return Some(());
        }
        let mut part = |value: Value, times: i64| self.add(loops, value, times, depth + 1);
        match value.op() {
            Some(Op::LLVMSExt | Op::LLVMZExt | Op::LLVMTrunc) => part(value.operand(0), times),
            Some(Op::LLVMAdd) => part(value.operand(0), times).and_then(|()| part(value.operand(1), times)),
            Some(Op::LLVMOr) if value.is_disjoint() => {
                part(value.operand(0), times).and_then(|()| part(value.operand(1), times))
            }
            // The complement: -x - 1.
            Some(Op::LLVMXor) if value.operand(1).constant() == Some(-1) => {
                part(value.operand(0), -times)?;
                self.constant = self.constant.checked_sub(times)?;
                Some(())
            }
            Some(Op::LLVMSub) => part(value.operand(0), times).and_then(|()| part(value.operand(1), -times)),
            Some(Op::LLVMMul) if value.operand(1).constant().is_some() => {
                let factor = value.operand(1).constant()?;
                part(value.operand(0), times.checked_mul(factor)?)
            }
            Some(Op::LLVMShl) if value.operand(1).constant().is_some_and(|by| (0..32).contains(&by)) => {
                part(value.operand(0), times.checked_mul(1 << value.operand(1).constant()?)?)
            }
            Some(Op::LLVMPHI) if loops.counter(value).is_some_and(|(.., step)| step.constant().is_some()) => {
                let (head, start, step) = loops.counter(value)?;
                *self.terms.entry(Term::Turn(head)).or_default() += step.constant()?.checked_mul(times)?;
                self.add(loops, start, times, depth + 1)
            }
            _ => {
                *self.terms.entry(Term::Other(value.0 as usize)).or_default() += times;
                Some(())
            }
        }
    }
}
