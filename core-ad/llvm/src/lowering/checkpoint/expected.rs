//! How many iterations a loop makes, where a counter says so: a guess by which snapshots are placed. A wrong one costs time, no more.

use super::target::Target;
use crate::ir::{Op, Value};
use crate::lowering::caught::build::Edit;
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;

/// The number of iterations, computed before the loop; -1 where that is not known. To be asked as long as the loop has its phis.
pub fn iterations(edit: &Edit, target: &Target<'_>) -> Value {
    let mut ends: Vec<Value> = target.exits.iter().map(|(from, _, _)| from.terminator()).collect();
    // What ends the loop regularly is its condition, at the bottom or at the top.
    ends.sort_by_key(|end| (end.parent() != target.latch, end.parent() != target.header()));
    edit.before(target.before.terminator());
    let found = ends.into_iter().find_map(|end| by_counter(edit, target, end));
    // SAFETY: a constant.
    found.unwrap_or_else(|| Value(unsafe { LLVMConstAllOnes(edit.i64) }))
}

fn by_counter(edit: &Edit, target: &Target<'_>, end: Value) -> Option<Value> {
    if !end.is(Op::LLVMBr) || end.operands().len() != 3 || !end.operand(0).is(Op::LLVMICmp) {
        return None;
    }
    let condition = end.operand(0);
    let (left, right) = (condition.operand(0), condition.operand(1));
    let (counter, bound) = match (target.has(left), target.has(right)) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        _ => return None,
    };
    let is_header_phi = |v: Value| v.is(Op::LLVMPHI) && v.parent() == target.header();
    let (phi, is_next) = match counter.op() {
        Some(Op::LLVMAdd) if is_header_phi(counter.operand(0)) => (counter.operand(0), true),
        _ if is_header_phi(counter) => (counter, false),
        _ => return None,
    };
    let from = |inside: bool| phi.incoming().into_iter().find(|(_, b)| (*b == target.latch) == inside).map(|(v, _)| v);
    let (start, next) = (from(false)?, from(true)?);
    if !next.is(Op::LLVMAdd) || next.operand(0) != phi || bound.is_pointer() {
        return None;
    }
    let step = next.operand(1).constant().filter(|s| *s != 0)?;
    // SAFETY: integers that are known before the loop, where the builder stands.
    unsafe {
        let inclusive = matches!(
            LLVMGetICmpPredicate(condition.0),
            LLVMIntPredicate::LLVMIntSLE
                | LLVMIntPredicate::LLVMIntULE
                | LLVMIntPredicate::LLVMIntSGE
                | LLVMIntPredicate::LLVMIntUGE
        );
        let wide = |v: Value| LLVMBuildIntCast2(edit.builder, v.0, edit.i64, 1, c"".as_ptr());
        let distance = LLVMBuildSub(edit.builder, wide(bound), wide(start), c"".as_ptr());
        let (distance, size) = match step > 0 {
            true => (distance, step.unsigned_abs()),
            false => (LLVMBuildNeg(edit.builder, distance, c"".as_ptr()), step.unsigned_abs()),
        };
        let more = size - 1 + u64::from(inclusive);
        let sum = LLVMBuildAdd(edit.builder, distance, edit.number(more), c"".as_ptr());
        let quotient = LLVMBuildSDiv(edit.builder, sum, edit.number(size), c"".as_ptr());
        let count = LLVMBuildAdd(edit.builder, quotient, edit.number(u64::from(!is_next)), c"".as_ptr());
        Some(Value(count))
    }
}
