//! Solvers with the implicit function theorem's derivative: in derivatives a program that ffgrad has made takes the place of the
//! user's (`core-ad/src/implicit/mod.rs`), which that program calls for its values.

use super::rule::text;
use crate::ir::Result;
use core_ad::protocol::Solver;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashSet;

/// Lets all calls of the solvers go to the programs in their place, but those of the programs and of the solvers themselves.
///
/// # Errors
///
/// Where a program does not fit.
pub fn replace(module: &Module<'_>, solvers: &[Solver]) -> Result<()> {
    for solver in solvers {
        let function = |name: &str| module.get_function(name).ok_or_else(|| format!("there is no function `{name}`"));
        let (own, replacement, inside) =
            (function(&solver.symbol)?, function(&solver.replacement)?, function(&solver.inside)?);
        if own.get_type() != replacement.get_type() {
            return Err(format!(
                "the program in the place of `{}` has the prototype `{}`, and the function `{}`",
                solver.symbol,
                replacement.get_type().print_to_string().to_string(),
                own.get_type().print_to_string().to_string()
            ));
        }
        replacement.set_call_conventions(own.get_call_conventions());
        // What it frees it has allocated itself. Without this Enzyme makes a copy that frees nothing, and cannot of its own calls there.
        let nofree = Attribute::get_named_enum_kind_id("nofree");
        inside.add_attribute(AttributeLoc::Function, module.get_context().create_enum_attribute(nofree, 0));
        redirect(own, replacement, &HashSet::from([own.as_value_ref(), inside.as_value_ref()]));
    }
    Ok(())
}

/// Replaces the uses of a function outside some others; its mention in constants too.
fn redirect(own: FunctionValue<'_>, replacement: FunctionValue<'_>, except: &HashSet<LLVMValueRef>) {
    // SAFETY: walks the uses of a live function, which stay valid as operands are set one by one: the list is taken first.
    unsafe {
        let mut users = Vec::new();
        let mut next = LLVMGetFirstUse(own.as_value_ref());
        while !next.is_null() {
            users.push(LLVMGetUser(next));
            next = LLVMGetNextUse(next);
        }
        for user in users {
            let is_instruction = !LLVMIsAInstruction(user).is_null();
            if is_instruction && except.contains(&LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))) {
                continue;
            }
            if !is_instruction && LLVMIsAGlobalVariable(user).is_null() {
                // Constants are shared: the table that holds one is rare, and its solver keeps its own derivative there.
                continue;
            }
            for i in 0..LLVMGetNumOperands(user) as u32 {
                if LLVMGetOperand(user, i) == own.as_value_ref() {
                    LLVMSetOperand(user, i, replacement.as_value_ref());
                }
            }
        }
    }
    debug_assert_ne!(text(own.get_name()), text(replacement.get_name()));
}
