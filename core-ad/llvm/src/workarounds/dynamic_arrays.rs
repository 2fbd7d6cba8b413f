//! Allocates local arrays in loops, and those of variable length, on the heap: Enzyme crashes on loads from them.
//!
//! ```text
//! for (i) { double t[m];  for (j) t[j] = a[i][j] * a[i][j];  for (j) s += t[j] * t[m - 1 - j]; }
//! ```
//!
//! Memory of an `alloca` outside of the entry block is needed again in the reverse pass, one for each iteration. Enzyme turns such an
//! `alloca` into a call of `malloc` before it differentiates, and back into an `alloca` in the function that it writes. Where a load from it is to be
//! cached it takes the one's `alloca` for the other's, and asserts that this is one (`GradientUtils::lookupM`: "isa<AllocaInst>(orig_liobj)"). The smallest IR:
//!
//! ```text
//! loop:   %t = alloca double, i64 %m
//! fill:   store double %x, ptr (%t + 8 * %j)
//! use:    %v = load double, ptr (%t + 8 * %j)              ; v * v: the adjoint needs it
//! ```
//!
//! So it becomes a `malloc` for good, released where the stack was restored. Where some path restores the stack otherwise (`alloca` in C: at the
//! function's end), the arena releases the memory; without one such an array stays what it is.

use crate::ir::{self, Block, Op, Value};
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::types::{AsTypeRef, FunctionType};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};
use std::collections::HashSet;

/// What `malloc` guarantees.
pub(super) const ALIGNMENT: u32 = 16;

/// Moves such arrays to the heap. `arena`: what is not released is so when the derivative returns.
pub fn run(module: &Module<'_>, arena: bool) {
    for function in ir::functions(module) {
        for array in arrays(function) {
            let freed = released(function, array);
            if let Some(ends) = freed.or_else(|| arena.then(Vec::new)) {
                move_to_heap(module, array, &ends, None);
            }
        }
        if has_fixed_stack(function) {
            forget_marks(function);
        }
    }
}

/// Whether every variable is of constant length and made at the function's entry.
fn has_fixed_stack(function: FunctionValue<'_>) -> bool {
    let blocks = ir::blocks(function);
    let is_fixed = |a: Value| a.operand(0).constant().is_some() && a.parent() == blocks[0];
    blocks.iter().flat_map(|b| b.instructions()).filter(|i| i.is(Op::LLVMAlloca)).all(is_fixed)
}

/// Removes the calls that note and restore the stack, which does not change: Enzyme's assertion `getNumUses` fails where a path has another mark.
fn forget_marks(function: FunctionValue<'_>) {
    let calls = |start: &str| -> Vec<Value> {
        let is_one = |i: &Value| i.callee().is_some_and(|name| name.starts_with(start));
        ir::blocks(function).into_iter().flat_map(Block::instructions).filter(is_one).collect()
    };
    calls("llvm.stackrestore").into_iter().for_each(Value::erase);
    for mark in calls("llvm.stacksave") {
        // SAFETY: a live call; what is left of its uses, phis of marks, has none that matters.
        unsafe { LLVMReplaceAllUsesWith(mark.0, LLVMConstNull(mark.ty())) };
        mark.erase();
    }
}

/// The arrays whose length is not known, or that are not made in the entry block.
fn arrays(function: FunctionValue<'_>) -> Vec<Value> {
    let blocks = ir::blocks(function);
    // SAFETY: live instructions.
    let is_plain = |a: &Value| unsafe { LLVMGetAlignment(a.0) <= ALIGNMENT && LLVMGetPointerAddressSpace(a.ty()) == 0 };
    let is_moved = |a: &Value| a.is(Op::LLVMAlloca) && (a.operand(0).constant().is_none() || a.parent() != blocks[0]);
    blocks.iter().flat_map(|b| b.instructions()).filter(|a| is_moved(a) && is_plain(a)).collect()
}

/// The instructions that restore the stack to what it was before the array was made, where each path from it comes to exactly one of them.
fn released(function: FunctionValue<'_>, array: Value) -> Option<Vec<Value>> {
    let saved = saved_before(array)?;
    let restores: HashSet<Value> =
        saved.users().into_iter().filter(|u| u.callee().is_some_and(|n| n.starts_with("llvm.stackrestore"))).collect();
    let ends = |i: Value| restores.contains(&i);
    let (found, is_closed) = next_ends(array, &ends, array);
    // Behind a restoration there is none that is not preceded by another array.
    let again = found.iter().any(|end| !next_ends(*end, &ends, array).0.is_empty());
    let only_here = found.iter().all(|end| !reaches_from_entry(function, *end, array));
    (is_closed && !again && only_here && !found.is_empty()).then_some(found)
}

