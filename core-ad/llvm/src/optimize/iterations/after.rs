//! What becomes of the two calls of an iteration when Enzyme is done.

use super::{BODY, ONCE, calls_of, number_in};
use crate::ir::path_markers;
use crate::ir::{self, Block, Result, Value, metadata};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashMap;

/// Whether a module has outlined iterations.
pub fn any(module: &Module<'_>) -> bool {
    module.get_functions().any(|f| f.get_name().to_string_lossy().starts_with(BODY))
}

/// Lets the forward sweep run the iterations once, and allows inlining.
///
/// The two calls of an iteration stand together, and what duplicates or drops one does so to both. But Enzyme decides of each call by itself whether it
/// moves to the reverse sweep. So in a function the second calls are counted that run forward: none, or as many as there are first ones.
///
/// # Errors
///
/// Where it is another number: which of the first calls are needed is not known then. Another pipeline takes over.
pub fn resolve(module: &Module<'_>) -> Result<()> {
    let named = |prefix: &str| {
        let is_one = |f: &FunctionValue<'_>| f.get_name().to_string_lossy().starts_with(prefix);
        module.get_functions().filter(is_one).collect::<Vec<_>>()
    };
    for once in named(ONCE) {
        let Some(number) = number_in(&once.get_name().to_string_lossy(), ONCE) else { continue };
        let body = module.get_function(&format!("{BODY}{number}"));
        // Asked of all calls before one is replaced: what takes its place runs forward, too.
        let mut by_function: HashMap<LLVMValueRef, Vec<Value>> = HashMap::new();
        for call in calls_of(once) {
            // SAFETY: the function of a live call's block.
            let function = unsafe { LLVMGetBasicBlockParent(call.parent().0) };
            by_function.entry(function).or_default().push(call);
        }
        let mut all = Vec::new();
        for (function, calls) in by_function {
            let forward = forward_calls(function, number);
            if forward != 0 && forward != calls.len() {
                return Err(format!(
                    "of {} calls of iteration {number}, {forward} run in the forward sweep; `without=[\"iterations\"]` avoids that",
                    calls.len()
                ));
            }
            all.extend(calls.into_iter().map(|call| (call, forward != 0)));
        }
        for (call, runs) in all {
            match body.filter(|_| !runs) {
                Some(body) => call_instead(call, body),
                None => call.erase(),
            }
        }
    }
    for i in ir::all_instructions(module).into_iter().filter(|i| i.callee().is_some_and(|n| n.contains(BODY))) {
        metadata::remove(i, c"alias.scope");
        metadata::remove(i, c"noalias");
    }
    let flag = |name| Attribute::get_named_enum_kind_id(name);
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if !name.contains(BODY) {
            continue;
        }
        if name.starts_with("diffe") {
            forget_paths(function);
        }
        function.remove_enum_attribute(AttributeLoc::Function, flag("noinline"));
        function.set_linkage(Linkage::Internal);
        if calls_of(function).len() == 1 {
            function.add_attribute(
                AttributeLoc::Function,
                module.get_context().create_enum_attribute(flag("alwaysinline"), 0),
            );
        }
    }
    Ok(())
}

/// How many calls of a function run this iteration, or a derivative of it, in the forward sweep: all but the reverse alone does so. Second derivatives, in
/// which the reverse sweep has other names, have no such iterations (`reverses_once` in `pipeline.rs`).
fn forward_calls(function: LLVMValueRef, number: usize) -> usize {
    // SAFETY: a live function.
    let function = unsafe { FunctionValue::new(function) };
    let all = function.map(|f| ir::blocks(f)).unwrap_or_default().into_iter().flat_map(Block::instructions);
    let names = all.filter_map(Value::callee).filter(|name| number_in(name, BODY) == Some(number));
    names.filter(|name| !name.starts_with("diffe")).count()
}

/// Paths are counted in the forward sweep.
fn forget_paths(function: FunctionValue<'_>) {
    for i in ir::blocks(function).into_iter().flat_map(Block::instructions) {
        if i.callee().is_some_and(|name| path_markers::is_one(&name)) {
            i.erase();
        }
    }
}

/// Replaces a call by that of another function with the same parameters.
fn call_instead(call: Value, function: FunctionValue<'_>) {
    // SAFETY: a live call without a value, and a function of its type.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetValueContext(call.0));
        LLVMPositionBuilderBefore(builder, call.0);
        let count = LLVMGetNumArgOperands(call.0);
        let mut arguments: Vec<_> = (0..count).map(|i| call.operand(i).0).collect();
        let function = function.as_value_ref();
        let ty = LLVMGlobalGetValueType(function);
        let new = LLVMBuildCall2(builder, ty, function, arguments.as_mut_ptr(), count, c"".as_ptr());
        LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(call.0));
        LLVMDisposeBuilder(builder);
    }
    call.erase();
}
