//! Affine addresses in a one-block loop: base pointer + sum of constant factor * value + constant, in bytes.

use crate::ir::{Block, Op, Value};
use inkwell::targets::TargetData;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::{LLVMGetElementType, LLVMGetGEPSourceElementType, LLVMGetTypeKind};
use llvm_sys::prelude::LLVMTypeRef;
use llvm_sys::target::{LLVMABISizeOfType, LLVMTargetDataRef};
use std::collections::HashMap;

/// `constant + sum of coefficient * value`; a value with coefficient 0 is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    /// The coefficients.
    pub terms: HashMap<Value, i64>,
    /// The constant.
    pub constant: i64,
}

impl Linear {
    /// An integer as a sum; a value that is no sum is a term.
    pub fn of(value: Value, depth: u32) -> Linear {
        if let Some(constant) = value.constant() {
            return Linear { constant, ..Linear::default() };
        }
        let part = |i| Linear::of(value.operand(i), depth + 1);
        match value.op() {
            _ if depth > 8 => {}
            Some(Op::LLVMAdd) => return part(0).plus(&part(1), 1),
            Some(Op::LLVMOr) if value.is_disjoint() => return part(0).plus(&part(1), 1),
            Some(Op::LLVMSub) => return part(0).plus(&part(1), -1),
            Some(Op::LLVMMul) => {
                if let Some(factor) = value.operand(1).constant() {
                    return Linear::default().plus(&part(0), factor);
                }
            }
            Some(Op::LLVMShl) => {
                if let Some(bits @ 0..32) = value.operand(1).constant() {
                    return Linear::default().plus(&part(0), 1 << bits);
                }
            }
            _ => {}
        }
        Linear { terms: HashMap::from([(value, 1)]), constant: 0 }
    }

    /// `self + factor * other`.
    pub fn plus(mut self, other: &Linear, factor: i64) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (value, coefficient) in &other.terms {
            let sum = self.terms.entry(*value).or_default();
            *sum = sum.wrapping_add(coefficient.wrapping_mul(factor));
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        self
    }

    /// The stride of a one-block loop in bytes; `None` if it is not constant.
    pub fn stride(&self, block: Block) -> Option<i64> {
        let varying = self.terms.iter().filter(|(value, _)| value.stands_in(block));
        varying.map(|(value, factor)| Some(step(*value, block)?.wrapping_mul(*factor))).sum()
    }
}

/// The constant step of an induction variable of a one-block loop.
pub fn step(phi: Value, block: Block) -> Option<i64> {
    if !phi.is(Op::LLVMPHI) {
        return None;
    }
    let next = phi.incoming().into_iter().find(|(_, from)| *from == block)?.0;
    let change = Linear::of(next, 0).plus(&Linear::of(phi, 8), -1);
    change.terms.is_empty().then_some(change.constant)
}

/// A pointer as base and offset.
pub fn address(pointer: Value, layout: &TargetData) -> Option<(Value, Linear)> {
    let (mut base, mut distance) = (pointer, Linear::default());
    while base.is(Op::LLVMGetElementPtr) {
        // SAFETY: `base` is a getelementptr.
        let mut ty = unsafe { LLVMGetGEPSourceElementType(base.0) };
        let operands = base.operands();
        for (level, index) in operands[1..].iter().enumerate() {
            if level > 0 {
                ty = array_element(ty)?;
            }
            distance = distance.plus(&Linear::of(*index, 0), size_of(ty, layout));
        }
        base = operands[0];
    }
    Some((base, distance))
}

fn array_element(ty: LLVMTypeRef) -> Option<LLVMTypeRef> {
    // SAFETY: `ty` is a live type, and only arrays are asked for their element.
    unsafe { (LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMArrayTypeKind).then(|| LLVMGetElementType(ty)) }
}

/// Bytes from one element of an array of this type to the next.
pub fn size_of(ty: LLVMTypeRef, layout: &TargetData) -> i64 {
    let layout: LLVMTargetDataRef = layout.as_mut_ptr();
    // SAFETY: both are live; element types of getelementptr are sized.
    i64::try_from(unsafe { LLVMABISizeOfType(layout, ty) }).unwrap_or(i64::MAX)
}
