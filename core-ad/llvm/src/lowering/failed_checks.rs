//! Stops a derivative where a check of the function's fails: a branch to code that does not return, which was left out of it
//! ([`dead_ends`](super::dead_ends)). What would follow may write behind an array that the check guards.
//!
//! The driver tells the artifact what to call then, which jumps out of the derivative (`compile-driver/src/call/crash_guard.rs`).

use crate::ir::{Result, callers, path_markers, texts};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use std::collections::HashSet;

/// Name of the function of the text.
const STOP: &str = "ffgrad.stop.at";

/// Attributes of functions, and of calls, that return and leave memory as it is.
const HARMLESS: [&str; 3] = ["willreturn", "memory", "speculatable"];

/// The function `(fails)` of a module that stops where that is not 0.
pub struct FailedChecks(LLVMValueRef);

impl FailedChecks {
    /// Adds it, and the variable that the driver sets.
    ///
    /// # Errors
    ///
    /// LLVM's own.
    pub fn of(module: &Module<'_>) -> Result<FailedChecks> {
        allow_ends(module);
        texts::link(module, include_str!("failed_checks.ll"), STOP)?;
        // Visible in the text: LLVM does not link what nothing uses yet.
        let function = module.get_function(STOP).ok_or("no function that stops")?;
        function.set_linkage(Linkage::Internal);
        Ok(FailedChecks(function.as_value_ref()))
    }

    /// Stops there if a check fails.
    ///
    /// # Safety
    ///
    /// The builder stands in the module, where the value is defined.
    pub unsafe fn at(&self, builder: LLVMBuilderRef, fails: LLVMValueRef) {
        // SAFETY: by this function's promise; the function takes one word.
        unsafe {
            let ty = LLVMGlobalGetValueType(self.0);
            LLVMBuildCall2(builder, ty, self.0, [fails].as_mut_ptr(), 1, c"".as_ptr());
        }
    }
}

/// Functions with a check, and those that call them, may not return now: nothing behind a call of one may happen before it.
fn allow_ends(module: &Module<'_>) {
    let (ends, calls) = callers::of(module, HashSet::from([path_markers::CHECK.to_owned()]));
    for kind in HARMLESS.map(Attribute::get_named_enum_kind_id) {
        for function in ends.iter().filter_map(|name| module.get_function(name)) {
            function.remove_enum_attribute(AttributeLoc::Function, kind);
        }
        for call in &calls {
            // SAFETY: a live call of this module.
            unsafe { LLVMRemoveCallSiteEnumAttribute(call.0, llvm_sys::LLVMAttributeFunctionIndex, kind) };
        }
    }
}
