//! Rewrites the scattering adjoint loop of a stencil as a gathering one, which LLVM can vectorise.
//!
//! The adjoint of `y[i] = a x[i-1] + b x[i] + c x[i+1]` is a loop that adds to three neighbours in every iteration:
//!
//! ```text
//! for i: dx[i-1] += a dy[i];  dx[i] += b dy[i];  dx[i+1] += c dy[i]
//! ```
//!
//! Every iteration adds to cells of neighbouring iterations, so the loop cannot be vectorised, and each cell is loaded and
//! stored three times. But additions commute. Here a value for a cell ahead is carried in a phi to the iteration that
//! touches the cell last:
//!
//! ```text
//! for i: dx[i-1] += a dy[i] + (b dy)[i-1] + (c dy)[i-2]      // the two are loop-carried
//! dx[n-1] += (b dy)[n-1] + (c dy)[n-2];  dx[n] += (c dy)[n-1]
//! ```
//!
//! which LLVM vectorises (a loop-carried value is a shuffle). The order of additions to a cell changes, so this is done only
//! where the flags allow it (`reassoc`), and only where nothing else in the loop touches that memory.

use super::inner_loops;
use crate::analysis::affine::{self, Linear};
use crate::analysis::inner_loop::{self, Accumulation, Loop};
use crate::analysis::memory_objects::Objects;
use crate::ir::{Block, Result, Value};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use std::collections::BTreeMap;

/// Largest distance in cells within a group; more loop-carried values than this do not pay.
const WIDEST: i64 = 16;

/// Accumulations to neighbouring cells; `lag` iterations after one adds to a cell ahead, the lead adds to it too.
struct Group {
    /// By lag; the lead has lag 0.
    members: BTreeMap<i64, Vec<Accumulation>>,
    /// Bytes from the cell of an iteration to that of the next.
    stride: i64,
}

/// The groups of a loop that can be rewritten.
fn groups(one: &Loop, objects: &Objects, layout: &TargetData) -> Vec<Group> {
    let mut by_place: Vec<(Value, Linear, Vec<Accumulation>)> = Vec::new();
    for accumulation in inner_loop::accumulations(one.block, objects, layout) {
        let place = Linear { constant: 0, ..accumulation.distance.clone() };
        match by_place.iter_mut().find(|(base, at, _)| *base == accumulation.base && *at == place) {
            Some((_, _, members)) => members.push(accumulation),
            None => by_place.push((accumulation.base, place, vec![accumulation])),
        }
    }
    by_place.into_iter().filter_map(|(_, place, members)| group(&place, members, one.block, layout)).collect()
}

fn group(place: &Linear, members: Vec<Accumulation>, block: Block, layout: &TargetData) -> Option<Group> {
    let stride = place.stride(block)?;
    let ty = members[0].load.ty();
    if stride.abs() != affine::size_of(ty, layout) || members.iter().any(|a| a.load.ty() != ty) {
        return None;
    }
    // The last iteration that touches a cell has its lead there: the lowest cell of a loop that counts up.
    let position = |a: &Accumulation| (a.distance.constant % stride == 0).then(|| a.distance.constant / stride);
    let positions: Vec<i64> = members.iter().map(position).collect::<Option<_>>()?;
    let first = *positions.iter().min()?;
    let mut by_lag: BTreeMap<i64, Vec<Accumulation>> = BTreeMap::new();
    for (member, position) in members.into_iter().zip(positions) {
        by_lag.entry(position - first).or_default().push(member);
    }
    let widest = *by_lag.keys().next_back()?;
    // A gap would let the end of the loop add zero to a cell that it never touched.
    let gapless = by_lag.len() as i64 == widest + 1;
    ((1..=WIDEST).contains(&widest) && gapless).then_some(Group { members: by_lag, stride })
}

/// Rewrites the groups of every loop.
pub fn run(module: &Module<'_>) -> Result<()> {
    inner_loops::rewrite(module, |one, objects, layout| {
        let groups = groups(one, objects, layout);
        groups.iter().for_each(|group| rewrite(one, group));
        !groups.is_empty()
    })
}

