//! Arrays on the stack that are read in several loops, and written in between.
//!
//! ```text
//! double t[8];  ...  for (i) s += a[i] * t[i];  t[k] = b;  for (i) s += c[i] * t[i];
//! ```
//!
//! What a loop reads of such an array the engine keeps for the reverse sweep by a copy of the whole array, made before the loop. It
//! makes one copy of each array, and takes it for what any loop reads: a wrong gradient where the loops see different numbers
//! (`tests/torture/found/p56010.c`). It does so with arrays only. So such an array becomes the one member of a structure; of that the
//! engine keeps what each loop reads.

use crate::analysis::cfg::{Graph, MANY, Reached};
use crate::analysis::memory_objects::Objects;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind::LLVMArrayTypeKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};

/// Wraps them. To be called before allocations are marked: the marks would be lost.
pub fn wrap_arrays(module: &Module<'_>) {
    for function in ir::functions(module) {
        for array in kept_wrongly(function) {
            wrap(module, array);
        }
    }
}

fn kept_wrongly(function: FunctionValue<'_>) -> Vec<Value> {
    let blocks = ir::blocks(function);
    let arrays: Vec<Value> =
        blocks.iter().flat_map(|b| b.instructions()).filter(|i| is_array(*i) && elements_read(*i).len() > 1).collect();
    if arrays.is_empty() {
        return Vec::new();
    }
    if blocks.len() > MANY {
        // They are taken to be such.
        return arrays;
    }
    let (objects, graph) = (Objects::of(function), Graph::of(&blocks));
    let reached = graph.reached(&vec![true; graph.len()], None);
    arrays.into_iter().filter(|array| graph.sees_change(&reached, &objects, *array)).collect()
}

fn is_array(instruction: Value) -> bool {
    // SAFETY: asked of an alloca only.
    instruction.is(Op::LLVMAlloca)
        && unsafe { LLVMGetTypeKind(LLVMGetAllocatedType(instruction.0)) } == LLVMArrayTypeKind
}

/// The loads of single elements.
fn elements_read(array: Value) -> Vec<Value> {
    let steps = array.users().into_iter().filter(|user| user.is(Op::LLVMGetElementPtr));
    steps.flat_map(Value::users).filter(|user| user.is(Op::LLVMLoad)).collect()
}

impl Graph {
    fn sees_change(&self, reached: &Reached, objects: &Objects, array: Value) -> bool {
        let &[object] = objects.behind(array) else { return true };
        let object = objects.get(object);
        if object.escapes {
            return true;
        }
        let numbers = |all: &[Value]| {
            let mut numbers: Vec<usize> = all.iter().map(|i| self.number(i.parent())).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        let (reads, writes) = (numbers(&elements_read(array)), numbers(&object.writes));
        // Outside of loops nothing is kept that way.
        let reads: Vec<usize> = reads.into_iter().filter(|r| reached[*r][*r]).collect();
        self.differ(&vec![true; self.len()], reached, &reads, &writes)
    }

    /// Whether what is written may come between two reads within one turn of the loop that is the part `inside`.
    fn differ(&self, inside: &[bool], reached: &Reached, reads: &[usize], writes: &[usize]) -> bool {
        let leads = |from: usize, to: usize| from == to || reached[from][to];
        let in_one_loop = |a: usize, b: usize| reached[a][b] && reached[b][a];
        let reads: Vec<usize> = reads.iter().copied().filter(|r| inside[*r]).collect();
        for &first in &reads {
            for &second in reads.iter().filter(|second| **second != first) {
                let change = |w: &&usize| inside[**w] && leads(first, **w) && leads(**w, second);
                if !in_one_loop(first, second) && writes.iter().any(|w| change(&w)) {
                    return true;
                }
            }
        }
        let mut done = vec![false; inside.len()];
        reads.iter().any(|&read| {
            if done[read] || !reached[read][read] {
                return false;
            }
            let turn: Vec<bool> = (0..inside.len()).map(|b| inside[b] && in_one_loop(read, b)).collect();
            (0..inside.len()).filter(|b| turn[*b]).for_each(|b| done[b] = true);
            // Without the way back to its head a loop is one turn.
            let head = (0..inside.len())
                .find(|&b| turn[b] && (0..inside.len()).any(|p| !turn[p] && self.successors[p].contains(&b)));
            head.is_some() && self.differ(&turn, &self.reached(&turn, head), &reads, writes)
        })
    }
}

fn wrap(module: &Module<'_>, array: Value) {
    // SAFETY: a live alloca, which is erased after its uses are replaced.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, array.0);
        let mut member = LLVMGetAllocatedType(array.0);
        let structure = LLVMStructTypeInContext(context, &mut member, 1, 0);
        let new = LLVMBuildArrayAlloca(builder, structure, array.operand(0).0, c"".as_ptr());
        LLVMSetAlignment(new, LLVMGetAlignment(array.0));
        LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(array.0));
        LLVMReplaceAllUsesWith(array.0, new);
        array.erase();
        LLVMDisposeBuilder(builder);
    }
}
