//! One-block loops, frequent in the reverse sweep, and the accumulations (`*cell += value`) in them.

use crate::analysis::affine::{self, Linear};
use crate::analysis::memory_objects::Objects;
use crate::ir::{Block, Op, REASSOCIATE, Value};
use inkwell::targets::TargetData;
use std::collections::HashSet;

/// A loop of one block, with one predecessor outside, and one exit block that has no other predecessor.
pub struct Loop {
    /// The block.
    pub block: Block,
    /// The predecessor outside.
    pub before: Block,
    /// The exit block.
    pub after: Block,
}

impl Loop {
    /// Of a block, if that is such a loop.
    pub fn of(block: Block) -> Option<Loop> {
        let others = |blocks: Vec<Block>| match blocks[..] {
            [a, b] if a == block && b != block => Some(b),
            [a, b] if b == block && a != block => Some(a),
            _ => None,
        };
        let (before, after) = (others(block.predecessors())?, others(block.successors())?);
        (after.predecessors() == [block]).then_some(Loop { block, before, after })
    }
}

/// `*cell += value`: a load, a sum with the loaded value in it, a store of the sum to where it came from.
pub struct Accumulation {
    /// The load.
    pub load: Value,
    /// The store.
    pub store: Value,
    /// The one user of the loaded value.
    pub user: Value,
    /// The base pointer of the cell's address.
    pub base: Value,
    /// The offset from it.
    pub distance: Linear,
}

impl Accumulation {
    /// The load and the store.
    pub fn parts(&self) -> [Value; 2] {
        [self.load, self.store]
    }

    fn of(store: Value, block: Block, layout: &TargetData) -> Option<Accumulation> {
        let (sum, pointer) = (store.operand(0), store.operand(1));
        let (base, distance) = affine::address(pointer, layout)?;
        let same =
            |load: &Value| affine::address(load.operand(0), layout).is_some_and(|a| a == (base, distance.clone()));
        let (load, user) = addends(sum, block, 0).into_iter().find(|(l, _)| same(l) && l.ty() == sum.ty())?;
        (load.users() == [user]).then_some(Accumulation { load, store, user, base, distance })
    }
}

/// The loads among the terms of a sum, each with the operation that uses it. Every operation in between may be
/// reassociated and has no other use.
fn addends(sum: Value, block: Block, depth: u32) -> Vec<(Value, Value)> {
    let free = sum.flags().is_some_and(|f| f & REASSOCIATE != 0) && sum.users().len() == 1;
    if depth > 8 || !sum.stands_in(block) || !free {
        return Vec::new();
    }
    let operands = match sum.op() {
        Some(Op::LLVMFAdd) => vec![sum.operand(0), sum.operand(1)],
        Some(Op::LLVMFSub) => vec![sum.operand(0)],
        _ => Vec::new(),
    };
    let one = |value: Value| match value.is(Op::LLVMLoad) && value.stands_in(block) && !value.is_special() {
        true => vec![(value, sum)],
        false => addends(value, block, depth + 1),
    };
    operands.into_iter().flat_map(one).collect()
}

/// The accumulations of a loop into memory that nothing else in the loop touches.
pub fn accumulations(block: Block, objects: &Objects, layout: &TargetData) -> Vec<Accumulation> {
    let instructions = block.instructions();
    let stores = instructions.iter().filter(|i| i.is(Op::LLVMStore) && !i.is_special());
    let mut found: Vec<Accumulation> = stores.filter_map(|s| Accumulation::of(*s, block, layout)).collect();
    let known: HashSet<Value> = found.iter().flat_map(Accumulation::parts).collect();
    found.retain(|a| is_undisturbed(a, block, objects, &known));
    found
}

/// Whether everything in the loop that touches the cell's memory is an accumulation.
fn is_undisturbed(a: &Accumulation, block: Block, objects: &Objects, known: &HashSet<Value>) -> bool {
    let &[object] = objects.underlying(a.store.operand(1)) else { return false };
    let object = objects.get(object);
    let inside = object.reads.iter().chain(&object.writes).filter(|i| i.stands_in(block));
    !object.escapes && inside.into_iter().all(|i| known.contains(i))
}

/// The addition of `sum = phi + term`, where the loop is this one block and uses neither for anything else.
pub fn plain_sum(block: Block, phi: Value) -> Option<Value> {
    let incoming = phi.incoming();
    if !phi.is_float() || incoming.len() != 2 {
        return None;
    }
    let sum = incoming.iter().find(|(_, from)| *from == block)?.0;
    let adds = match sum.op()? {
        Op::LLVMFAdd => true,
        // `term - phi` negates the previous sum in every iteration.
        Op::LLVMFSub => sum.operand(0) == phi,
        Op::LLVMCall => sum.callee()?.starts_with("llvm.fmuladd.") && sum.operand(2) == phi,
        _ => false,
    };
    (adds && phi.users_in(block) == [sum] && sum.users_in(block) == [phi]).then_some(sum)
}
