//! Has the markers of paths be volatile stores for Enzyme, and calls before and after it.
//!
//! ```text
//! call void @ffgrad.path(i32 12, i32 2, i32 %taken)      becomes      store volatile i32 %taken, ptr %ffgrad.slot.0.12.2.
//! ```
//!
//! For each load Enzyme goes through all calls that may come after it and may write memory, and looks the name of what is called up in tables that it fills
//! again each time (`isMemFreeLibMFunction`, `extractBLAS`). A store to a variable that nothing reads is ruled out by alias analysis. A volatile one stays where
//! and as often as a call does. The variable's name says which marker it was; Enzyme and LLVM only add to its end.

use crate::ir::path_markers::{self, MARKERS};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;
use std::collections::HashMap;
use std::ffi::CString;

/// How the variables' names begin.
const SLOT: &str = "ffgrad.slot.";

/// A marker by its place in [`MARKERS`], and its two constant arguments.
type Which = (usize, i64, i64);

/// Makes stores of the calls. Last before Enzyme.
pub fn run(module: &Module<'_>) {
    with_builder(module, |builder| {
        for function in ir::functions(module) {
            store_in(function, builder);
        }
    });
}

fn store_in(function: FunctionValue<'_>, builder: LLVMBuilderRef) {
    let all = ir::blocks(function).into_iter().flat_map(|block| block.instructions());
    let marked: Vec<(Value, Which)> = all.filter_map(|call| Some((call, which(call)?))).collect();
    let mut slots: HashMap<Which, Value> = HashMap::new();
    for (call, which) in marked {
        let slot = *slots.entry(which).or_insert_with(|| slot(function, builder, which));
        // SAFETY: a live call, before which its argument is defined; nothing uses it.
        unsafe {
            LLVMPositionBuilderBefore(builder, call.0);
            let store = LLVMBuildStore(builder, call.operand(2).0, slot.0);
            LLVMSetVolatile(store, 1);
        }
        call.erase();
    }
}

/// What a call marks; `None` for any other instruction.
fn which(call: Value) -> Option<Which> {
    let name = call.callee()?;
    let marker = MARKERS.iter().position(|marker| *marker == name)?;
    Some((marker, call.operand(0).constant()?, call.operand(1).constant()?))
}

/// A new variable of a function.
fn slot(function: FunctionValue<'_>, builder: LLVMBuilderRef, (marker, first, edges): Which) -> Value {
    // No digit stands last, so that what LLVM adds does not belong to a number.
    let name = CString::new(format!("{SLOT}{marker}.{first}.{edges}.")).unwrap_or_default();
    // SAFETY: the entry block of a function with a body, which has a first instruction.
    unsafe {
        let entry = LLVMGetEntryBasicBlock(function.as_value_ref());
        LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(entry));
        let ty = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(function.as_value_ref())));
        Value(LLVMBuildAlloca(builder, ty, name.as_ptr()))
    }
}

/// After Enzyme: makes calls of the stores.
pub fn undo(module: &Module<'_>) {
    let slots = ir::all_instructions(module).into_iter().filter(|i| i.is(Op::LLVMAlloca));
    let slots: Vec<(Value, Which)> = slots.filter_map(|slot| Some((slot, read(&slot.name())?))).collect();
    with_builder(module, |builder| {
        for (slot, (marker, first, edges)) in slots {
            let function = path_markers::marker(module, MARKERS[marker]);
            for user in slot.users() {
                if user.is(Op::LLVMStore) && user.operand(1) == slot {
                    // SAFETY: a live store, before which its value is defined; the function takes three integers of 32 bits.
                    unsafe {
                        LLVMPositionBuilderBefore(builder, user.0);
                        let constant = |number: i64| LLVMConstInt(LLVMTypeOf(user.operand(0).0), number as u64, 0);
                        let mut given = [constant(first), constant(edges), user.operand(0).0];
                        let ty = LLVMGlobalGetValueType(function.as_value_ref());
                        LLVMBuildCall2(builder, ty, function.as_value_ref(), given.as_mut_ptr(), 3, c"".as_ptr());
                    }
                    user.erase();
                }
            }
            if slot.users().is_empty() {
                slot.erase();
            }
        }
    });
}

/// What the name of a variable says.
fn read(name: &str) -> Option<Which> {
    let mut parts = name.strip_prefix(SLOT)?.split('.');
    let marker = parts.next()?.parse().ok().filter(|marker| *marker < MARKERS.len())?;
    Some((marker, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn with_builder(module: &Module<'_>, use_it: impl FnOnce(LLVMBuilderRef)) {
    // SAFETY: a builder of the module's context, which is disposed of here.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        use_it(builder);
        LLVMDisposeBuilder(builder);
    }
}
