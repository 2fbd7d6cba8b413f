//! Splits an adjoint loop that adds to several rows of one array into a loop for each row.
//!
//! The adjoint of a stencil in two dimensions adds to the row above, to its own and to the one below:
//!
//! ```text
//! for j: d = dy[j];  dx[j-n] += a d;  dx[j-1] += b d;  dx[j+1] += b d;  dx[j+n] += a d;  dy[j] = 0
//! ```
//!
//! LLVM does not know that the rows are apart, and leaves such a loop scalar. But additions commute: the ones to each row
//! may come before all others, whether rows overlap or not. A row's own loop vectorises, after `scatter-to-gather` where it has
//! neighbours in the row. The values that are added are computed again in each, which is done where that is little work.
//!
//! It is done where the flags allow the order (`reassoc`), where nothing else in the loop touches the array, and where what
//! the values are computed from is not changed by earlier iterations.

use super::inner_loops;
use crate::analysis::affine::{self, Linear};
use crate::analysis::inner_loop::{self, Accumulation, Loop};
use crate::analysis::memory_objects::Objects;
use crate::ir::{Block, Op, Result, Value};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// Most instructions that are computed again for a row.
const MOST_WORK: usize = 40;
/// Most rows.
const MOST_ROWS: usize = 8;

/// Splits every loop that can be.
pub fn run(module: &Module<'_>) -> Result<()> {
    inner_loops::rewrite(module, |one, objects, layout| {
        let rows = rows(one, objects, layout);
        let mut before = one.before;
        for row in &rows {
            before = split_off(one, before, row);
        }
        !rows.is_empty()
    })
}

/// The rows to be split off, each with its additions; one row stays where it is.
fn rows(one: &Loop, objects: &Objects, layout: &TargetData) -> Vec<Vec<Accumulation>> {
    let mut rows: Vec<(Value, Linear, Vec<Accumulation>)> = Vec::new();
    for accumulation in inner_loop::accumulations(one.block, objects, layout) {
        let place = Linear { constant: 0, ..accumulation.distance.clone() };
        match rows.iter_mut().find(|(base, at, _)| *base == accumulation.base && *at == place) {
            Some((_, _, members)) => members.push(accumulation),
            None => rows.push((accumulation.base, place, vec![accumulation])),
        }
    }
    // Rows of a stride that is not one element do not vectorise.
    rows.retain(|(_, place, members)| {
        let size = affine::size_of(members[0].load.ty(), layout);
        place.stride(one.block).is_some_and(|s| s.abs() == size)
    });
    let bases: Vec<Value> = rows.iter().map(|(base, _, _)| *base).collect();
    // An array with one row is no matter for LLVM.
    rows.retain(|(base, _, _)| bases.iter().filter(|b| *b == base).count() > 1);
    // The one with the most additions stays.
    rows.sort_by_key(|(_, _, members)| members.len());
    rows.pop();
    let can_split = |row: &(Value, Linear, Vec<Accumulation>)| is_little_work(one, &row.2, objects, layout);
    if rows.len() >= MOST_ROWS || !rows.iter().all(can_split) || !is_plain_loop(one) {
        return Vec::new();
    }
    rows.into_iter().map(|(_, _, members)| members).collect()
}

/// Whether the block before leads here only, and nothing but the counting ends the loop.
fn is_plain_loop(one: &Loop) -> bool {
    let end = one.block.terminator();
    one.before.successors().len() == 1
        && end.is(Op::LLVMBr)
        && slice([end], one.block).iter().all(|i| !i.is(Op::LLVMLoad) && !i.is(Op::LLVMCall))
}

/// The instructions of a block that others need, with them.
fn slice(of: impl IntoIterator<Item = Value>, block: Block) -> HashSet<Value> {
    let (mut found, mut open) = (HashSet::new(), of.into_iter().collect::<Vec<_>>());
    while let Some(value) = open.pop() {
        if value.stands_in(block) && found.insert(value) {
            open.extend(value.operands());
        }
    }
    found
}

/// Whether the additions of a row can be computed apart, at little cost, from what is there before the loop.
fn is_little_work(one: &Loop, row: &[Accumulation], objects: &Objects, layout: &TargetData) -> bool {
    let own: HashSet<Value> = row.iter().flat_map(Accumulation::parts).collect();
    let needed = slice(row.iter().map(|a| a.store).chain([one.block.terminator()]), one.block);
    needed.len() <= MOST_WORK
        && needed.iter().all(|i| match i.op() {
            _ if own.contains(i) => true,
            Some(Op::LLVMLoad) => !i.is_special() && is_unchanged(*i, one, objects, layout),
            Some(Op::LLVMStore | Op::LLVMCall | Op::LLVMFDiv | Op::LLVMFRem | Op::LLVMUDiv | Op::LLVMSDiv) => false,
            Some(Op::LLVMPHI) => affine::step(*i, one.block).is_some(),
            Some(_) => true,
            None => false,
        })
}

