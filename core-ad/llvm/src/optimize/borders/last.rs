//! Peels the last iteration off an innermost loop, where it decides a condition. LLVM does so only where it knows that there are two iterations.

use crate::analysis::affine::Linear;
use crate::analysis::cfg::LoopNest;
use crate::ir::{self, Block, Op, Value};
use inkwell::values::FunctionValue;
use llvm_sys::LLVMIntPredicate::*;
use llvm_sys::core::*;
use std::collections::HashMap;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Larger loops are left alone.
const MOST_INSTRUCTIONS: usize = 300;

/// A loop `do { .. } while (++i != bound)`, with conditions that hold in all iterations but the last, or in that alone.
struct Counted {
    blocks: Vec<Block>,
    before: Block,
    latch: Block,
    after: Block,
    /// `i + 1`.
    next: Value,
    bound: Value,
    /// The conditions, and what they are before the last iteration.
    conditions: Vec<(Value, bool)>,
}

/// Peels one loop of a function; whether there was one.
pub fn peel(function: FunctionValue<'_>) -> bool {
    let Some(nest) = LoopNest::of(function) else { return false };
    let innermost = nest.loops.iter().filter(|l| !nest.loops.iter().any(|other| l.is_around(other)));
    let found = innermost.filter_map(|l| {
        let header = nest.blocks[l.header];
        let others = nest.blocks.iter().zip(&l.body).filter(|(b, inside)| **inside && **b != header).map(|(b, _)| *b);
        let &[latch] = &l.latches[..] else { return None };
        Counted::of(std::iter::once(header).chain(others).collect(), nest.blocks[latch])
    });
    let found = found.into_iter().next();
    if let Some(counted) = &found {
        counted.split();
    }
    found.is_some()
}

/// A sum, in which an integer and the same integer made wide are one.
fn sum(value: Value) -> Linear {
    let mut all = Linear::of(value, 0);
    let terms: Vec<(Value, i64)> = all.terms.drain().collect();
    for (term, factor) in terms {
        *all.terms.entry(narrow(term)).or_default() += factor;
    }
    all.terms.retain(|_, factor| *factor != 0);
    all
}

fn narrow(value: Value) -> Value {
    // SAFETY: asked of an extension.
    let is_signed = value.is(Op::LLVMSExt) || value.is(Op::LLVMZExt) && unsafe { LLVMGetNNeg(value.0) } != 0;
    if is_signed { value.operand(0) } else { value }
}

impl Counted {
    fn of(blocks: Vec<Block>, latch: Block) -> Option<Counted> {
        let header = blocks[0];
        let inside = |b: &Block| blocks.contains(b);
        let leaves = |b: &&Block| b.successors().iter().any(|next| !inside(next));
        let size: usize = blocks.iter().map(|b| b.instructions().len()).sum();
        if size > MOST_INSTRUCTIONS || blocks.iter().filter(leaves).any(|b| *b != latch) {
            return None;
        }
        let outside: Vec<Block> = header.predecessors().into_iter().filter(|b| *b != latch).collect();
        let &[before] = &outside[..] else { return None };
        let end = latch.terminator();
        let [first, second] = latch.successors()[..] else { return None };
        let (after, leaves_if) = if first == header { (second, false) } else { (first, true) };
        let exit = end.operand(0);
        if !end.is(Op::LLVMBr) || !exit.is(Op::LLVMICmp) || exit.users() != [end] || before.successors() != [header] {
            return None;
        }
        let expected = if leaves_if { LLVMIntEQ } else { LLVMIntNE };
        // SAFETY: asked of a comparison of integers.
        let fits = unsafe { LLVMGetICmpPredicate(exit.0) } == expected && !inside(&after);
        let (next, bound) = (exit.operand(0), exit.operand(1));
        // Short loops are unrolled.
        let is_fixed = bound.constant().is_none() && (!bound.is_instruction() || !inside(&bound.parent()));
        let counts = next.is(Op::LLVMAdd)
            && next.operand(1).constant() == Some(1)
            && next.operand(0).is(Op::LLVMPHI)
            && next.operand(0).parent() == header
            && next.operand(0).incoming().contains(&(next, latch));
        // What is used behind the loop is a phi there.
        let stays =
            |i: &Value| i.users().into_iter().all(|u| inside(&u.parent()) || u.is(Op::LLVMPHI) && u.parent() == after);
        let all: Vec<Value> = blocks.iter().flat_map(|b| b.instructions()).collect();
        if !fits || !is_fixed || !counts || !all.iter().all(stays) {
            return None;
        }
        let mut conditions = Vec::new();
        for condition in all.iter().copied().filter(|i| i.is(Op::LLVMICmp) && *i != exit) {
            if let Some(earlier) = decided(condition, next, bound) {
                conditions.push((condition, earlier));
            }
        }
        let found = Counted { blocks: blocks.clone(), before, latch, after, next, bound, conditions };
        (!found.conditions.is_empty()).then_some(found)
    }

