//! Functions that have no part in a derivative: those marked inactive by what they are (text, output, the processor's state), and what only they call.
//!
//! No branch in them chooses what Enzyme differentiates, and some follow the order of addresses, which each process has its own of. What the user
//! marks inactive is not among them: that claim is verified on every path.

use crate::ir::markers::INACTIVE_BY_NAME;
use crate::ir::{self, Value};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::LLVMGetBasicBlockParent;
use std::collections::HashSet;

/// These functions.
pub fn all<'ctx>(module: &Module<'ctx>) -> HashSet<FunctionValue<'ctx>> {
    let mut found: HashSet<FunctionValue<'ctx>> =
        ir::functions(module).into_iter().filter(|f| is_inactive(*f)).collect();
    loop {
        let before = found.len();
        if before > 0 {
            let more = ir::functions(module).into_iter().filter(|f| is_called_from(*f, &found));
            let more: Vec<_> = more.collect();
            found.extend(more);
        }
        if found.len() == before {
            return found;
        }
    }
}

fn is_inactive(function: FunctionValue<'_>) -> bool {
    ir::is_inactive(function) && function.get_string_attribute(AttributeLoc::Function, INACTIVE_BY_NAME).is_none()
}

/// Whether it is called, and only from these.
fn is_called_from(function: FunctionValue<'_>, callers: &HashSet<FunctionValue<'_>>) -> bool {
    let value = Value(function.as_value_ref());
    let is_call = |user: &Value| {
        let is_passed = user.operands().iter().filter(|operand| **operand == value).count() > 1;
        // SAFETY: the function that a live instruction stands in.
        let caller = || unsafe { FunctionValue::new(LLVMGetBasicBlockParent(user.parent().0)) };
        user.called() == Some(value) && !is_passed && caller().is_some_and(|caller| callers.contains(&caller))
    };
    let users = value.users();
    !users.is_empty() && users.iter().all(is_call)
}
