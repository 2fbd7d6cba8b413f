//! Outlines `memcpy` from memory that the function writes, into a function that Enzyme does not move.
//!
//! ```text
//! t[k] = g(a);  memcpy(c, t, sizeof t);  y *= c[k];
//! ```
//!
//! Where the reverse sweep does not need the value of `g(a)`, Enzyme runs `g` and its adjoint together, in the reverse sweep,
//! and moves along the instructions that depend on the call: the store, and the copy, which reads what the store wrote. It
//! misses the uses of the copy, so `c[k]` is read before it is written: a wrong gradient, or none (`tests/cases/enzyme_bugs/copied_results_generated.c`).
//! It does not move a call of a function, and then leaves everything in place. So a copy from memory that other code of the
//! function writes becomes a call of an outlined copy, which is inlined again after Enzyme.

use crate::analysis::memory_objects::{Objects, allocates, is_neutral};
use crate::ir::{self, Block, Op, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use std::ffi::c_uint;

/// Prefix of the names of outlined copies.
const COPY: &str = "ffgrad.copy.";

/// Outlines such copies.
pub fn run(module: &Module<'_>) {
    let mut done = 0;
    for function in ir::functions(module) {
        let instructions: Vec<Value> = ir::blocks(function).into_iter().flat_map(Block::instructions).collect();
        if !instructions.iter().any(|i| is_differentiated_call(*i)) {
            continue;
        }
        let objects = Objects::of(function);
        for copy in instructions.iter().copied().filter(|i| is_copy(*i) && reads_what_is_written(&objects, *i)) {
            replace(module, copy, done);
            done += 1;
        }
    }
}

/// After Enzyme: allows inlining of the outlined copies and their derivatives.
pub fn undo(module: &Module<'_>) {
    ir::allow_inlining(module, COPY);
}

fn is_copy(instruction: Value) -> bool {
    let name = instruction.callee().unwrap_or_default();
    (name.starts_with("llvm.memcpy.p0.p0.") || name.starts_with("llvm.memmove.p0.p0."))
        && instruction.operand(3).constant() == Some(0)
}

/// Whether Enzyme may differentiate a call of a function, its return value or what it writes.
fn is_differentiated_call(instruction: Value) -> bool {
    let is_call = instruction.is(Op::LLVMCall) || instruction.is(Op::LLVMInvoke);
    if !is_call || instruction.never_returns() {
        return false;
    }
    let known = |name: String| name.starts_with("llvm.") || is_neutral(&name) || allocates(&name);
    // Enzyme has formulas for pure functions of the C library.
    instruction.calls_a_body() || !(instruction.callee().is_some_and(known) || instruction.only_computes())
}

/// Whether anything but a memset writes to the source of a copy, as far as known.
fn reads_what_is_written(objects: &Objects, copy: Value) -> bool {
    let sources = objects.underlying(copy.operand(1));
    let is_fill = |write: &Value| write.callee().is_some_and(|name| name.starts_with("llvm.memset."));
    sources.is_empty()
        || sources.iter().map(|source| objects.get(*source)).any(|o| o.escapes || !o.writes.iter().all(is_fill))
}

/// Replaces a copy by a call of an outlined copy. A constant length stays constant.
fn replace(module: &Module<'_>, copy: Value, number: usize) {
    let length = copy.operand(2);
    let known = length.constant().is_some();
    // SAFETY: live values of the module; the copy has no value, so no uses, and is not used after it is erased.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let pointer = LLVMPointerTypeInContext(context, 0);
        let mut types = [pointer, pointer, length.ty()];
        let count: c_uint = if known { 2 } else { 3 };
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), types.as_mut_ptr(), count, 0);
        let name = format!("{COPY}{number}\0");
        let function = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr().cast(), ty);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, c"".as_ptr()));
        let inner = LLVMInstructionClone(copy.0);
        for i in 0..count {
            LLVMSetOperand(inner, i, LLVMGetParam(function, i));
        }
        LLVMInsertIntoBuilder(builder, inner);
        LLVMInstructionSetDebugLoc(inner, std::ptr::null_mut());
        LLVMBuildRetVoid(builder);
        if let Some(function) = FunctionValue::new(function) {
            describe(module, function);
        }
        LLVMPositionBuilderBefore(builder, copy.0);
        let mut arguments = [copy.operand(0).0, copy.operand(1).0, length.0];
        let call = LLVMBuildCall2(builder, ty, function, arguments.as_mut_ptr(), count, c"".as_ptr());
        LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(copy.0));
        LLVMDisposeBuilder(builder);
        copy.erase();
    }
}

/// Adds the attributes that LLVM infers for memcpy.
fn describe(module: &Module<'_>, function: FunctionValue<'_>) {
    let context = module.get_context();
    let attribute = |name, value| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value);
    // memory(argmem: readwrite), in LLVM's encoding of two bits per location.
    for (name, value) in
        [("noinline", 0), ("nounwind", 0), ("willreturn", 0), ("nofree", 0), ("nosync", 0), ("memory", 0b11)]
    {
        function.add_attribute(AttributeLoc::Function, attribute(name, value));
    }
    for (i, access) in [(0, "writeonly"), (1, "readonly")] {
        function.add_attribute(AttributeLoc::Param(i), attribute(access, 0));
        function.add_attribute(AttributeLoc::Param(i), attribute("captures", 0));
    }
    function.set_linkage(Linkage::Internal);
}
