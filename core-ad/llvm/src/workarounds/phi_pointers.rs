//! Memory behind a pointer that is merged from others: which way was taken, or which turn it is, says where it points.
//!
//! The engine takes such a pointer for one of its own, that points into no memory the function has been given or has allocated, as
//! long as that memory is not captured: it does not ask what the pointer was merged from. So it does not see that a store through it
//! overwrites what the reverse sweep needs (`tests/torture/found/p60143.c`, and iterators of C++). Memory with such pointers into
//! it is therefore said to be captured. (LLVM, which the engine asks next, knows the pointer's origins.)
//!
//! *Local memory that is written through a pointer which may point elsewhere, too:*
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

use crate::ir::markers::capture_marker;
use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// Says so. To be called last before the engine.
pub fn mark_captured(module: &Module<'_>) {
    for function in ir::functions(module) {
        let (start, mistaken) = (ir::blocks(function)[0], mistaken(function));
        let instructions = ir::blocks(function).into_iter().flat_map(Block::instructions);
        let in_order: Vec<Value> = ir::arguments(function).into_iter().chain(instructions).collect();
        for memory in in_order.into_iter().filter(|value| mistaken.contains(value)) {
            let place = match memory.op() {
                // What is allocated by an invoke is there where it returns, if nothing else leads there.
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

/// What is written by its own name and read through a merged pointer, or the other way round. Arguments are meant, too.
fn mistaken(function: FunctionValue<'_>) -> HashSet<Value> {
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

/// What is done through a pointer.
#[derive(Clone, Copy, Default)]
struct Access {
    reads: bool,
    writes: bool,
}

impl Access {
    /// Through it and those derived from it, merged ones among them if that is wanted.
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
    // What blocks of a GPU share is in an address space of its own.
    // SAFETY: asked of a pointer.
    if unsafe { LLVMGetPointerAddressSpace(memory.ty()) } != 0 {
        return;
    }
    // SAFETY: live values of one function; the place comes after the definition.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, before.0);
        let marker = capture_marker(module).as_value_ref();
        let mut argument = memory.0;
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut argument, 1, c"".as_ptr());
        LLVMDisposeBuilder(builder);
    }
}

/// Marks it as active. To be called last before the engine.
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
    call.callee().is_some_and(|name| crate::analysis::memory_objects::is_neutral(&name))
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
