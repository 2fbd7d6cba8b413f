//! Finds calls that do not fit the function that they reach, in another file or without an interface: too few arguments, or a result of another kind of
//! number. No compiler sees both sides. What is missing is read from wherever it would have been, and kills the process or gives anything.
//!
//! A missing number by value is let through: Fortran passes the lengths of characters behind the other arguments, and old programs give integers for
//! characters and characters for integers.

use super::openmp::location;
use crate::analysis::reachable::reachable;
use crate::ir::{self, Op, Value};
use core_ad::diagnostics::{Diagnosis, MISMATCHED_CALL};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;

/// The refusal of the first such call that the user's function reaches.
pub fn refusal(module: &Module<'_>, symbol: &str, function: &str) -> Option<Box<Diagnosis>> {
    // SAFETY: a live function of the module.
    let inside = unsafe { reachable(&[module.get_function(symbol)?]) };
    let mut defined = module.get_functions().filter(|f| f.count_basic_blocks() > 0);
    defined.find_map(|callee| {
        let calls = Value(callee.as_value_ref()).users().into_iter();
        // SAFETY: a live instruction.
        let is_inside = |call: &Value| unsafe { inside.contains(&LLVMGetBasicBlockParent(call.parent().0)) };
        let own = |call: &Value| {
            call.is(Op::LLVMCall) && call.called() == Some(Value(callee.as_value_ref())) && is_inside(call)
        };
        calls.filter(own).find_map(|call| {
            let what = wrong_result(call, callee).or_else(|| missing(call, callee))?;
            let name = callee.get_name().to_string_lossy().trim_end_matches('_').to_owned();
            let headline = format!("`{name}` is called as what it is not: {what}");
            let mut refusal =
                Diagnosis::new(MISMATCHED_CALL, function.trim_end_matches('_'), headline).advise(format!(
                    "Correct the call, or what declares `{name}` there; `-Wall` of another compiler names such calls."
                ));
            // SAFETY: a live call.
            refusal.location = unsafe { location(call.0) };
            Some(Box::new(refusal))
        })
    })
}

fn wrong_result(call: Value, callee: FunctionValue<'_>) -> Option<String> {
    // SAFETY: types of live values.
    let (there, here) = unsafe { (LLVMGetReturnType(LLVMGlobalGetValueType(callee.as_value_ref())), call.ty()) };
    // SAFETY: a live type.
    let name = |ty| match unsafe { LLVMGetTypeKind(ty) } {
        LLVMTypeKind::LLVMFloatTypeKind => Some("a number of 4 bytes"),
        LLVMTypeKind::LLVMDoubleTypeKind => Some("a number of 8 bytes"),
        _ => None,
    };
    let (there_name, here_name) = (name(there)?, name(here)?);
    (there != here && !call.users().is_empty())
        .then(|| format!("it returns {there_name}, and the caller expects {here_name}"))
}

fn missing(call: Value, callee: FunctionValue<'_>) -> Option<String> {
    // SAFETY: a live call.
    let given = unsafe { LLVMGetNumArgOperands(call.0) } as usize;
    let parameters = ir::arguments(callee);
    let is_needed = |parameter: &Value| parameter.is_pointer() && !parameter.users().is_empty();
    parameters
        .iter()
        .skip(given)
        .any(is_needed)
        .then(|| format!("it takes {} arguments, and the caller gives {given}", parameters.len()))
}