fn rewrite(one: &Loop, group: &Group) {
    let lead = &group.members[&0][0];
    let pointer = lead.store.operand(1);
    let ty = lead.load.ty();
    // SAFETY: every handle is of a live value of the module being rewritten; the builder is disposed of at the end.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(ty));
        let values = take_values(group, ty);
        let carried = carry(builder, one, ty, &values);
        LLVMPositionBuilderBefore(builder, one.block.terminator().0);
        add_to(builder, pointer.0, carried[0], ty);
        LLVMPositionBuilderBefore(builder, one.after.first_after_phis().0);
        for (lag, value) in carried.iter().enumerate().skip(1) {
            let bytes =
                LLVMConstInt(LLVMInt64TypeInContext(LLVMGetTypeContext(ty)), (lag as i64 * group.stride) as u64, 1);
            let byte = LLVMInt8TypeInContext(LLVMGetTypeContext(ty));
            let cell = LLVMBuildGEP2(builder, byte, pointer.0, [bytes].as_mut_ptr(), 1, c"".as_ptr());
            add_to(builder, cell, *value, ty);
        }
        LLVMDisposeBuilder(builder);
    }
    for accumulation in group.members.values().flatten() {
        accumulation.store.erase();
        accumulation.load.erase();
    }
}

/// What each lag adds: the stored sums without the loaded cell, which zero takes the place of.
unsafe fn take_values(group: &Group, ty: LLVMTypeRef) -> Vec<Vec<LLVMValueRef>> {
    // SAFETY: `ty` is a live type.
    let zero = unsafe { LLVMConstNull(ty) };
    let take = |a: &Accumulation| {
        let position = if a.user.operand(0) == a.load { 0 } else { 1 };
        // SAFETY: the load is that operand, and a floating-point zero has its type.
        unsafe { LLVMSetOperand(a.user.0, position, zero) };
        a.store.operand(0).0
    };
    group.members.values().map(|members| members.iter().map(take).collect()).collect()
}

/// `carried[lag]`: the sum of what this and earlier iterations add to the cell `lag` iterations ahead.
unsafe fn carry(
    builder: LLVMBuilderRef,
    one: &Loop,
    ty: LLVMTypeRef,
    values: &[Vec<LLVMValueRef>],
) -> Vec<LLVMValueRef> {
    let mut carried = vec![std::ptr::null_mut(); values.len()];
    let mut ahead: Option<LLVMValueRef> = None;
    for lag in (0..values.len()).rev() {
        // SAFETY: passed on from the caller; every value is defined in the block before its end.
        unsafe {
            LLVMPositionBuilderBefore(builder, one.block.terminator().0);
            let mut sum = ahead;
            for value in &values[lag] {
                sum = Some(sum.map_or(*value, |s| add(builder, s, *value)));
            }
            carried[lag] = sum.unwrap_or_else(|| LLVMConstNull(ty));
            if lag == 0 {
                break;
            }
            LLVMPositionBuilderBefore(builder, one.block.instructions()[0].0);
            let phi = LLVMBuildPhi(builder, ty, c"carried".as_ptr());
            let (mut from, mut edges) = ([LLVMConstNull(ty), carried[lag]], [one.before.0, one.block.0]);
            LLVMAddIncoming(phi, from.as_mut_ptr(), edges.as_mut_ptr(), 2);
            ahead = Some(phi);
        }
    }
    carried
}

unsafe fn add_to(builder: LLVMBuilderRef, pointer: LLVMValueRef, value: LLVMValueRef, ty: LLVMTypeRef) {
    // SAFETY: passed on from the caller: the pointer is to a value of the type.
    unsafe {
        let old = LLVMBuildLoad2(builder, ty, pointer, c"cell".as_ptr());
        LLVMBuildStore(builder, add(builder, old, value), pointer);
    }
}

unsafe fn add(builder: LLVMBuilderRef, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: passed on from the caller.
    let sum = Value(unsafe { LLVMBuildFAdd(builder, a, b, c"".as_ptr()) });
    sum.set_flags(super::fast_math::DERIVATIVE);
    sum.0
}
