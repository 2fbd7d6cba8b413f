//! Takes the address of a thread-local variable in a function of its own, on x86 with AVX-512: LLVM 22 believes that the C library's function which
//! gives it keeps the vector registers 16 to 31.
//!
//! It does not: the first access of a thread allocates the variable's memory and clears it with these registers. What the function had in one of them
//! is then another number, in the first call of each thread (`tests/cases/enzyme_bugs/first_use_of_thread_local.c`). Behind an ordinary call no such
//! register is in use.

use crate::ir::{self, Value, blocks};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashMap;

/// The intrinsic that gives the address of a thread-local variable.
pub const INTRINSIC: &str = "llvm.threadlocal.address";

/// How the names of the functions begin.
const PREFIX: &str = "ffgrad.thread.";

/// Replaces the intrinsic in functions that may use these registers.
pub fn run(module: &Module<'_>) {
    let mut known = HashMap::new();
    for function in ir::functions(module).into_iter().filter(|&f| has_many_registers(f) && !is_ours(f)) {
        let all: Vec<Value> = blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
        for address in all.into_iter().filter(|i| i.callee().is_some_and(|name| name.starts_with(INTRINSIC))) {
            let own = *known.entry(address.operand(0).0).or_insert_with(|| accessor(module, address));
            // SAFETY: a call without arguments before one of the same type, which it replaces.
            unsafe {
                let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
                LLVMPositionBuilderBefore(builder, address.0);
                let ty = LLVMGlobalGetValueType(own);
                let call = LLVMBuildCall2(builder, ty, own, std::ptr::null_mut(), 0, c"".as_ptr());
                LLVMDisposeBuilder(builder);
                LLVMReplaceAllUsesWith(address.0, call);
                LLVMInstructionEraseFromParent(address.0);
            }
        }
    }
}

fn has_many_registers(function: FunctionValue<'_>) -> bool {
    let features = function.get_string_attribute(AttributeLoc::Function, "target-features");
    features.is_some_and(|all| all.get_string_value().to_string_lossy().contains("+avx512f"))
}

fn is_ours(function: FunctionValue<'_>) -> bool {
    function.get_name().to_bytes().starts_with(PREFIX.as_bytes())
}

/// The function that gives a variable's address, a copy of an intrinsic's call. Its result is the same for the whole of a call.
fn accessor(module: &Module<'_>, address: Value) -> LLVMValueRef {
    let context = module.get_context();
    // SAFETY: the intrinsic's result has a type of the module's context; the copied call has a constant for its argument.
    unsafe {
        let ty = LLVMFunctionType(LLVMTypeOf(address.0), std::ptr::null_mut(), 0, 0);
        let ty = inkwell::types::FunctionType::new(ty);
        let number = module.get_functions().filter(|&f| is_ours(f)).count();
        let own = module.add_function(&format!("{PREFIX}{number}"), ty, Some(Linkage::Internal));
        for (name, value) in [("noinline", 0), ("nounwind", 0), ("willreturn", 0), ("memory", 0)] {
            let attribute = context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value);
            own.add_attribute(AttributeLoc::Function, attribute);
        }
        let block = context.append_basic_block(own, "");
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderAtEnd(builder, block.as_mut_ptr());
        let copy = LLVMInstructionClone(address.0);
        LLVMInsertIntoBuilder(builder, copy);
        LLVMBuildRet(builder, copy);
        LLVMDisposeBuilder(builder);
        own.as_value_ref()
    }
}
