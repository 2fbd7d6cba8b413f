//! Keeps the address of an argument in the reverse sweep, where Enzyme compares it with that of its shadow.
//!
//! ```text
//! int growth(double x, double *value) { ...  *value = sum * sin(x);  return 0; }
//!
//! %status = call i32 @growth(double %x, ptr %a)              ; forward sweep
//! call @diffegrowth(double %x, ptr undef, ptr %"a'", ..)     ; reverse sweep: icmp ne ptr %value, %"value'"
//! ```
//!
//! With runtime activity, the adjoint of a store compares the address with that of the shadow, and does nothing where they are equal. But Enzyme
//! passes an undefined address to the reverse sweep of a function that only writes to it and keeps no copy
//! (`DifferentialUseAnalysis::is_use_directly_needed_in_reverse`), and LLVM may take an undefined address for the same one: all
//! adjoints are lost (`tests/cases/enzyme_bugs/status_outputs.c`). So each function that is called reads such an argument once, as far as Enzyme knows.

use super::mixed_activity;
use crate::ir::{self, Value, markers};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;

/// Adds the reads, where runtime activity has been requested.
pub fn run(module: &Module<'_>) {
    if !mixed_activity::is_requested(module) {
        return;
    }
    let called = |f: &FunctionValue<'_>| {
        let (function, name) = (Value(f.as_value_ref()), f.get_name().to_string_lossy());
        !name.starts_with(markers::GRADIENT) && function.users().into_iter().any(|user| user.called() == Some(function))
    };
    for function in ir::functions(module).into_iter().filter(called) {
        read_arguments(module, function);
    }
}

/// Adds a read of each pointer that a function only writes to at the start of its body.
fn read_arguments(module: &Module<'_>, function: FunctionValue<'_>) {
    let kind = Attribute::get_named_enum_kind_id("writeonly");
    let is_written = |i: &u32| function.get_enum_attribute(AttributeLoc::Param(*i), kind).is_some();
    let written: Vec<u32> = (0..function.count_params()).filter(is_written).collect();
    if written.is_empty() {
        return;
    }
    let arguments = written.iter().filter_map(|i| function.get_nth_param(*i));
    let start = ir::blocks(function)[0].first_after_phis();
    let read = markers::read_marker(module).as_value_ref();
    // SAFETY: a live function with a body, and a function of its module with one pointer.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, start.0);
        for argument in arguments {
            let ty = LLVMGlobalGetValueType(read);
            LLVMBuildCall2(builder, ty, read, &mut argument.as_value_ref(), 1, c"".as_ptr());
        }
        LLVMDisposeBuilder(builder);
    }
    drop_write_only(function);
}

/// The parameters are not `writeonly` any more, nor is their memory written before it is read; and the function does what the read does.
fn drop_write_only(function: FunctionValue<'_>) {
    for name in ["writeonly", "initializes"] {
        let kind = Attribute::get_named_enum_kind_id(name);
        (0..function.count_params()).for_each(|i| function.remove_enum_attribute(AttributeLoc::Param(i), kind));
    }
    let kind = Attribute::get_named_enum_kind_id("memory");
    if let Some(memory) = function.get_enum_attribute(AttributeLoc::Function, kind) {
        let memory = memory.get_enum_value() | markers::READ_ARGUMENT_MEMORY;
        let context = function.get_type().get_context();
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, memory));
    }
}
