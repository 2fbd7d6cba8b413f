//! The calls of `__enzyme_autodiff` and others, by which a derivative is requested, and the words among their arguments.

use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::types::AsTypeRef;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMTypeKind::LLVMPointerTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// Has Enzyme multiply with a tangent or cotangent of zero by a comparison: what is not finite has no part in a derivative that it does not reach.
pub const STRONG_ZERO: &str = "enzyme_strong_zero";

/// The calls that request a derivative.
pub fn all(module: &Module<'_>) -> Vec<Value> {
    ir::all_instructions(module)
        .into_iter()
        .filter(|i| i.callee().is_some_and(|name| name.starts_with("__enzyme_") && name.ends_with("_ffgrad")))
        .collect()
}

/// Whether forward mode is requested.
pub fn is_forward(request: Value) -> bool {
    request.callee().is_some_and(|name| name.starts_with("__enzyme_fwddiff"))
}

/// Whether a request has a word.
pub fn has(request: Value, name: &str) -> bool {
    request.operands().into_iter().filter_map(word).any(|word| word == name)
}

/// Enzyme's word for the argument that follows.
pub fn word(argument: Value) -> Option<String> {
    let global = argument.is(Op::LLVMLoad).then(|| argument.operand(0))?;
    // SAFETY: asked of a live value; the name lives as long.
    unsafe {
        if LLVMIsAGlobalVariable(global.0).is_null() {
            return None;
        }
        let mut length = 0;
        let name = LLVMGetValueName2(global.0, &mut length);
        let name = String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length)).into_owned();
        name.starts_with("enzyme_").then_some(name)
    }
}

/// Adds a word behind the function that a request is about, once.
pub fn add(module: &Module<'_>, call: Value, name: &str) {
    if has(call, name) {
        return;
    }
    let ty = module.get_context().i32_type();
    let global = module.get_global(name).unwrap_or_else(|| module.add_global(ty, None, name));
    let mut arguments: Vec<LLVMValueRef> = call.operands().into_iter().map(|o| o.0).collect();
    let callee = arguments.pop();
    // SAFETY: a live call of a function of any arguments, which is erased after its uses are replaced.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, call.0);
        let word = LLVMBuildLoad2(builder, ty.as_type_ref(), global.as_value_ref(), c"".as_ptr());
        arguments.insert(1, word);
        let (called, count) = (callee.unwrap_or(LLVMGetCalledValue(call.0)), arguments.len() as u32);
        let new = LLVMBuildCall2(
            builder,
            LLVMGlobalGetValueType(called),
            called,
            arguments.as_mut_ptr(),
            count,
            c"".as_ptr(),
        );
        if LLVMGetTypeKind(call.ty()) == LLVMPointerTypeKind {
            LLVMReplaceAllUsesWith(call.0, new);
        }
        LLVMDisposeBuilder(builder);
    }
    call.erase();
}
