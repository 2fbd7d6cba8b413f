//! When two adjacent loops can be one: they run equally often, the second uses no value of the first, and no iteration of the first
//! touches memory that an earlier one of the second touches, unless both only read it.

use super::{Context, access};
use crate::analysis::affine;
use crate::analysis::counted_loop;
use crate::analysis::inner_loop::Loop;
use crate::ir::{Op, Value};

/// Whether the loops can be one.
pub fn can_fuse(first: &Loop, second: &Loop, context: &Context<'_>) -> bool {
    let counts = counted_loop::count(first, context.facts).zip(counted_loop::count(second, context.facts));
    let (one, two) = (first.block.instructions(), second.block.instructions());
    counts.is_some_and(|(a, b)| a == b)
        && one.iter().chain(&two).all(|i| is_plain(*i))
        && one.iter().all(|i| !i.users().iter().any(|u| u.stands_in(second.block)))
        && one.iter().all(|x| two.iter().all(|y| may_swap((*x, first), (*y, second), context)))
}

/// Whether an instruction does nothing but compute, or read or write plain memory.
fn is_plain(i: Value) -> bool {
    match i.op() {
        Some(Op::LLVMLoad | Op::LLVMStore) => !i.is_special(),
        Some(Op::LLVMCall) => i.only_computes(),
        Some(
            Op::LLVMFence
            | Op::LLVMAtomicRMW
            | Op::LLVMAtomicCmpXchg
            | Op::LLVMVAArg
            | Op::LLVMAlloca
            | Op::LLVMInvoke
            | Op::LLVMCallBr,
        ) => false,
        Some(_) => true,
        None => false,
    }
}

/// Whether an access of the first loop may come behind those of earlier iterations of the second.
fn may_swap((x, first): (Value, &Loop), (y, second): (Value, &Loop), context: &Context<'_>) -> bool {
    let (Some((at_x, ty_x)), Some((at_y, ty_y))) = (access(x), access(y)) else { return true };
    if x.is(Op::LLVMLoad) && y.is(Op::LLVMLoad) {
        return true;
    }
    let (objects_x, objects_y) = (context.objects.underlying(at_x), context.objects.underlying(at_y));
    let apart = || match (context.object(at_x), context.object(at_y)) {
        (Some(a), Some(b)) => a != b,
        // Memory that is not known is none of the objects whose address nobody else has.
        (Some(a), None) => !objects_y.contains(&a),
        (None, Some(b)) => !objects_x.contains(&b),
        (None, None) => false,
    };
    if apart() {
        return true;
    }
    let places = context.place(at_x, first).zip(context.place(at_y, second));
    let Some((distance, stride)) = places.and_then(|(x, y)| Some((y.from(&x)?, x.stride))) else { return false };
    let size = affine::size_of(ty_x, context.layout).max(affine::size_of(ty_y, context.layout));
    // In iterations i and j < i they are `stride * (i - j) - distance` bytes apart, the least for i - j = 1.
    match stride.signum() {
        1 => distance <= stride - size,
        -1 => -distance <= -stride - size,
        _ => false,
    }
}
