//! One-block loops whose number of iterations is known in symbols, and the addresses in them as functions of the iteration's number.
//!
//! Two loops over one range need not spell its length alike: `n - 2` elements of a copy are `zext(n + -2)`, and the loop
//! from 1 to `n - 1` ends at `zext(n + -1)`. These are the same where `n` is known to be large enough, which the branch
//! says that guards the loops ([`Facts`]).

use crate::analysis::affine::{self, Linear};
use crate::analysis::inner_loop::Loop;
use crate::ir::{Block, Op, Value};
use inkwell::targets::TargetData;
use llvm_sys::LLVMIntPredicate::*;
use llvm_sys::core::*;
use std::collections::HashMap;

/// Most branches that are looked at on the way up from a loop.
const FARTHEST: usize = 16;

/// Lower bounds of 32-bit integers, as signed numbers, where a block is reached.
#[derive(Default)]
pub struct Facts(HashMap<Value, i64>);

impl Facts {
    /// What the branches say that lead to a block, each the only way to the next.
    pub fn at(block: Block) -> Facts {
        let mut facts = Facts::default();
        let mut here = block;
        for _ in 0..FARTHEST {
            let &[above] = &here.predecessors()[..] else { break };
            facts.add_branch(above, here);
            here = above;
        }
        facts
    }

    fn add_branch(&mut self, from: Block, to: Block) {
        let branch = from.terminator();
        let [yes, no] = from.successors()[..] else { return };
        let condition = branch.operand(0);
        if !branch.is(Op::LLVMBr) || yes == no || !condition.is(Op::LLVMICmp) {
            return;
        }
        let (value, Some(limit)) = (condition.operand(0), condition.operand(1).constant()) else { return };
        // SAFETY: `condition` is an integer comparison.
        let bound = match (unsafe { LLVMGetICmpPredicate(condition.0) }, to == yes) {
            (LLVMIntSGT, true) | (LLVMIntSLE, false) => limit.checked_add(1),
            (LLVMIntSGE, true) | (LLVMIntSLT, false) => Some(limit),
            _ => None,
        };
        if let (Some(bound), true) = (bound, is_32_bits(value)) {
            let (base, added) = split(value, has_no_signed_wrap);
            let known = self.0.entry(base).or_insert(i64::MIN);
            *known = (*known).max(bound - added);
        }
    }

    /// An integer of 64 bits as a sum. A term of 32 bits stands for its sign extension.
    pub fn widen(&self, sum: &Linear) -> Linear {
        let mut wide = Linear { constant: sum.constant, ..Linear::default() };
        for (value, factor) in &sum.terms {
            wide = wide.plus(&self.widen_term(*value), *factor);
        }
        wide
    }

    fn widen_term(&self, value: Value) -> Linear {
        let term = |value: Value, constant| Linear { terms: HashMap::from([(value, 1)]), constant };
        match value.op() {
            Some(Op::LLVMSExt) if is_32_bits(value.operand(0)) => {
                let (base, added) = split(value.operand(0), has_no_signed_wrap);
                term(base, added)
            }
            Some(Op::LLVMZExt) if is_32_bits(value.operand(0)) => {
                let (base, added) = split(value.operand(0), |_| true);
                // Neither the number nor the sum is negative, and neither reaches 2^32.
                let fits = self.0.get(&base).is_some_and(|least| *least >= 0 && least + added >= 0);
                if fits { term(base, added) } else { term(value, 0) }
            }
            _ => term(value, 0),
        }
    }
}

fn is_32_bits(value: Value) -> bool {
    // SAFETY: the width is asked of an integer type only.
    unsafe {
        LLVMGetTypeKind(value.ty()) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(value.ty()) == 32
    }
}

fn has_no_signed_wrap(sum: Value) -> bool {
    // SAFETY: asked of an addition.
    unsafe { LLVMGetNSW(sum.0) != 0 }
}