/// The call in the array's block, or in those of which it is the only path to it, that noted the stack before the array.
fn saved_before(array: Value) -> Option<Value> {
    let mut block = array.parent();
    let mut above: Vec<Value> = block.instructions().into_iter().take_while(|i| *i != array).collect();
    let mut seen = HashSet::new();
    loop {
        let is_save = |i: &&Value| i.callee().is_some_and(|n| n.starts_with("llvm.stacksave"));
        if let Some(save) = above.iter().rev().find(is_save) {
            return Some(*save);
        }
        let [before] = block.predecessors()[..] else { return None };
        if !seen.insert(before) {
            return None;
        }
        block = before;
        above = block.instructions();
    }
}

/// The first ends on each path behind an instruction, and whether no path leaves the function, or comes to the array once more, without one.
fn next_ends(from: Value, is_end: &impl Fn(Value) -> bool, array: Value) -> (Vec<Value>, bool) {
    let (mut found, mut is_closed) = (Vec::new(), true);
    let mut seen: HashSet<Block> = HashSet::new();
    let behind = from.parent().instructions().into_iter().skip_while(|i| *i != from).skip(1).collect::<Vec<_>>();
    let mut waiting = vec![behind];
    while let Some(instructions) = waiting.pop() {
        let stops = instructions.iter().find(|i| is_end(**i) || **i == array || i.is(Op::LLVMRet)).copied();
        match stops {
            Some(end) if is_end(end) => {
                if !found.contains(&end) {
                    found.push(end);
                }
            }
            Some(_) => is_closed = false,
            None => {
                let Some(last) = instructions.last() else { continue };
                let next = last.parent().successors().into_iter().filter(|b| seen.insert(*b)).collect::<Vec<_>>();
                waiting.extend(next.into_iter().map(Block::instructions));
            }
        }
    }
    (found, is_closed)
}

/// Whether a path from the function's entry comes to an instruction and not through the array.
fn reaches_from_entry(function: FunctionValue<'_>, end: Value, array: Value) -> bool {
    let start = ir::blocks(function)[0];
    let mut seen = HashSet::from([start]);
    let mut waiting = vec![start];
    while let Some(block) = waiting.pop() {
        match block.instructions().into_iter().find(|i| *i == end || *i == array) {
            Some(first) if first == end => return true,
            Some(_) => {}
            None => waiting.extend(block.successors().into_iter().filter(|b| seen.insert(*b))),
        }
    }
    false
}

/// Replaces the array by a block of the heap, released before each of the ends. `more`: a number of bytes that is added to its own, to hide them.
pub(super) fn move_to_heap(module: &Module<'_>, array: Value, ends: &[Value], more: Option<LLVMValueRef>) {
    let context = module.get_context();
    let (pointer, long) = (context.ptr_type(AddressSpace::default()), context.i64_type());
    let allocate = declared(module, "malloc", pointer.fn_type(&[long.into()], false));
    let noalias = Attribute::get_named_enum_kind_id("noalias");
    allocate.add_attribute(AttributeLoc::Return, context.create_enum_attribute(noalias, 0));
    let release = declared(module, "free", context.void_type().fn_type(&[pointer.into()], false));
    // SAFETY: live values of the module; the array dominates the ends.
    unsafe {
        let element = LLVMABISizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), LLVMGetAllocatedType(array.0));
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, array.0);
        let long = long.as_type_ref();
        let count = LLVMBuildIntCast2(builder, array.operand(0).0, long, 0, c"".as_ptr());
        let bytes = LLVMBuildMul(builder, count, LLVMConstInt(long, element, 0), c"".as_ptr());
        let bytes = more.map_or(bytes, |more| LLVMBuildAdd(builder, more, bytes, c"".as_ptr()));
        let call = |function: FunctionValue<'_>, argument| {
            let (ty, function) = (LLVMGlobalGetValueType(function.as_value_ref()), function.as_value_ref());
            LLVMBuildCall2(builder, ty, function, &mut { argument }, 1, c"".as_ptr())
        };
        let block = call(allocate, bytes);
        let is_lifetime = |u: &Value| u.callee().is_some_and(|name| name.starts_with("llvm.lifetime."));
        array.users().into_iter().filter(is_lifetime).for_each(Value::erase);
        for end in ends {
            LLVMPositionBuilderBefore(builder, end.0);
            call(release, block);
        }
        LLVMReplaceAllUsesWith(array.0, block);
        array.erase();
        LLVMDisposeBuilder(builder);
    }
}

/// A function of the C library.
fn declared<'ctx>(module: &Module<'ctx>, name: &str, ty: FunctionType<'ctx>) -> FunctionValue<'ctx> {
    module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, Some(Linkage::External)))
}
