//! Moves the initialisation of static local variables that own memory (`static const std::vector<double> w = ...`) into functions that Enzyme takes for inactive.
//!
//! Such a variable is filled by the first call that comes to it, behind a guard. Enzyme gives it a shadow that only that call fills: later ones read the
//! first one's memory, which is gone. What does not depend on the function's arguments needs no shadow, so the initialisation is copied into a
//! function of its own, where nothing of the caller's but temporary variables is used. Then nothing else writes the variable, and `inactive-globals` marks it.
//!
//! ```text
//! check:                                                  ; one byte of the guard is 0
//!   %first = call i32 @__cxa_guard_acquire(ptr @guard)
//!   %go = icmp ne i32 %first, 0
//!   br i1 %go, label %init, label %done                   ; init ... call @__cxa_guard_release(ptr @guard), br label %done
//! ```
//!
//! The guard goes along: acquired a second time, in a reverse sweep, it throws. Variables that the function goes on writing to are another matter
//! (`call_objects.rs`).

use crate::analysis::memory_objects::holds_numbers_only;
use crate::analysis::reachable::STATIC_LOCAL;
use crate::ir::{Block, Op, Value, blocks, functions, is_argument};
use crate::lowering::caught::build::Edit;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ffi::CString;

/// The blocks of an initialisation.
struct Initialisation {
    /// What comes before, and by which of its edges.
    before: Block,
    edge: u32,
    /// All of them, the first one first.
    inside: Vec<Block>,
    /// What comes after.
    done: Block,
    /// Variables of the function that they use.
    variables: Vec<Value>,
}

/// Moves them.
pub fn run(module: &Module<'_>) {
    let edit = Edit::of(module);
    for function in functions(module) {
        let all = blocks(function).into_iter().flat_map(|b| b.instructions());
        for acquire in all.filter(|i| i.callee().is_some_and(|name| name == "__cxa_guard_acquire")) {
            if owns_memory(module, acquire.operand(0))
                && let Some(found) = find(acquire)
            {
                outline(&edit, function, &found);
            }
        }
    }
}

/// Whether the variable of a guard has addresses in it (Itanium C++ ABI, 5.1.4.5: the guard's name is the variable's behind `GV`).
fn owns_memory(module: &Module<'_>, guard: Value) -> bool {
    let mut length = 0;
    // SAFETY: a live value's name, of this length.
    let name = unsafe {
        let start = LLVMGetValueName2(guard.0, &mut length);
        std::slice::from_raw_parts(start.cast::<u8>(), length)
    };
    let variable = name.strip_prefix(b"_ZGV").and_then(|rest| std::str::from_utf8(rest).ok());
    let variable = variable.and_then(|rest| module.get_global(&format!("_Z{rest}")));
    // SAFETY: a live global's type.
    variable.is_some_and(|v| unsafe { !holds_numbers_only(LLVMGlobalGetValueType(v.as_value_ref())) })
}

fn find(acquire: Value) -> Option<Initialisation> {
    let check = acquire.parent();
    let [before] = check.predecessors()[..] else { return None };
    let edge = (0u32..).zip(before.successors()).find(|(_, s)| *s == check)?.0;
    let [_, done] = check.successors()[..] else { return None };
    if check.instructions().first() != Some(&acquire) {
        return None;
    }
    let mut inside = vec![check];
    let mut at = 0;
    while let Some(block) = inside.get(at) {
        let next: Vec<Block> = block.successors().into_iter().filter(|s| *s != done && !inside.contains(s)).collect();
        inside.extend(next);
        at += 1;
    }
    let blocks: HashSet<Block> = inside.iter().copied().collect();
    let returns = inside.iter().any(|b| b.terminator().is(Op::LLVMRet));
    let from_inside = |phi: &Value| phi.incoming().iter().any(|(_, from)| blocks.contains(from));
    if returns || done.phis().iter().any(from_inside) {
        return None;
    }
    let mut variables = Vec::new();
    for instruction in inside.iter().flat_map(|b| b.instructions()) {
        if instruction.users().iter().any(|u| !blocks.contains(&u.parent())) {
            return None;
        }
        for operand in instruction.operands() {
            let is_outside = operand.is_instruction() && !blocks.contains(&operand.parent());
            match is_outside {
                _ if is_argument(operand) => return None,
                true if !is_temporary(operand, &blocks) => return None,
                true if !variables.contains(&operand) => variables.push(operand),
                _ => {}
            }
        }
    }
    Some(Initialisation { before, edge, inside, done, variables })
}