/// An addition of a constant as what it is added to and the constant, where the addition is one that counts.
fn split(value: Value, counts: impl Fn(Value) -> bool) -> (Value, i64) {
    match (value.is(Op::LLVMAdd)).then(|| value.operand(1).constant()).flatten() {
        Some(added) if counts(value) => (value.operand(0), added),
        _ => (value, 0),
    }
}

/// How often a loop runs: until `span = step * (iterations - 1)`, modulo 2^64.
#[derive(PartialEq, Eq, Debug)]
pub struct Count {
    step: u64,
    span: Linear,
}

/// How often a loop runs that is left when an induction variable, or its next value, equals an invariant number.
pub fn count(one: &Loop, facts: &Facts) -> Option<Count> {
    let branch = one.block.terminator();
    let condition = branch.operand(0);
    if !branch.is(Op::LLVMBr) || !condition.is(Op::LLVMICmp) {
        return None;
    }
    // SAFETY: `condition` is an integer comparison.
    let predicate = unsafe { LLVMGetICmpPredicate(condition.0) };
    let leaves = match one.block.successors()[..] {
        [first, second] if first == one.after && second == one.block => LLVMIntEQ,
        [first, second] if first == one.block && second == one.after => LLVMIntNE,
        _ => return None,
    };
    if predicate != leaves {
        return None;
    }
    let (tested, end) = (condition.operand(0), condition.operand(1));
    if end.stands_in(one.block) {
        return None;
    }
    let sum = Linear::of(tested, 0);
    let phis = one.block.phis();
    let &phi = sum.terms.keys().find(|v| phis.contains(v))?;
    if sum.terms.len() != 1 || sum.terms[&phi] != 1 || !is_64_bits(phi) {
        return None;
    }
    let step = affine::step(phi, one.block).filter(|s| *s != 0 && *s != i64::MIN)?;
    let start = start(phi, one)?;
    // The last value of the variable, without what the test adds to it.
    let last = Linear { constant: sum.constant.wrapping_neg(), ..Linear::default() }.plus(&Linear::of(end, 0), 1);
    let span = facts.widen(&last.plus(&start, -1));
    Some(Count { step: step.unsigned_abs(), span: Linear::default().plus(&span, step.signum()) })
}

fn is_64_bits(value: Value) -> bool {
    // SAFETY: the width is asked of an integer type only.
    unsafe {
        LLVMGetTypeKind(value.ty()) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(value.ty()) == 64
    }
}

/// What an induction variable starts with.
fn start(phi: Value, one: &Loop) -> Option<Linear> {
    phi.incoming().into_iter().find(|(_, from)| *from == one.before).map(|(value, _)| Linear::of(value, 0))
}

/// The address of an access in iteration `i`: base, and `origin + stride * i`, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pointer that it is counted from.
    pub base: Value,
    /// The distance in the first iteration.
    pub origin: Linear,
    /// Bytes from one iteration to the next.
    pub stride: i64,
}

impl Place {
    /// The address of a pointer in a loop, if it is of that form.
    pub fn of(pointer: Value, one: &Loop, facts: &Facts, layout: &TargetData) -> Option<Place> {
        let (base, distance) = affine::address(pointer, layout)?;
        if base.stands_in(one.block) || !distance.terms.keys().all(|v| is_64_bits(*v)) {
            return None;
        }
        let stride = distance.stride(one.block)?;
        let mut origin = distance.clone();
        for (value, factor) in distance.terms.iter().filter(|(v, _)| v.stands_in(one.block)) {
            origin.terms.remove(value);
            origin = origin.plus(&start(*value, one)?, *factor);
        }
        Some(Place { base, origin: facts.widen(&origin), stride })
    }

    /// Bytes from another address to this one, where that is the same in all iterations.
    pub fn from(&self, other: &Place) -> Option<i64> {
        let distance = self.origin.clone().plus(&other.origin, -1);
        (self.base == other.base && self.stride == other.stride && distance.terms.is_empty())
            .then_some(distance.constant)
    }
}
