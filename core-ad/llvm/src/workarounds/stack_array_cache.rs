//! Wraps stack arrays in a structure, where several loops read them with writes in between.
//!
//! ```text
//! double t[8];  ...  for (i) s += a[i] * t[i];  t[k] = b;  for (i) s += c[i] * t[i];
//! ```
//!
//! Enzyme caches what a loop reads of such an array by copying the whole array before the loop. It makes one copy of each
//! array and uses it for every loop: a wrong gradient where the loops see different values (`tests/cases/enzyme_bugs/rows_on_stack_generated.c`).
//! It does so for allocations of array type only. So such an array becomes the one member of a structure; of that Enzyme
//! caches what each loop reads.

use crate::analysis::cfg::{Cfg, MAX_BLOCKS, Reached};
use crate::analysis::memory_objects::Objects;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind::LLVMArrayTypeKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};

/// Wraps such arrays. Metadata on the allocation is lost.
pub fn run(module: &Module<'_>) {
    for function in ir::functions(module) {
        for array in find_affected(function) {
            wrap(module, array);
        }
    }
}

fn find_affected(function: FunctionValue<'_>) -> Vec<Value> {
    let blocks = ir::blocks(function);
    let arrays: Vec<Value> =
        blocks.iter().flat_map(|b| b.instructions()).filter(|i| is_array(*i) && elements_read(*i).len() > 1).collect();
    if arrays.is_empty() {
        return Vec::new();
    }
    if blocks.len() > MAX_BLOCKS {
        // Too large to analyse: wrap them all.
        return arrays;
    }
    let (objects, cfg) = (Objects::of(function), Cfg::of(&blocks));
    let reached = cfg.reached(&vec![true; cfg.len()], None);
    arrays.into_iter().filter(|array| cfg.sees_change(&reached, &objects, *array)).collect()
}

fn is_array(instruction: Value) -> bool {
    // SAFETY: the value is an alloca.
    instruction.is(Op::LLVMAlloca)
        && unsafe { LLVMGetTypeKind(LLVMGetAllocatedType(instruction.0)) } == LLVMArrayTypeKind
}

/// The loads of elements.
fn elements_read(array: Value) -> Vec<Value> {
    let steps = array.users().into_iter().filter(|user| user.is(Op::LLVMGetElementPtr));
    steps.flat_map(Value::users).filter(|user| user.is(Op::LLVMLoad)).collect()
}

impl Cfg {
    fn sees_change(&self, reached: &Reached, objects: &Objects, array: Value) -> bool {
        let &[object] = objects.underlying(array) else { return true };
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
        // Outside of loops Enzyme does not copy the array.
        let reads: Vec<usize> = reads.into_iter().filter(|r| reached[*r][*r]).collect();
        self.differ(&vec![true; self.len()], reached, &reads, &writes)
    }

    /// Whether a write may execute between two reads within one iteration of the loop `inside`.
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
            let body: Vec<bool> = (0..inside.len()).map(|b| inside[b] && in_one_loop(read, b)).collect();
            (0..inside.len()).filter(|b| body[*b]).for_each(|b| done[b] = true);
            // Without its back edges a loop is one iteration.
            let header = (0..inside.len())
                .find(|&b| body[b] && (0..inside.len()).any(|p| !body[p] && self.successors[p].contains(&b)));
            header.is_some() && self.differ(&body, &self.reached(&body, header), &reads, writes)
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