    /// Takes away masks of counters that are below a bound which was made wide: LLVM made them of a cast to a narrow integer.
    fn drop_masks(&self) {
        let phi = self.next.operand(0);
        // SAFETY: an extension has one operand; an addition.
        let (is_narrow, wraps) = unsafe {
            let width = |v: Value| LLVMGetIntTypeWidth(v.ty());
            (self.bound.is(Op::LLVMZExt) && width(self.bound.operand(0)) <= 32, LLVMGetNUW(self.next.0) == 0)
        };
        if !is_narrow || wraps {
            return;
        }
        for i in self.blocks.iter().flat_map(|b| b.instructions()) {
            let counts = |v: Value| v == phi || v == self.next;
            let value = i.operands().into_iter().next();
            let is_below = |v: Value| counts(v) || v.is(Op::LLVMSelect) && counts(v.operand(1)) && counts(v.operand(2));
            if i.is(Op::LLVMAnd) && i.operand(1).constant() == Some(0xffff_ffff) && value.is_some_and(is_below) {
                // SAFETY: both are live, of one type.
                unsafe { LLVMReplaceAllUsesWith(i.0, i.operand(0).0) };
                i.erase();
            }
        }
    }

    /// A second loop body behind the first, which runs once.
    fn split(&self) {
        self.drop_masks();
        let header = self.blocks[0];
        let copies: HashMap<Block, Block> = self.blocks.iter().map(|b| (*b, self.empty_copy(*b))).collect();
        let mut of: HashMap<Value, Value> = HashMap::new();
        // SAFETY: live values and blocks of one function; the builder is positioned before something is built.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(self.next.ty()));
            for block in &self.blocks {
                LLVMPositionBuilderAtEnd(builder, copies[block].0);
                for i in block.instructions() {
                    let new = Value(LLVMInstructionClone(i.0));
                    LLVMInsertIntoBuilder(builder, new.0);
                    of.insert(i, new);
                }
            }
            for block in &self.blocks {
                for new in copies[block].instructions() {
                    self.redirect(new, &of, &copies);
                }
            }
            self.join_phis(builder, &of, &copies);
            // The last copy ends, and the first loop one iteration earlier.
            let end = copies[&self.latch].terminator();
            LLVMPositionBuilderBefore(builder, end.0);
            LLVMBuildBr(builder, self.after.0);
            end.erase();
            let exit = self.latch.terminator().operand(0);
            let one = LLVMConstInt(self.next.ty(), 1, 0);
            LLVMPositionBuilderBefore(builder, exit.0);
            LLVMSetOperand(exit.0, 0, LLVMBuildAdd(builder, self.next.0, one, NONE));
            let last = copies[&header];
            for (i, next) in (0u32..).zip(self.latch.successors()) {
                if next == self.after {
                    LLVMSetSuccessor(self.latch.terminator().0, i, last.0);
                }
            }
            let start = self.next.operand(0).incoming().into_iter().find(|(_, b)| *b == self.before);
            let start = start.map_or(self.bound, |(v, _)| v);
            let jump = self.before.terminator();
            LLVMPositionBuilderBefore(builder, jump.0);
            let second = LLVMBuildAdd(builder, start.0, one, NONE);
            let is_last = LLVMBuildICmp(builder, LLVMIntEQ, second, self.bound.0, NONE);
            LLVMBuildCondBr(builder, is_last, last.0, header.0);
            jump.erase();
            LLVMDisposeBuilder(builder);
            self.decide(&of);
        }
    }

    fn empty_copy(&self, block: Block) -> Block {
        // SAFETY: a live block.
        unsafe {
            let context = LLVMGetTypeContext(self.next.ty());
            let function = LLVMGetBasicBlockParent(block.0);
            let copy = LLVMAppendBasicBlockInContext(context, function, c"last".as_ptr());
            LLVMMoveBasicBlockBefore(copy, self.after.0);
            Block(copy)
        }
    }

    /// Lets an instruction of the copy use what is in the copy.
    unsafe fn redirect(&self, new: Value, of: &HashMap<Value, Value>, copies: &HashMap<Block, Block>) {
        // SAFETY: passed on from the caller.
        unsafe {
            if new.is(Op::LLVMPHI) {
                return;
            }
            for (i, operand) in (0u32..).zip(new.operands()) {
                if let Some(own) = of.get(&operand) {
                    LLVMSetOperand(new.0, i, own.0);
                }
            }
            if new.is_terminator() {
                for (i, next) in (0u32..).zip(new.parent().successors()) {
                    if let Some(own) = copies.get(&next) {
                        LLVMSetSuccessor(new.0, i, own.0);
                    }
                }
            }
        }
    }

    /// Phis of the copy, and of the block behind.
    unsafe fn join_phis(
        &self,
        builder: llvm_sys::prelude::LLVMBuilderRef,
        of: &HashMap<Value, Value>,
        copies: &HashMap<Block, Block>,
    ) {
        let mapped = |v: Value| of.get(&v).copied().unwrap_or(v);
        let rebuild = |phi: Value, incoming: Vec<(Value, Block)>| {
            // SAFETY: passed on from the caller.
            unsafe {
                LLVMPositionBuilderBefore(builder, phi.0);
                let new = Value(LLVMBuildPhi(builder, phi.ty(), NONE));
                for (value, from) in incoming {
                    LLVMAddIncoming(new.0, &mut { value.0 }, &mut { from.0 }, 1);
                }
                new.set_flags(phi.flags().unwrap_or(0));
                new
            }
        };
        let mut replaced = Vec::new();
        for block in &self.blocks {
            for phi in block.phis() {
                let is_header = *block == self.blocks[0];
                let incoming = phi.incoming().into_iter().map(|(value, from)| match is_header {
                    // From the latch of the first loop, or from before it.
                    true => (value, from),
                    false => (mapped(value), copies.get(&from).copied().unwrap_or(from)),
                });
                let copy = of[&phi];
                replaced.push((copy, rebuild(copy, incoming.collect())));
            }
        }
        for phi in self.after.phis() {
            let incoming = phi.incoming().into_iter().map(|(value, from)| match from == self.latch {
                true => (mapped(value), copies[&from]),
                false => (value, from),
            });
            replaced.push((phi, rebuild(phi, incoming.collect())));
        }
        for (old, new) in replaced {
            // SAFETY: both are live.
            unsafe { LLVMReplaceAllUsesWith(old.0, new.0) };
            old.erase();
        }
    }

    /// Puts constants in the place of the conditions.
    unsafe fn decide(&self, of: &HashMap<Value, Value>) {
        for (condition, earlier) in &self.conditions {
            for (one, holds) in [(*condition, *earlier), (of[condition], !*earlier)] {
                // SAFETY: a live condition; branches take a constant, too.
                unsafe {
                    let known = LLVMConstInt(one.ty(), u64::from(holds), 0);
                    LLVMReplaceAllUsesWith(one.0, known);
                }
            }
        }
    }
}

/// What a condition is in all iterations but the last, if it is the opposite there.
fn decided(condition: Value, next: Value, bound: Value) -> Option<bool> {
    if !condition.is(Op::LLVMICmp) || !ir::is_argument(next) && !condition.is_instruction() {
        return None;
    }
    let distance = sum(condition.operand(0)).plus(&sum(next), -1);
    let from_bound = sum(condition.operand(1)).plus(&sum(bound), -1);
    let is_same = distance == from_bound && distance.terms.is_empty();
    // SAFETY: a comparison; an addition.
    let (predicate, signed, unsigned) =
        unsafe { (LLVMGetICmpPredicate(condition.0), LLVMGetNSW(next.0) != 0, LLVMGetNUW(next.0) != 0) };
    match predicate {
        _ if !is_same => None,
        LLVMIntNE => Some(true),
        LLVMIntEQ => Some(false),
        LLVMIntSLT if signed => Some(true),
        LLVMIntSGE if signed => Some(false),
        LLVMIntULT if unsigned => Some(true),
        LLVMIntUGE if unsigned => Some(false),
        _ => None,
    }
}
