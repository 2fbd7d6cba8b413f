//! Reverses count-down loops of the adjoint so that they count up, where iterations may run in any order.
//!
//! The reverse sweep counts down. Vectorised, a count-down loop reverses every vector it loads or stores: one shuffle each.
//! Where iterations only add (sums, cells that are added to) or each uses a cell of its own, they can run in increasing
//! order. (Where the source counted down, the adjoint's addresses go up already, and it is left alone.)
//!
//! But the caches still hold what the forward sweep read last, and the reverse sweep reads the tape and the user's arrays
//! backwards as one stream, which inner loops that count up would interrupt. So only loops are reversed that visit the
//! same cells again and again: inner loops whose addresses do not depend on the outer induction variable.

use super::inner_loops;
use crate::analysis::affine::{self, Linear};
use crate::analysis::inner_loop::{self, Loop};
use crate::analysis::memory_objects::Objects;
use crate::ir::{Block, Op, Result, Value};
use inkwell::module::Module;
use inkwell::targets::TargetData;
use llvm_sys::LLVMIntPredicate;
use llvm_sys::core::*;
use std::collections::HashSet;

/// Reverses every loop that counts down to 0 or 1 and may be reversed.
pub fn run(module: &Module<'_>) -> Result<()> {
    inner_loops::rewrite(module, |one, objects, layout| {
        if let Some(counter) = Countdown::of(one)
            && has_any_order(one, &counter, objects, layout)
            && revisits_same_cells(one, layout)
            && descends(one, layout)
        {
            counter.reverse(one);
        }
        // No access to memory changes.
        false
    })
}

/// `c = phi [start, before], [c - 1, block]`, left when `c` (or `c - 1`) is 0.
struct Countdown {
    phi: Value,
    start: Value,
    condition: Value,
    /// The last value of `c`.
    last: i64,
}

impl Countdown {
    fn of(one: &Loop) -> Option<Countdown> {
        let branch = one.block.terminator();
        let condition = branch.operands().into_iter().next().filter(|c| c.is(Op::LLVMICmp) && c.users() == [branch])?;
        // SAFETY: `condition` is an integer comparison.
        let is_equal = unsafe { LLVMGetICmpPredicate(condition.0) } == LLVMIntPredicate::LLVMIntEQ;
        if !is_equal || one.block.successors() != [one.after, one.block] || condition.operand(1).constant() != Some(0) {
            return None;
        }
        let tested = condition.operand(0);
        let counts_down = |phi: &Value| affine::step(*phi, one.block) == Some(-1);
        one.block.phis().into_iter().filter(counts_down).find_map(|phi| {
            let next = phi.incoming().into_iter().find(|(_, from)| *from == one.block)?.0;
            let start = phi.incoming().into_iter().find(|(_, from)| *from == one.before)?.0;
            let last = if tested == phi { 0 } else { (tested == next).then_some(1)? };
            Some(Countdown { phi, start, condition, last })
        })
    }

    /// The same values of `c`, in increasing order.
    fn reverse(&self, one: &Loop) {
        let ty = self.phi.ty();
        // SAFETY: all handles are live, and every new operand has the counter's type.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(ty));
            LLVMPositionBuilderBefore(builder, one.block.terminator().0);
            let up = LLVMBuildAdd(builder, self.phi.0, LLVMConstInt(ty, 1, 0), c"up".as_ptr());
            for (i, (_, from)) in (0..).zip(self.phi.incoming()) {
                let value = if from == one.block { up } else { LLVMConstInt(ty, self.last as u64, 0) };
                LLVMSetOperand(self.phi.0, i, value);
            }
            LLVMSetOperand(self.condition.0, 0, self.phi.0);
            LLVMSetOperand(self.condition.0, 1, self.start.0);
            LLVMDisposeBuilder(builder);
        }
    }
}

/// Whether the loop is nested in another, each iteration of which visits the same cells.
fn revisits_same_cells(one: &Loop, layout: &TargetData) -> bool {
    let fixed = |v: &Value| !v.is_instruction() || v.stands_in(one.block) || !is_repeated(v.parent());
    let same = |p: Value| {
        affine::address(p, layout).is_some_and(|(base, distance)| fixed(&base) && distance.terms.keys().all(fixed))
    };
    is_repeated(one.before) && pointers(one).into_iter().all(same)
}

/// The pointers of the loop's loads and stores.
fn pointers(one: &Loop) -> Vec<Value> {
    let pointer = |i: Value| match i.op()? {
        Op::LLVMLoad => Some(i.operand(0)),
        Op::LLVMStore => Some(i.operand(1)),
        _ => None,
    };
    one.block.instructions().into_iter().filter_map(pointer).collect()
}

