//! Marks memory behind phis and selects of pointers as captured, or as active.
//!
//! The incoming edge, or the iteration, decides which object such a pointer points into.
//!
//! *Captured.* Enzyme treats such a pointer as based on an object of its own, disjoint from every argument and allocation
//! that is not captured: it does not look through the phi. So it misses that a store through it overwrites what the reverse
//! sweep needs (`tests/cases/enzyme_bugs/phi_pointer_generated.c`, and C++ iterators). Memory that such pointers may point into is therefore
//! passed to a function that may capture it. (LLVM's alias analysis, which Enzyme asks next, looks through the phi.)
//!
//! *Active: local memory that is written through a pointer which may also point elsewhere.*
//!
//! ```text
//! p = inside ? scratch : y;  p[k] = v;
//! ```
//!
//! Where no load from `scratch` reaches a result, Enzyme classifies it as inactive memory, which is its own shadow. The
//! shadow of `p` is then `inside ? scratch : dy`, and reverse mode reads primal values as adjoints: a wrong gradient wherever
//! `inside` holds. LLVM creates such pointers from plain code, when it sinks the last stores of two branches
//! (`tests/cases/enzyme_bugs/merged_stores_generated.c`). So local memory behind such a pointer is marked active; then it has a shadow
//! of its own. Loads through such pointers are handled by `split_select_loads`.
//!
//! Heap memory that is freed at the end Enzyme reallocates in the reverse sweep, and refills by repeating the stores that it
//! knows of. It misses those through phis (`p50596.c`); `rules/lifetimes.rs` keeps such memory alive.

use crate::analysis::memory_objects::origins;
use crate::ir::markers::capture_marker;
use crate::ir::{self, Block, Op, Value, metadata};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// Marks such memory as captured.
pub fn mark_captured(module: &Module<'_>) {
    for function in ir::functions(module) {
        let (start, find_affected) = (ir::blocks(function)[0], find_affected(function));
        let instructions = ir::blocks(function).into_iter().flat_map(Block::instructions);
        let in_order: Vec<Value> = ir::arguments(function).into_iter().chain(instructions).collect();
        for memory in in_order.into_iter().filter(|value| find_affected.contains(value)) {
            let place = match memory.op() {
                // Memory from an invoke is defined in its normal successor, if that has no other predecessor.
                Some(Op::LLVMInvoke) => {
                    let there = memory.parent().successors()[0];
                    if there.predecessors().len() > 1 {
                        continue;
                    }
                    there.first_after_phis()
                }
                Some(_) => memory.next(),
                None => start.first_after_phis(),
            };
            capture(module, memory, place);
        }
    }
}

/// Allocations and arguments that are written directly and read through a phi of pointers, or the reverse.
fn find_affected(function: FunctionValue<'_>) -> HashSet<Value> {
    let mut merged: HashMap<Value, Access> = HashMap::new();
    for merge in
        ir::blocks(function).into_iter().flat_map(Block::instructions).filter(|i| is_merge(*i) && i.is_pointer())
    {
        let access = Access::through(merge, true);
        for origin in origins(merge) {
            let all = merged.entry(origin).or_default();
            (all.reads, all.writes) = (all.reads || access.reads, all.writes || access.writes);
        }
    }
    let arguments = ir::arguments(function);
    let is_memory = |origin: &Value| is_allocation(*origin) || arguments.contains(origin);
    let clash = |(origin, merged): (Value, Access)| {
        let direct = Access::through(origin, false);
        (direct.reads && merged.writes || direct.writes && merged.reads).then_some(origin)
    };
    merged.into_iter().filter(|(origin, _)| is_memory(origin)).filter_map(clash).collect()
}

/// Whether memory is read or written through a pointer.
#[derive(Clone, Copy, Default)]
struct Access {
    reads: bool,
    writes: bool,
}

impl Access {
    /// Through the pointer and those derived from it; through phis and selects, too, where `merged` is set.
    fn through(pointer: Value, merged: bool) -> Access {
        let (mut access, mut seen, mut open) = (Access::default(), HashSet::new(), vec![pointer]);
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            for user in value.users() {
                match user.op() {
                    Some(Op::LLVMGetElementPtr) => open.push(user),
                    Some(Op::LLVMPHI | Op::LLVMSelect) if merged => open.push(user),
                    Some(Op::LLVMLoad) => access.reads = true,
                    Some(Op::LLVMStore) => access.writes |= user.operand(1) == value,
                    Some(Op::LLVMCall | Op::LLVMInvoke) if !is_neutral(user) => access.note_call(user, value),
                    _ => {}
                }
            }
        }
        access
    }

    fn note_call(&mut self, call: Value, pointer: Value) {
        let name = call.callee().unwrap_or_default();
        let moves = name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        self.writes |= !moves || call.operand(0) == pointer;
        self.reads |= !name.starts_with("llvm.memset.") && (!moves || call.operand(1) == pointer);
    }
}

fn capture(module: &Module<'_>, memory: Value, before: Value) {
    // Shared memory of a GPU block is in another address space.
    // SAFETY: asked of a pointer.
    if unsafe { LLVMGetPointerAddressSpace(memory.ty()) } != 0 {
        return;
    }
    // SAFETY: live values of one function; the definition dominates the insertion point.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, before.0);
        let marker = capture_marker(module).as_value_ref();
        let mut argument = memory.0;
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut argument, 1, c"".as_ptr());
        LLVMDisposeBuilder(builder);
    }
}

/// Marks such memory as active.
pub fn mark_active(module: &Module<'_>) {
    for function in ir::functions(module) {
        for memory in written_through_merges(function) {
            set_active(memory);
        }
    }
}

/// Allocations that are written through a pointer which may point into another object, too.
fn written_through_merges(function: FunctionValue<'_>) -> HashSet<Value> {
    let instructions = ir::blocks(function).into_iter().flat_map(Block::instructions);
    let merges = instructions.filter(|i| is_merge(*i) && i.is_pointer() && is_written_through(*i));
    merges.map(origins).filter(|found| found.len() > 1).flatten().filter(|origin| is_allocation(*origin)).collect()
}

/// Whether some of those allocations may be on the heap.
pub fn has_heap(module: &Module<'_>) -> bool {
    ir::functions(module).into_iter().flat_map(written_through_merges).any(|origin| !origin.is(Op::LLVMAlloca))
}

fn is_merge(value: Value) -> bool {
    value.is(Op::LLVMPHI) || value.is(Op::LLVMSelect)
}

fn is_allocation(origin: Value) -> bool {
    origin.is(Op::LLVMAlloca) || (origin.is(Op::LLVMCall) || origin.is(Op::LLVMInvoke)) && !is_inactive(origin)
}

/// Whether a call is of a function that Enzyme takes for inactive: what that returns (`strtok`) has no shadow.
fn is_inactive(call: Value) -> bool {
    // SAFETY: the function that a live call names, if there is one.
    let callee = call.called().and_then(|callee| unsafe { FunctionValue::new(callee.0) });
    callee.is_some_and(ir::is_inactive)
}

/// Whether floating-point numbers may be written through a pointer or one derived from it.
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
    call.callee().is_some_and(|name| crate::analysis::memory_objects::is_neutral(&name))
}

pub fn set_active(memory: Value) {
    metadata::mark(memory, c"enzyme_active_val");
}
