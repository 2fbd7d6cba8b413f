//! What enters a loop, goes from iteration to iteration, and leaves it.

use super::regions::Memory;
use super::slots::Kind;
use super::target::Target;
use super::{Refusal, refusal};
use crate::analysis::memory_objects::origins;
use crate::ir::{self, Block, Op, Value};
use core_ad::DType;
use std::collections::HashSet;

/// What goes on or out, and what comes in, must have a place.
pub fn check(target: &Target<'_>, memory: &Memory) -> Result<(), Refusal> {
    let advice = "Only numbers, integers and addresses can go from one iteration to the next.";
    if target.exits.is_empty() {
        return Err(refusal::of(target, target.latch.terminator(), "it never ends", advice));
    }
    if target.has(target.snapshots) {
        return Err(refusal::of(target, target.snapshots, "the number of snapshots is computed in it", advice));
    }
    let carried = target.header().phis();
    let leaving: Vec<Value> = exit_phis(target);
    let entering = inputs(target, memory);
    for value in carried.iter().chain(&leaving).chain(&entering).copied() {
        let Some(kind) = Kind::of(value) else {
            return Err(refusal::of(target, value, "a structure, a vector or a long number is carried by it", advice));
        };
        let outside = |o: &Value| memory.number(*o).is_none();
        if kind == Kind::Pointer
            && let Some(unknown) = origins(value).into_iter().find(outside)
        {
            return Err(refusal::unknown_memory(target, value, unknown));
        }
    }
    Ok(())
}

/// The phis of the blocks behind the loop.
pub fn exit_phis(target: &Target<'_>) -> Vec<Value> {
    let mut seen = HashSet::new();
    let blocks: Vec<Block> = target.exits.iter().map(|(_, _, to)| *to).filter(|to| seen.insert(*to)).collect();
    blocks.into_iter().flat_map(Block::phis).collect()
}

/// What the loop uses of the function around it, but its variables.
pub fn inputs(target: &Target<'_>, memory: &Memory) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut seen = HashSet::new();
    for i in target.instructions() {
        // What a phi of the header takes from before the loop is stored there.
        let from_before = i.is(Op::LLVMPHI) && i.parent() == target.header();
        for operand in i.operands() {
            let is_outside = ir::is_argument(operand) || operand.is_instruction() && !target.has(operand);
            if is_outside && !from_before && !memory.private.contains(&operand) && seen.insert(operand) {
                found.push(operand);
            }
        }
    }
    found
}

/// Whether what a pointer leads to may have a derivative.
pub fn may_be_active(pointer: Value, memory: &Memory) -> bool {
    let numbers: Vec<usize> = origins(pointer).into_iter().filter_map(|o| memory.number(o)).collect();
    numbers.is_empty() || numbers.iter().any(|n| memory.regions[*n].dtype.is_none_or(DType::is_float))
}

/// Whether a pointer may be null, or undefined, by a phi or a choice.
pub fn may_be_null(pointer: Value) -> bool {
    let (mut open, mut seen) = (vec![pointer], HashSet::new());
    while let Some(value) = open.pop() {
        if value.is_null_or_undefined() {
            return true;
        }
        if seen.insert(value) {
            match value.op() {
                Some(Op::LLVMGetElementPtr) => open.push(value.operand(0)),
                Some(Op::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
                Some(Op::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(incoming, _)| incoming)),
                _ => {}
            }
        }
    }
    false
}