/// Whether addresses mostly go down with the counter. Those of a loop that counted down in the source go up in the adjoint already.
fn descends(one: &Loop, layout: &TargetData) -> bool {
    let strides = pointers(one).into_iter().filter_map(|p| affine::address(p, layout)?.1.stride(one.block));
    strides.map(i64::signum).sum::<i64>() <= 0
}

/// Whether a block can reach itself.
fn is_repeated(block: Block) -> bool {
    let (mut reached, mut next) = (HashSet::new(), block.successors());
    while let Some(one) = next.pop() {
        if reached.insert(one) {
            next.extend(one.successors());
        }
    }
    reached.contains(&block)
}

/// Whether the iterations of a loop may run in any order.
fn has_any_order(one: &Loop, counter: &Countdown, objects: &Objects, layout: &TargetData) -> bool {
    let block = one.block;
    let sums: Vec<(Value, Value)> =
        block.phis().into_iter().filter_map(|p| Some((p, inner_loop::plain_sum(block, p)?))).collect();
    let free = |sum: Value| sum.flags().is_some_and(|f| f & crate::ir::REASSOCIATE != 0);
    let phis_agree =
        block.phis().into_iter().all(|p| p == counter.phi || sums.iter().any(|(phi, sum)| *phi == p && free(*sum)));
    let added: HashSet<Value> =
        inner_loop::accumulations(block, objects, layout).iter().flat_map(|a| a.parts()).collect();
    phis_agree
        && block.instructions().into_iter().all(|i| {
            let stays = || i.users().into_iter().all(|u| u.stands_in(block));
            (stays() || sums.iter().any(|(_, sum)| *sum == i)) && is_independent(i, block, objects, &added, layout)
        })
}

/// Whether an instruction has no effect on other iterations, or only as an addition.
fn is_independent(i: Value, block: Block, objects: &Objects, added: &HashSet<Value>, layout: &TargetData) -> bool {
    let pointer = match i.op() {
        Some(Op::LLVMStore) if !i.is_special() => i.operand(1),
        Some(Op::LLVMLoad) if !i.is_special() => i.operand(0),
        Some(Op::LLVMCall) => return i.only_computes(),
        Some(Op::LLVMStore | Op::LLVMLoad | Op::LLVMFence | Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg) => return false,
        _ => return true,
    };
    if added.contains(&i) {
        return true;
    }
    let underlying = objects.underlying(pointer);
    if i.is(Op::LLVMLoad) && underlying.iter().all(|o| !is_written(*o, block, objects)) {
        // Unknown memory is none of the objects written here, as long as none of them escapes.
        return !underlying.is_empty() || writes_only_known(block, objects);
    }
    let &[object] = underlying else { return false };
    !objects.get(object).escapes && one_cell_per_iteration(object, block, objects, layout)
}

fn is_written(object: usize, block: Block, objects: &Objects) -> bool {
    objects.get(object).escapes || objects.get(object).writes.iter().any(|w| w.stands_in(block))
}

fn writes_only_known(block: Block, objects: &Objects) -> bool {
    let stores = block.instructions().into_iter().filter(|i| i.is(Op::LLVMStore));
    stores.map(|s| objects.underlying(s.operand(1))).all(|b| matches!(b, &[o] if !objects.get(o).escapes))
}

/// Whether all accesses of the loop to an object touch one cell per iteration, a different one in each.
fn one_cell_per_iteration(object: usize, block: Block, objects: &Objects, layout: &TargetData) -> bool {
    let object = objects.get(object);
    let accesses: Vec<Value> =
        object.reads.iter().chain(&object.writes).copied().filter(|i| i.stands_in(block)).collect();
    let cell = |i: &Value| -> Option<(Value, Linear, i64)> {
        let (pointer, value) = match i.op()? {
            Op::LLVMLoad => (i.operand(0), *i),
            Op::LLVMStore => (i.operand(1), i.operand(0)),
            _ => return None,
        };
        let (base, distance) = affine::address(pointer, layout)?;
        Some((base, distance, affine::size_of(value.ty(), layout)))
    };
    let cells: Option<Vec<_>> = accesses.iter().map(cell).collect();
    cells.is_some_and(|cells| {
        let fits =
            |(_, distance, size): &(Value, Linear, i64)| distance.stride(block).is_some_and(|s| s.abs() >= *size);
        cells.iter().all(|c| *c == cells[0] && fits(c))
    })
}
