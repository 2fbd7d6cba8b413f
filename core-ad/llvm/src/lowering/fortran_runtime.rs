//! Lowers calls of flang's runtime library: rules for its array operations, and empty bodies for printing.

use super::derived_types;
use super::openmp::location;
use crate::ir::markers::hide;
use crate::ir::{Op, Result, Value};
use crate::rules::inactive;
use core_ad::diagnostics::Diagnosis;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::types::{AsTypeRef, BasicTypeEnum};
use inkwell::values::{AsValueRef, BasicValue, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// Start of the names of rules for flang's runtime (`compile-driver/rules/flang_*.c`).
const RULES: &str = "ffgrad_flang_";

/// Whether rules for flang's runtime were linked in.
pub fn uses_rules(module: &Module<'_>) -> bool {
    module.get_functions().any(|f| is_rule(&f.get_name().to_string_lossy()))
}

/// Whether a function is one of them.
pub fn is_rule(name: &str) -> bool {
    name.starts_with(RULES)
}

/// What no call may be left of: what a rule does not do, and objects of a type that [`derived_types`] could not expand.
const REFUSED: [&str; 4] = ["ffgrad_flang_refuse", derived_types::COPY, derived_types::CREATE, derived_types::DESTROY];

fn first_use(module: &Module<'_>, name: &str) -> Option<LLVMValueRef> {
    let function = module.get_function(name)?;
    let used = function.as_global_value().as_pointer_value().get_first_use()?;
    Some(used.get_user().as_value_ref())
}

/// Whether a case is left for which there is no rule.
pub fn refuses(module: &Module<'_>) -> bool {
    REFUSED.iter().any(|name| first_use(module, name).is_some())
}

/// The refusal, with the line of the first such place.
pub fn refusal(module: &Module<'_>, function: &str) -> Box<Diagnosis> {
    let user = REFUSED.iter().find_map(|name| first_use(module, name));
    // SAFETY: a live value of `module`; only instructions have a place.
    let at = user.and_then(|u| unsafe { if LLVMIsAInstruction(u).is_null() { None } else { location(u) } });
    let function = function.trim_end_matches('_');
    let headline = format!(
        "`{function}` assigns, allocates or copies whole arrays of derived type or of characters, or an array of which the \
         compiler does not know the element type; that has no derivative"
    );
    let mut refusal = Diagnosis::new("fortran-runtime", function, headline)
        .advise("Write it component by component, with arrays of numbers (`ffgrad explain fortran`).");
    refusal.location = at;
    Box::new(refusal)
}

/// Start of the names of flang's runtime for input and output.
const IO: &str = "_FortranAio";
/// How the names continue of what begins a statement that prints.
const EXTERNAL: &str = "BeginExternal";
/// What statements that only print call.
const PRINTING: [&str; 4] =
    ["BeginExternalListOutput", "BeginExternalFormattedOutput", "EndIoStatement", "EnableHandlers"];

/// What statements call that write to characters.
const INTERNAL: [&str; 4] = [
    "BeginInternalListOutput",
    "BeginInternalFormattedOutput",
    "BeginInternalArrayListOutput",
    "BeginInternalArrayFormattedOutput",
];

/// Fortran's units of standard error and standard output.
const STANDARD: [i64; 2] = [0, 6];

/// Takes what is printed out of a derivative: the primal has printed it already, and printing changes no value.
/// Where the module reads files too, only what goes to the standard units, which no statement reads back; all other statements are executed once more,
/// and what they read has no derivative. What is written to characters stays, as the program may go by it, and carries no derivative either.
pub fn silence(module: &Module<'_>) -> Result<()> {
    let calls: Vec<FunctionValue<'_>> =
        module.get_functions().filter(|f| f.get_name().to_bytes().starts_with(IO.as_bytes())).collect();
    let is_internal = |f: &FunctionValue<'_>| INTERNAL.contains(&rest(f).as_str());
    let prints = |f: &FunctionValue<'_>| rest(f).starts_with("Output") || PRINTING.contains(&rest(f).as_str());
    let internal = calls.iter().any(is_internal);
    let only_prints = calls.iter().all(|f| prints(f) || is_internal(f));
    for function in calls.into_iter().filter(|f| f.count_basic_blocks() == 0) {
        if only_prints && !internal {
            silence_one(module, function)?;
            continue;
        }
        let mut printed = printing_calls(function);
        if !only_prints {
            printed.retain(|call| is_standard(*call) || is_standard(call.operand(0)));
        }
        inactive::mark_runtime(module, function);
        for (name, count) in NUMBERS {
            if rest(&function) == name {
                forget_derivatives(module, function, count);
            }
        }
        if !printed.is_empty() {
            let name = format!("ffgrad.silent.{}", rest(&function));
            let silent = module.add_function(&name, function.get_type(), None);
            silence_one(module, silent)?;
            // SAFETY: live calls of a function of this type.
            printed.into_iter().for_each(|call| unsafe {
                let callee = LLVMGetNumOperands(call.0) as u32 - 1;
                LLVMSetOperand(call.0, callee, silent.as_value_ref());
            });
        }
    }
    Ok(())
}

/// What reads floating-point numbers, and how many.
const NUMBERS: [(&str, u64); 4] =
    [("InputReal64", 1), ("InputReal32", 1), ("InputComplex64", 2), ("InputComplex32", 2)];

/// Stores each number that a function reads once more, as one without a derivative: Enzyme takes the function for one that writes nothing.
fn forget_derivatives(module: &Module<'_>, function: FunctionValue<'_>, count: u64) {
    let context = module.get_context();
    let number = if rest(&function).ends_with("64") { context.f64_type() } else { context.f32_type() };
    for call in Value(function.as_value_ref()).users().into_iter().filter(|user| user.is(Op::LLVMCall)) {
        // SAFETY: new instructions behind a call of the module, which stands before another instruction; its second argument is the number's address.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(call.0));
            for i in 0..count {
                let mut place = LLVMConstInt(context.i64_type().as_type_ref(), i, 0);
                let name = c"".as_ptr();
                let at = LLVMBuildGEP2(builder, number.as_type_ref(), call.operand(1).0, &mut place, 1, name);
                let read = LLVMBuildLoad2(builder, number.as_type_ref(), at, name);
                if let Some(constant) = hide(module, builder, read) {
                    LLVMBuildStore(builder, constant, at);
                }
            }
            LLVMDisposeBuilder(builder);
        }
    }
}