/// Whether a load reads in every iteration what was there before the loop.
fn is_unchanged(load: Value, one: &Loop, objects: &Objects, layout: &TargetData) -> bool {
    let instructions = one.block.instructions();
    let writes = instructions.iter().filter(|i| may_write(**i));
    let place = affine::address(load.operand(0), layout);
    let size = affine::size_of(load.ty(), layout);
    let at = |x: Value| instructions.iter().position(|i| *i == x);
    writes.into_iter().all(|write| {
        if !write.is(Op::LLVMStore) || write.is_special() {
            return false;
        }
        let (read, written) = (objects.underlying(load.operand(0)), objects.underlying(write.operand(1)));
        let is_own = |o: &[usize]| matches!(o, &[object] if !objects.get(object).escapes);
        if (is_own(read) && !written.contains(&read[0])) || (is_own(written) && !read.contains(&written[0])) {
            return true;
        }
        // The cell of this iteration, written after it is read.
        let same_cell = place.is_some() && affine::address(write.operand(1), layout) == place;
        let fits = affine::size_of(write.operand(0).ty(), layout) == size
            && place.as_ref().is_some_and(|(_, d)| d.stride(one.block).is_some_and(|s| s.abs() >= size));
        same_cell && fits && at(load) < at(*write)
    })
}

fn may_write(i: Value) -> bool {
    match i.op() {
        Some(Op::LLVMCall) => !i.only_computes(),
        Some(Op::LLVMStore | Op::LLVMFence | Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg | Op::LLVMInvoke) => true,
        _ => false,
    }
}

/// Puts a loop for a row before the loop, behind a block; returns the block behind it.
fn split_off(one: &Loop, before: Block, row: &[Accumulation]) -> Block {
    let needed = slice(row.iter().map(|a| a.store).chain([one.block.terminator()]), one.block);
    // SAFETY: all handles are live until they are erased; copies refer to copies of what was copied before, and their
    // phis to the two edges of the new loop.
    let behind = unsafe {
        let context = LLVMGetTypeContext(row[0].load.ty());
        let function = LLVMGetBasicBlockParent(one.block.0);
        let builder = LLVMCreateBuilderInContext(context);
        let [new, behind] = [c"row", c"rows"].map(|name| {
            let block = LLVMAppendBasicBlockInContext(context, function, name.as_ptr());
            LLVMMoveBasicBlockBefore(block, one.block.0);
            Block(block)
        });
        LLVMPositionBuilderAtEnd(builder, behind.0);
        LLVMBuildBr(builder, one.block.0);
        LLVMPositionBuilderAtEnd(builder, new.0);
        let mut copies: HashMap<Value, Value> = HashMap::new();
        for i in one.block.instructions().into_iter().filter(|i| needed.contains(i)) {
            let copy = if i.is(Op::LLVMPHI) { LLVMBuildPhi(builder, i.ty(), c"".as_ptr()) } else { clone(builder, i) };
            copies.insert(i, Value(copy));
        }
        for (i, copy) in &copies {
            if i.is(Op::LLVMPHI) {
                for (value, edge) in i.incoming() {
                    let value = copies.get(&value).unwrap_or(&value);
                    let edge = if edge == one.block { new } else { before };
                    LLVMAddIncoming(copy.0, [value.0].as_mut_ptr(), [edge.0].as_mut_ptr(), 1);
                }
                continue;
            }
            for (k, operand) in (0..).zip(i.operands()) {
                if let Some(copied) = copies.get(&operand) {
                    LLVMSetOperand(copy.0, k, copied.0);
                }
            }
        }
        let end = new.terminator();
        for (k, to) in (0..).zip(one.block.successors()) {
            LLVMSetSuccessor(end.0, k, if to == one.block { new.0 } else { behind.0 });
        }
        LLVMSetSuccessor(before.terminator().0, 0, new.0);
        move_phis(builder, one, before, behind);
        LLVMDisposeBuilder(builder);
        behind
    };
    for accumulation in row {
        forget(accumulation);
    }
    behind
}

unsafe fn clone(builder: llvm_sys::prelude::LLVMBuilderRef, i: Value) -> llvm_sys::prelude::LLVMValueRef {
    // SAFETY: passed on from the caller.
    unsafe {
        let copy = LLVMInstructionClone(i.0);
        LLVMInsertIntoBuilder(builder, copy);
        copy
    }
}

/// Lets the phis of the loop come from another block.
unsafe fn move_phis(builder: llvm_sys::prelude::LLVMBuilderRef, one: &Loop, from: Block, to: Block) {
    for phi in one.block.phis() {
        // SAFETY: passed on from the caller: each new phi has the old one's values, by edge.
        unsafe {
            LLVMPositionBuilderBefore(builder, phi.0);
            let moved = LLVMBuildPhi(builder, phi.ty(), c"".as_ptr());
            for (value, edge) in phi.incoming() {
                let value = if value == phi { Value(moved) } else { value };
                let edge = if edge == from { to } else { edge };
                LLVMAddIncoming(moved, [value.0].as_mut_ptr(), [edge.0].as_mut_ptr(), 1);
            }
            LLVMReplaceAllUsesWith(phi.0, moved);
        }
        phi.erase();
    }
}

/// Drops an addition from the loop; what it added is then used no more.
fn forget(accumulation: &Accumulation) {
    let position = u32::from(accumulation.user.operand(0) != accumulation.load);
    // SAFETY: the load is that operand, and zero has its type.
    unsafe { LLVMSetOperand(accumulation.user.0, position, LLVMConstNull(accumulation.load.ty())) };
    accumulation.store.erase();
    accumulation.load.erase();
}
