//! Numbers that a loop carries on, divided or replaced, and uses in each turn.
//!
//! ```text
//! for (i) { most = x[i] > most ? x[i] : most;  y[i] = most; }        for (i) { h = h / 2.5;  sum += h; }
//! ```
//!
//! Of a number that each turn replaces, or leaves, the engine looks for the turn that did so last and gives the adjoint to what was taken
//! then; of one that is divided it takes the quotient by all turns at once. Both are right behind the loop. But it does not ask whether the
//! numbers of the turns in between are used as well: then the gradient is wrong (`tests/cases/running.c`). It sees such a number
//! by the operand that the loop carries; so this is one less 0, which the engine does not know to be 0.

use crate::analysis::cfg::{NaturalLoop, Nest};
use crate::ir::markers::load_offset;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use std::collections::BTreeMap;

/// What the numbers of offsets made here begin with.
const FIRST: u64 = 1 << 26;

/// Hides what loops carry from such instructions. To be called last before the engine.
pub fn hide(module: &Module<'_>) {
    let mut done = FIRST;
    for function in ir::functions(module) {
        for (carried, next) in mistaken(function) {
            subtract_nothing(module, function, carried, next, done);
            done += 1;
        }
    }
}

/// Numbers that loops carry, each with the instruction that makes it anew.
fn mistaken(function: FunctionValue<'_>) -> Vec<(Value, Value)> {
    let Some(nest) = Nest::of(function) else { return Vec::new() };
    let of =
        |l: &NaturalLoop| nest.carried(l).filter_map(|phi| Some((phi, made_anew(&nest, l, phi)?))).collect::<Vec<_>>();
    nest.loops.iter().flat_map(of).collect()
}

/// The instruction of which the engine would take the last turn only, where others count as well.
fn made_anew(nest: &Nest, inside: &NaturalLoop, phi: Value) -> Option<Value> {
    let next = nest.left_of(phi, inside).into_iter().next()?;
    let takes_phi = || next.operands().contains(&phi);
    let is_used = || next.users().into_iter().any(|user| user != phi && nest.is_in(user, inside));
    match next.op()? {
        // Quotients that are equal are made one in the engine, too.
        Op::LLVMFDiv => (next.operand(0) == phi).then_some(next),
        // Of a branch the engine's LLVM makes a choice.
        Op::LLVMSelect | Op::LLVMPHI => (next != phi && takes_phi() && is_used()).then_some(next),
        _ => None,
    }
}

/// Replaces an operand by itself less a number that is 0.
fn subtract_nothing(module: &Module<'_>, function: FunctionValue<'_>, carried: Value, next: Value, number: u64) {
    // SAFETY: live values of one function; what the first block begins with comes before all loops, and the difference before its use.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let zero = load_offset(module, function, carried.ty(), number);
        let ways = if next.is(Op::LLVMPHI) { next.incoming() } else { Vec::new() };
        // One for all edges from a block, as a phi wants it.
        let mut made = BTreeMap::new();
        for (i, _) in (0u32..).zip(next.operands()).filter(|(_, operand)| *operand == carried) {
            let before = ways.get(i as usize).map_or(next, |(_, from)| from.terminator());
            let same = made.entry(before.0 as usize).or_insert_with(|| {
                LLVMPositionBuilderBefore(builder, before.0);
                LLVMBuildFSub(builder, carried.0, zero, c"".as_ptr())
            });
            LLVMSetOperand(next.0, i, *same);
        }
        LLVMDisposeBuilder(builder);
    }
}
