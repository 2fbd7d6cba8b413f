//! Makes loop-carried values opaque to Enzyme where an iteration divides or replaces the value and also uses it.
//!
//! ```text
//! for (i) { most = x[i] > most ? x[i] : most;  y[i] = most; }        for (i) { h = h / 2.5;  sum += h; }
//! ```
//!
//! For a recurrence through select (a running maximum) Enzyme looks for the last iteration that replaced the value and sends
//! the whole adjoint there; for one through division it divides by all the divisors at once. Both are right for the final
//! value. But it does not check whether the intermediate values are used as well: then the gradient is wrong
//! (`tests/cases/enzyme_bugs/loop_carried.c`). It recognises the recurrence by the phi as operand, so we subtract an opaque zero from the
//! operand.

use crate::analysis::cfg::{LoopNest, NaturalLoop};
use crate::ir::markers::load_opaque_zero;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use std::collections::BTreeMap;

/// First number of the opaque zeros created here.
const MARKER_BASE: u64 = 1 << 26;

/// Obscures the phi operand of such updates.
pub fn run(module: &Module<'_>) {
    let mut done = MARKER_BASE;
    for function in ir::functions(module) {
        for (carried, next) in find_affected(function) {
            sub_opaque_zero(module, function, carried, next, done);
            done += 1;
        }
    }
}

/// Loop-carried phis, each with the instruction that computes its next value.
fn find_affected(function: FunctionValue<'_>) -> Vec<(Value, Value)> {
    let Some(nest) = LoopNest::of(function) else { return Vec::new() };
    let of =
        |l: &NaturalLoop| nest.carried(l).filter_map(|phi| Some((phi, update(&nest, l, phi)?))).collect::<Vec<_>>();
    nest.loops.iter().flat_map(of).collect()
}

/// The update whose last iteration alone Enzyme would differentiate, although earlier ones count as well.
fn update(nest: &LoopNest, inside: &NaturalLoop, phi: Value) -> Option<Value> {
    let next = nest.next_values(phi, inside).into_iter().next()?;
    let takes_phi = || next.operands().contains(&phi);
    let is_used = || next.users().into_iter().any(|user| user != phi && nest.is_in(user, inside));
    match next.op()? {
        // Equal quotients are merged by LLVM inside Enzyme.
        Op::LLVMFDiv => (next.operand(0) == phi).then_some(next),
        // A phi, too: LLVM converts branches to selects inside Enzyme.
        Op::LLVMSelect | Op::LLVMPHI => (next != phi && takes_phi() && is_used()).then_some(next),
        _ => None,
    }
}

/// Subtracts an opaque zero from an operand.
fn sub_opaque_zero(module: &Module<'_>, function: FunctionValue<'_>, carried: Value, next: Value, number: u64) {
    // SAFETY: live values of one function; the entry block dominates all loops, and the difference its use.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let zero = load_opaque_zero(module, function, carried.ty(), number);
        let paths = if next.is(Op::LLVMPHI) { next.incoming() } else { Vec::new() };
        // One value for all edges from a block, as a phi requires.
        let mut made = BTreeMap::new();
        for (i, _) in (0u32..).zip(next.operands()).filter(|(_, operand)| *operand == carried) {
            let before = paths.get(i as usize).map_or(next, |(_, from)| from.terminator());
            let same = made.entry(before.0 as usize).or_insert_with(|| {
                LLVMPositionBuilderBefore(builder, before.0);
                LLVMBuildFSub(builder, carried.0, zero, c"".as_ptr())
            });
            LLVMSetOperand(next.0, i, *same);
        }
        LLVMDisposeBuilder(builder);
    }
}
