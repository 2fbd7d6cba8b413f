//! Local memory that is written through a pointer which may point elsewhere, too.
//!
//! ```text
//! p = inside ? scratch : y;  p[k] = v;
//! ```
//!
//! Where nothing that is read from `scratch` reaches a result, the engine takes it for memory without a derivative, which is
//! its own shadow. The shadow of `p` is then `inside ? scratch : dy`, and reverse mode reads numbers of the program as
//! adjoints: a wrong gradient wherever `inside` holds. LLVM makes such pointers of plain code, when it joins the last stores
//! of two branches (`tests/torture/found/p52031.c`). So local memory behind a pointer like that is said to have a derivative;
//! then it has a shadow of its own. Loads through such pointers are [`crate::choices`]' business.
//!
//! Memory on the heap that is freed at the end, the engine makes anew for the reverse sweep, and fills it by repeating the
//! stores that it sees go there. Those through merged pointers it does not see (`p50596.c`); [`crate::lifetimes`] lets such
//! memory live.

use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use std::collections::HashSet;

/// Marks it. To be called last before the engine.
pub fn mark_active(module: &Module<'_>) {
    for function in ir::functions(module) {
        for memory in written_through_merges(function) {
            set_active(module, memory);
        }
    }
}

/// What the function allocates and writes numbers to through a pointer that may point into something else.
fn written_through_merges(function: FunctionValue<'_>) -> HashSet<Value> {
    let instructions = ir::blocks(function).into_iter().flat_map(Block::instructions);
    let merges = instructions.filter(|i| is_merge(*i) && i.is_pointer() && is_written_through(*i));
    merges.map(origins).filter(|found| found.len() > 1).flatten().filter(|origin| is_allocation(*origin)).collect()
}

/// Whether some of it may be on the heap.
pub fn has_heap(module: &Module<'_>) -> bool {
    ir::functions(module).into_iter().flat_map(written_through_merges).any(|origin| !origin.is(Op::LLVMAlloca))
}

fn is_merge(value: Value) -> bool {
    value.is(Op::LLVMPHI) || value.is(Op::LLVMSelect)
}

fn is_allocation(origin: Value) -> bool {
    origin.is(Op::LLVMAlloca) || origin.is(Op::LLVMCall) || origin.is(Op::LLVMInvoke)
}

/// Where a pointer may come from.
fn origins(pointer: Value) -> HashSet<Value> {
    let (mut found, mut seen, mut open) = (HashSet::new(), HashSet::new(), vec![pointer]);
    while let Some(value) = open.pop() {
        if !seen.insert(value) || value.is_null_or_undefined() {
            continue;
        }
        match value.op() {
            Some(Op::LLVMGetElementPtr) => open.push(value.operand(0)),
            Some(Op::LLVMSelect) => open.extend([value.operand(1), value.operand(2)]),
            Some(Op::LLVMPHI) => open.extend(value.incoming().into_iter().map(|(incoming, _)| incoming)),
            _ => {
                found.insert(value);
            }
        }
    }
    found
}

/// Whether numbers, or what may be numbers, are written through a pointer or one derived from it.
fn is_written_through(pointer: Value) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![pointer]);
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        for user in value.users() {
            match user.op() {
                Some(Op::LLVMGetElementPtr | Op::LLVMPHI | Op::LLVMSelect) => open.push(user),
                Some(Op::LLVMStore) if user.operand(1) == value && user.operand(0).holds_floats() => return true,
                Some(Op::LLVMCall | Op::LLVMInvoke) if !is_neutral(user) => return true,
                _ => {}
            }
        }
    }
    false
}

fn is_neutral(call: Value) -> bool {
    call.callee().is_some_and(|name| crate::objects::is_neutral(&name))
}

fn set_active(module: &Module<'_>, memory: Value) {
    // SAFETY: a live instruction of the module; only metadata is added.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let kind = LLVMGetMDKindIDInContext(context, c"enzyme_active_val".as_ptr(), 17);
        let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
        LLVMSetMetadata(memory.0, kind, LLVMMetadataAsValue(context, node));
    }
}
