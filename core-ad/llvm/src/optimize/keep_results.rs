//! Keeps what `exp` and its like return where deeper loops use it.
//!
//! ```text
//! for (i) { w = exp(x[i]);  for (j) s += w * z[j] / (1 + w); }
//! ```
//!
//! Enzyme keeps values for the reverse sweep or computes them again, by what is least to store; a call that touches no memory costs it nothing. So the reverse
//! of the inner loop calls `exp` once more, and the reverse of the outer one another time. Where branches are in the inner loop, each of them does so in every
//! iteration (`docking.cu` of the proxy kernels took ten times the primal). Passed through an identity function ([`ir::identity`]) the result
//! is kept: one number for each iteration of the outer loop.

use super::keep_calls::is_costly_call;
use crate::analysis::cfg::LoopNest;
use crate::analysis::memory_objects::Objects;
use crate::ir::identity::identity_fn;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Passes such results through the identity function.
///
/// # Errors
///
/// Errors of LLVM's builder.
pub fn run(module: &Module<'_>) -> ir::Result<()> {
    for function in ir::functions(module) {
        for result in results(function) {
            keep(module, result)?;
        }
    }
    Ok(())
}

/// The results of such calls in loops that are used in deeper ones.
fn results(function: FunctionValue<'_>) -> Vec<Value> {
    let Some(nest) = LoopNest::of(function) else { return Vec::new() };
    let calls =
        nest.blocks.iter().flat_map(|block| block.instructions()).filter(|i| i.is_float() && is_costly_call(*i));
    let calls: Vec<Value> = calls.collect();
    if calls.is_empty() {
        return calls;
    }
    let objects = Objects::of(function);
    calls.into_iter().filter(|call| is_used_deeper(&nest, &objects, *call)).collect()
}

/// Whether a value, or what is computed of it in its own loops, is used in a loop that it is not in, inside all loops that it is in; also through variables, which
/// may become values when Enzyme has unrolled loops.
fn is_used_deeper(nest: &LoopNest, objects: &Objects, value: Value) -> bool {
    let home = nest.cfg.number(value.parent());
    let around: Vec<usize> = (0..nest.loops.len()).filter(|l| nest.loops[*l].body[home]).collect();
    let (mut seen, mut open) = (HashSet::from([value]), vec![value]);
    while let Some(part) = open.pop() {
        for user in part.users().into_iter().flat_map(|user| through_memory(objects, user, part)) {
            let place = nest.cfg.number(user.parent());
            let inside = around.iter().all(|l| nest.loops[*l].body[place]);
            if inside && nest.loops.iter().enumerate().any(|(l, deeper)| deeper.body[place] && !around.contains(&l)) {
                return true;
            }
            if inside && user.is_float() && seen.insert(user) {
                open.push(user);
            }
        }
    }
    false
}

/// A user of a value; where it stores the value into a variable, what loads it there.
fn through_memory(objects: &Objects, user: Value, value: Value) -> Vec<Value> {
    if !user.is(Op::LLVMStore) || user.operand(0) != value {
        return vec![user];
    }
    let own = objects.underlying(user.operand(1)).iter().map(|o| objects.get(*o)).filter(|o| o.parameter.is_none());
    own.flat_map(|o| &o.reads).copied().filter(|read| read.is(Op::LLVMLoad)).collect()
}

fn keep(module: &Module<'_>, result: Value) -> ir::Result<()> {
    let same = identity_fn(module, result).map_err(|e| e.to_string())?.as_value_ref();
    // SAFETY: a live call that is no terminator, and a function of its type; the new call behind it dominates every other use.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, result.next().0);
        let call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(same), same, &mut { result.0 }, 1, c"".as_ptr());
        LLVMReplaceAllUsesWith(result.0, call);
        LLVMSetOperand(call, 0, result.0);
        LLVMDisposeBuilder(builder);
    }
    Ok(())
}
