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

use crate::entries::offset;
use crate::graph::{Graph, MANY, NaturalLoop};
use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
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
    let blocks = ir::blocks(function);
    if blocks.len() > MANY {
        return Vec::new();
    }
    let graph = Graph::of(&blocks);
    let loops = graph.natural_loops(&graph.dominators());
    let of = |l: &NaturalLoop| {
        let carried = blocks[l.head].phis().into_iter().filter(|phi| phi.is_float());
        carried.filter_map(|phi| Some((phi, made_anew(&graph, &blocks, l, phi)?))).collect::<Vec<_>>()
    };
    loops.iter().flat_map(of).collect()
}

/// The instruction of which the engine would take the last turn only, where others count as well.
fn made_anew(graph: &Graph, blocks: &[Block], inside: &NaturalLoop, phi: Value) -> Option<Value> {
    let comes_back = |(_, from): &(Value, Block)| inside.ends.iter().any(|end| blocks[*end] == *from);
    let (next, _) = phi.incoming().into_iter().find(comes_back)?;
    let takes_phi = || next.operands().contains(&phi);
    let in_loop = |user: &Value| inside.body[graph.number(user.parent())];
    let is_used = || next.users().into_iter().any(|user| user != phi && in_loop(&user));
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
        LLVMPositionBuilderBefore(builder, ir::blocks(function)[0].first_after_phis().0);
        let zero = LLVMBuildLoad2(builder, carried.ty(), offset(module, number).as_value_ref(), c"".as_ptr());
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
