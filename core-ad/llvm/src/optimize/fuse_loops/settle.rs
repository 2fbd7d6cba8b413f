//! Knows what a cell holds when a loop touches it for the last time.
//!
//! ```text
//! for i: d = du[i]; du[i] = 0; ..; du[i-1] = du[i-1] + (c + ..)      // c = carried from the iteration before, 0 in the first
//! ```
//!
//! What is read of `du[i-1]` is the zero that the iteration before has stored, and in the first one what was there before the
//! loop. So neither the load nor that store is needed: the carried value starts with what was there. In general the zero
//! is stored `lag` cells ahead, and the first `lag` carried values start with what was there before.
//!
//! Behind the loop, `scatter-to-gather` adds the carried values to the cells ahead. Those that start with what was in their
//! cells are added to zero instead.

use super::{Context, access};
use crate::analysis::affine;
use crate::analysis::counted_loop::Place;
use crate::analysis::inner_loop::Loop;
use crate::ir::{Op, REASSOCIATE, Value};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Largest lag.
const WIDEST: i64 = 8;

/// Rewrites a loop.
pub fn run(one: &Loop, context: &Context<'_>) {
    let stores: Vec<Value> = one.block.instructions().into_iter().filter(|i| i.is(Op::LLVMStore)).collect();
    for zero in stores.iter().filter(|s| is_zero(s.operand(0))) {
        let found = stores.iter().find_map(|lead| Settled::of(*zero, *lead, one, context));
        if let Some(settled) = found {
            settled.rewrite(one);
            return;
        }
    }
}

/// Whether a value is positive zero.
fn is_zero(value: Value) -> bool {
    // SAFETY: asked of a live value.
    value.is_float() && unsafe { LLVMIsNull(value.0) } != 0
}

struct Settled {
    /// The store of zero, `carried.len()` cells ahead of the lead.
    zero: Value,
    /// The load of the lead, its user, and the store.
    load: Value,
    user: Value,
    store: Value,
    /// The carried values, by lag from 1.
    carried: Vec<Value>,
    /// Bytes from a cell to that of the next iteration.
    stride: i64,
}

impl Settled {
    fn of(zero: Value, store: Value, one: &Loop, context: &Context<'_>) -> Option<Settled> {
        let (pointer, ty) = access(store)?;
        let object = context.object(pointer)?;
        if zero == store || context.object(zero.operand(1)) != Some(object) || zero.operand(0).ty() != ty {
            return None;
        }
        let lead = context.place(pointer, one)?;
        let ahead = context.place(zero.operand(1), one)?;
        let distance = ahead.from(&lead)?;
        let stride = lead.stride;
        if stride.abs() != affine::size_of(ty, context.layout) || distance % stride != 0 {
            return None;
        }
        let lag = distance / stride;
        if !(1..=WIDEST).contains(&lag) {
            return None;
        }
        let (load, user) = lead_load(store, &lead, one, context)?;
        let is_known = |i: Value| i == load || i == store || i == zero || is_early_read(i, zero, &ahead, one, context);
        let others = context.objects.get(object);
        let inside = |i: &&Value| i.stands_in(one.block);
        if !others.reads.iter().chain(&others.writes).filter(inside).all(|i| is_known(*i)) {
            return None;
        }
        let carried = carried(store, lag, stride, one, context)?;
        Some(Settled { zero, load, user, store, carried, stride })
    }

    fn rewrite(&self, one: &Loop) {
        let ty = self.load.ty();
        // SAFETY: all handles are live; the cells are ones that the loop touches, or that stand between two such.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(ty));
            let context = LLVMGetTypeContext(ty);
            let cell = |from: LLVMValue, lag: usize| {
                let bytes = LLVMConstInt(LLVMInt64TypeInContext(context), (lag as i64 * self.stride) as u64, 1);
                LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context), from, [bytes].as_mut_ptr(), 1, c"".as_ptr())
            };
            LLVMPositionBuilderBefore(builder, one.before.terminator().0);
            let first = first_address(self.store.operand(1), one, builder);
            for (lag, phi) in self.carried.iter().enumerate() {
                let held = LLVMBuildLoad2(builder, ty, cell(first, lag), c"held".as_ptr());
                for (i, _) in (0..).zip(phi.incoming()).filter(|(_, (_, edge))| *edge == one.before) {
                    LLVMSetOperand(phi.0, i, held);
                }
            }
            LLVMPositionBuilderBefore(builder, one.after.first_after_phis().0);
            for lag in 1..=self.carried.len() {
                LLVMBuildStore(builder, LLVMConstNull(ty), cell(self.store.operand(1).0, lag));
            }
            LLVMDisposeBuilder(builder);
            let position = u32::from(self.user.operand(0) != self.load);
            LLVMSetOperand(self.user.0, position, LLVMConstNull(ty));
        }
        self.load.erase();
        self.zero.erase();
    }
}

type LLVMValue = llvm_sys::prelude::LLVMValueRef;

