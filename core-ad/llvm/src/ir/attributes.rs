//! Function attributes that several passes set or remove.

use crate::ir::Value;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::{LLVMGetCallSiteEnumAttribute, LLVMGetEnumAttributeValue};

/// Removes `noinline` from every function whose name contains this text, and so from Enzyme's derivatives of them too.
pub fn allow_inlining(module: &Module<'_>, part_of_name: &str) {
    let kind = Attribute::get_named_enum_kind_id("noinline");
    for function in module.get_functions().filter(|f| f.get_name().to_string_lossy().contains(part_of_name)) {
        function.remove_enum_attribute(AttributeLoc::Function, kind);
    }
}

/// Sets (or replaces) a string attribute of a function.
pub fn set_string_attribute(module: &Module<'_>, function: FunctionValue<'_>, key: &str, value: &str) {
    function.remove_string_attribute(AttributeLoc::Function, key);
    let attribute = module.get_context().create_string_attribute(key, value);
    function.add_attribute(AttributeLoc::Function, attribute);
}

/// Whether Enzyme takes a function for inactive.
pub fn is_inactive(function: FunctionValue<'_>) -> bool {
    function.get_string_attribute(AttributeLoc::Function, "enzyme_inactive").is_some()
}

/// The alignment that a call states for an argument; 0 where it states none.
pub fn stated_alignment(call: Value, argument: u32) -> u64 {
    let kind = Attribute::get_named_enum_kind_id("align");
    // SAFETY: a live call, whose arguments count from 1 among its attributes.
    unsafe {
        let found = LLVMGetCallSiteEnumAttribute(call.0, argument + 1, kind);
        if found.is_null() { 0 } else { LLVMGetEnumAttributeValue(found) }
    }
}
