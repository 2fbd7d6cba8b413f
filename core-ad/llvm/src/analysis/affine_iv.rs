//! Affine addresses in loop nests: base pointer + sum of constant factor * induction variable + rest, in bytes.

use super::induction::Loops;
use crate::ir::{Op, Value};
use llvm_sys::core::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMTargetDataRef};
use std::collections::BTreeMap;

/// A term of an address, multiplied by a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// The induction variable of a loop, by its header.
    Iv(usize),
    /// Any other value.
    Other(usize),
}

/// An address: base pointer, factors of terms in bytes, constant.
#[derive(Debug)]
pub struct Address {
    /// The base pointer.
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

    /// Whether a common outer loop, on which neither address depends, makes the store write the same addresses again.
    pub fn repeats_in_outer_loop(&self, read: &Address, common: &[usize]) -> bool {
        let counts = |address: &Address, header: &usize| address.terms.contains_key(&Term::Iv(*header));
        common.iter().any(|header| counts(self, header) && counts(read, header))
            && common.iter().any(|header| !counts(self, header) && !counts(read, header))
    }

    /// Whether this address, a store's, is one that an earlier iteration of the load read.
    pub fn writes_behind(&self, read: &Address) -> bool {
        let ivs = |a: &Address| {
            a.terms.iter().filter(|(t, _)| matches!(t, Term::Iv(_))).map(|(t, f)| (*t, *f)).collect::<Vec<_>>()
        };
        let (ours, theirs) = (ivs(self), ivs(read));
        if !ours.iter().any(|(iv, _)| theirs.iter().any(|(other, _)| other == iv)) {
            return false;
        }
        if ours != theirs {
            return true;
        }
        let ahead = self.constant - read.constant;
        self.terms == read.terms && ours.iter().any(|(_, factor)| factor.signum() * ahead.signum() < 0)
    }

    /// Whether this address, a store's, is one that a later iteration of the load reads. (Where Enzyme has to cache what is read, it
    /// copies the array before the loop, as if the loop did not write to it.)
    pub fn writes_ahead(&self, read: &Address) -> bool {
        let has_iv = self.terms.keys().any(|t| matches!(t, Term::Iv(_)));
        has_iv && self.terms == read.terms && self.constant != read.constant
    }

    /// Adds the offset of a pointer from its base, and returns the base.
    fn follow(&mut self, loops: &Loops<'_>, layout: LLVMTargetDataRef, pointer: Value) -> Option<Value> {
        match pointer.op() {
            Some(Op::LLVMGetElementPtr) => {
                let base = self.follow(loops, layout, pointer.operand(0))?;
                // SAFETY: a getelementptr; its element type is one of the module.
                let mut element = unsafe { LLVMGetGEPSourceElementType(pointer.0) };
                for (place, index) in (1..).zip(pointer.operands().into_iter().skip(1)) {
                    if place > 1 {
                        // SAFETY: as above; only arrays have one element type.
                        element = unsafe {
                            match LLVMGetTypeKind(element) {
                                llvm_sys::LLVMTypeKind::LLVMArrayTypeKind => LLVMGetElementType(element),
                                _ => return None,
                            }
                        };
                    }
                    // SAFETY: a type of the module, and sized.
                    let size = unsafe { LLVMABISizeOfType(layout, element) };
                    self.add(loops, index, i64::try_from(size).ok()?, 0)?;
                }
                Some(base)
            }
            Some(Op::LLVMPHI) => match loops.induction_variable(pointer) {
                Some((header, start, step)) => {
                    let next =
                        pointer.users().into_iter().find(|u| u.is(Op::LLVMGetElementPtr) && u.operand(1) == step)?;
                    // SAFETY: a getelementptr; its element type is one of the module.
                    let size = unsafe { LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(next.0)) };
                    let bytes = i64::try_from(size).ok()?.checked_mul(step.constant()?)?;
                    *self.terms.entry(Term::Iv(header)).or_default() += bytes;
                    self.follow(loops, layout, start)
                }
                None => Some(pointer),
            },
            _ => Some(pointer),
        }
    }

    /// Adds an integer times a factor.
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
            Some(Op::LLVMPHI)
                if loops.induction_variable(value).is_some_and(|(.., step)| step.constant().is_some()) =>
            {
                let (header, start, step) = loops.induction_variable(value)?;
                *self.terms.entry(Term::Iv(header)).or_default() += step.constant()?.checked_mul(times)?;
                self.add(loops, start, times, depth + 1)
            }
            _ => {
                *self.terms.entry(Term::Other(value.0 as usize)).or_default() += times;
                Some(())
            }
        }
    }
}