/// A pointer of a loop in the first iteration: its computation once more, before the loop.
unsafe fn first_address(pointer: Value, one: &Loop, builder: llvm_sys::prelude::LLVMBuilderRef) -> LLVMValue {
    if !pointer.stands_in(one.block) {
        return pointer.0;
    }
    if pointer.is(Op::LLVMPHI) {
        let start = pointer.incoming().into_iter().find(|(_, edge)| *edge == one.before);
        return start.map_or(pointer.0, |(value, _)| value.0);
    }
    // SAFETY: an instruction that only computes an address, of operands that are defined before it.
    unsafe {
        let operands: Vec<LLVMValue> = pointer.operands().into_iter().map(|o| first_address(o, one, builder)).collect();
        let copy = LLVMInstructionClone(pointer.0);
        for (i, operand) in (0..).zip(operands) {
            LLVMSetOperand(copy, i, operand);
        }
        LLVMInsertIntoBuilder(builder, copy);
        copy
    }
}

/// A read of the cell that is zeroed, before it is.
fn is_early_read(i: Value, zero: Value, ahead: &Place, one: &Loop, context: &Context<'_>) -> bool {
    let order = one.block.instructions();
    let at = |x: Value| order.iter().position(|o| *o == x);
    i.is(Op::LLVMLoad)
        && at(i) < at(zero)
        && i.ty() == zero.operand(0).ty()
        && context.place(i.operand(0), one).as_ref() == Some(ahead)
}

/// The load of the cell that a store adds to, and the addition that uses it.
fn lead_load(store: Value, lead: &Place, one: &Loop, context: &Context<'_>) -> Option<(Value, Value)> {
    terms(store.operand(0), one, false).into_iter().find(|(load, user)| {
        let same = || context.place(load.operand(0), one).as_ref() == Some(lead);
        load.is(Op::LLVMLoad) && load.users() == [*user] && load.ty() == store.operand(0).ty() && same()
    })
}

/// The terms of a sum, each with the addition that uses it. All additions may be reassociated; those below the last are used once.
fn terms(sum: Value, one: &Loop, shared: bool) -> Vec<(Value, Value)> {
    let (mut found, mut open) = (Vec::new(), vec![(sum, 0)]);
    while let Some((value, depth)) = open.pop() {
        let free = value.flags().is_some_and(|f| f & REASSOCIATE != 0);
        let single = value.users().len() == 1 || shared && value == sum;
        if depth > 8 || !value.is(Op::LLVMFAdd) || !value.stands_in(one.block) || !free || !single {
            continue;
        }
        for operand in [value.operand(0), value.operand(1)] {
            found.push((operand, value));
            open.push((operand, depth + 1));
        }
    }
    found
}

/// The first carried values: each is a term of what is added to the cell before, zero in the first iteration, and added behind the loop
/// to the cell that it is for.
fn carried(store: Value, lags: i64, stride: i64, one: &Loop, context: &Context<'_>) -> Option<Vec<Value>> {
    let mut found: Vec<Value> = Vec::new();
    let mut sum = store.operand(0);
    for lag in 1..=lags {
        let is_carried = |phi: &Value| {
            phi.is(Op::LLVMPHI)
                && phi.stands_in(one.block)
                && phi.users().len() == 1
                && phi.incoming().iter().any(|(value, edge)| *edge == one.before && is_zero(*value))
        };
        let phis: HashSet<Value> =
            terms(sum, one, lag > 1).into_iter().map(|(term, _)| term).filter(is_carried).collect();
        let for_lag = |phi: &Value| {
            let next = phi.incoming().into_iter().find(|(_, edge)| *edge == one.block)?.0;
            let ends = |user: &Value| *user == *phi || is_end(*user, next, store, lag * stride, one, context);
            (next.stands_in(one.block) && next.users().iter().all(ends) && next.users().len() == 2).then_some(next)
        };
        let (phi, next) = phis.iter().find_map(|phi| Some((*phi, for_lag(phi)?)))?;
        found.push(phi);
        sum = next;
    }
    Some(found)
}

/// Whether an instruction behind the loop adds a value to the cell that many bytes ahead of the last lead.
fn is_end(user: Value, value: Value, lead: Value, bytes: i64, one: &Loop, context: &Context<'_>) -> bool {
    let free = user.flags().is_some_and(|f| f & REASSOCIATE != 0);
    if !user.is(Op::LLVMFAdd) || !user.stands_in(one.after) || !free {
        return false;
    }
    let load = if user.operand(0) == value { user.operand(1) } else { user.operand(0) };
    let is_cell = |pointer: Value| {
        let places = affine::address(pointer, context.layout).zip(affine::address(lead.operand(1), context.layout));
        places.is_some_and(|((base, at), (lead, from))| {
            let distance = at.plus(&from, -1);
            base == lead && distance.terms.is_empty() && distance.constant == bytes
        })
    };
    let &[store] = &user.users()[..] else { return false };
    load.is(Op::LLVMLoad)
        && load.stands_in(one.after)
        && is_cell(load.operand(0))
        && store.is(Op::LLVMStore)
        && store.operand(0) == user
        && is_cell(store.operand(1))
}