/// Whether a call begins a statement that prints to a standard unit.
fn is_standard(call: Value) -> bool {
    begins_printing(call) && call.operand(0).constant().is_some_and(|unit| STANDARD.contains(&unit))
}

/// Whether a call begins a statement that prints, by its name or by that of what has replaced it.
fn begins_printing(call: Value) -> bool {
    call.callee().is_some_and(|name| name.contains(EXTERNAL))
}

/// What follows [`IO`] in a name.
fn rest(function: &FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().trim_start_matches(IO).to_owned()
}

/// The calls of a function for statements that print, by the statement's beginning.
fn printing_calls(function: FunctionValue<'_>) -> Vec<Value> {
    let users = Value(function.as_value_ref()).users().into_iter().filter(|user| user.is(Op::LLVMCall));
    users.filter(|call| begins_printing(*call) || begins_printing(call.operand(0))).collect()
}

fn silence_one(module: &Module<'_>, function: FunctionValue<'_>) -> Result<()> {
    let context = module.get_context();
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let name = function.get_name().to_string_lossy().into_owned();
    let done = match function.get_type().get_return_type() {
        // The outputs report success; the statement's end returns the status 0.
        Some(BasicTypeEnum::IntType(ty)) => {
            let well = u64::from(name.contains("Output") && ty.get_bit_width() == 1);
            builder.build_return(Some(&ty.const_int(well, false)))
        }
        Some(BasicTypeEnum::PointerType(ty)) => builder.build_return(Some(&ty.const_null())),
        Some(_) => return Err(format!("`{name}` returns something unknown")),
        None => builder.build_return(None),
    };
    done.map_err(|e| e.to_string())?;
    // SAFETY: a live function; a declaration's debug information does not fit a body.
    unsafe { llvm_sys::debuginfo::LLVMSetSubprogram(function.as_value_ref(), std::ptr::null_mut()) };
    function.set_linkage(Linkage::Internal);
    let kind = Attribute::get_named_enum_kind_id("alwaysinline");
    function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    Ok(())
}