/// Whether a variable is used in these blocks only, or is where clang keeps the exception that a landing pad has caught.
fn is_temporary(variable: Value, inside: &HashSet<Block>) -> bool {
    let mut length = 0;
    // SAFETY: a live value's name, of this length.
    let name = unsafe {
        let start = LLVMGetValueName2(variable.0, &mut length);
        std::slice::from_raw_parts(start.cast::<u8>(), length)
    };
    variable.is(Op::LLVMAlloca)
        && (name.starts_with(b"exn.slot")
            || name.starts_with(b"ehselector.slot")
            || variable.users().iter().all(|u| inside.contains(&u.parent())))
}

/// Copies the blocks into a function, and calls it in their place.
fn outline(edit: &Edit, from: FunctionValue<'_>, found: &Initialisation) {
    // SAFETY: live values; the copies refer to copies, and the branch to the new block.
    unsafe {
        let ty = LLVMFunctionType(edit.void, std::ptr::null_mut(), 0, 0);
        let name = CString::new(STATIC_LOCAL).unwrap_or_default();
        let function = LLVMAddFunction(edit.module, name.as_ptr(), ty);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        if LLVMHasPersonalityFn(from.as_value_ref()) != 0 {
            LLVMSetPersonalityFn(function, LLVMGetPersonalityFn(from.as_value_ref()));
        }
        copy(edit, function, found);
        edit.mark_inactive(function);
        let stub = edit.block_before(found.inside[0]);
        edit.at_end(stub);
        edit.call(function, &[]);
        LLVMBuildBr(edit.builder, found.done.0);
        LLVMSetSuccessor(found.before.terminator().0, found.edge, stub.0);
    }
}

unsafe fn copy(edit: &Edit, function: LLVMValueRef, found: &Initialisation) {
    // SAFETY: see `outline`.
    unsafe {
        let start = edit.block_in(function);
        let mut copies: HashMap<LLVMValueRef, LLVMValueRef> = HashMap::new();
        let insert = |at: Block, value: Value| {
            let copy = LLVMInstructionClone(value.0);
            edit.at_end(at);
            LLVMInsertIntoBuilder(edit.builder, copy);
            copy
        };
        for variable in &found.variables {
            copies.insert(variable.0, insert(start, *variable));
        }
        let made: Vec<Block> = found.inside.iter().map(|_| edit.block_in(function)).collect();
        let end = edit.block_in(function);
        for (block, copy) in found.inside.iter().zip(&made) {
            copies.insert(LLVMBasicBlockAsValue(block.0), LLVMBasicBlockAsValue(copy.0));
        }
        copies.insert(LLVMBasicBlockAsValue(found.done.0), LLVMBasicBlockAsValue(end.0));
        for (block, copy) in found.inside.iter().zip(&made) {
            for i in block.instructions() {
                edit.at_end(*copy);
                let new = match i.is(Op::LLVMPHI) {
                    true => LLVMBuildPhi(edit.builder, i.ty(), c"".as_ptr()),
                    false => insert(*copy, i),
                };
                copies.insert(i.0, new);
            }
        }
        for i in found.inside.iter().flat_map(|b| b.instructions()) {
            refer_to_copies(i, &copies);
        }
        edit.at_end(end);
        LLVMBuildRetVoid(edit.builder);
        edit.at_end(start);
        LLVMBuildBr(edit.builder, made[0].0);
    }
}

/// Lets the copy of an instruction use the copies of its operands.
unsafe fn refer_to_copies(i: Value, copies: &HashMap<LLVMValueRef, LLVMValueRef>) {
    let copy_of = |value: LLVMValueRef| copies.get(&value).copied().unwrap_or(value);
    // SAFETY: see `outline`.
    unsafe {
        let copy = copy_of(i.0);
        if i.is(Op::LLVMPHI) {
            for (value, from) in i.incoming() {
                let mut from = LLVMValueAsBasicBlock(copy_of(LLVMBasicBlockAsValue(from.0)));
                LLVMAddIncoming(copy, &mut copy_of(value.0), &mut from, 1);
            }
            return;
        }
        for (number, operand) in (0u32..).zip(i.operands()) {
            LLVMSetOperand(copy, number, copy_of(operand.0));
        }
    }
}
