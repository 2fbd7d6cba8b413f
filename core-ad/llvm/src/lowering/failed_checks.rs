//! Stops a derivative where a check of the function's fails: a branch to code that does not return, which was left out of it
//! ([`dead_ends`](super::dead_ends)). What would follow may write behind an array that the check guards.
//!
//! The driver tells the artifact what to call then, which jumps out of the derivative (`compile-driver/src/call/crash_guard.rs`).

use crate::ir::{self, path_markers};
use core_ad::protocol::FAILED_CHECK;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate};
use std::collections::HashSet;

/// Attributes of functions that return, and leave memory as it is.
const FLAGS: [&str; 3] = ["willreturn", "memory", "speculatable"];

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// The function `(fails)` of a module that stops where that is not 0.
pub struct FailedChecks(LLVMValueRef);

impl FailedChecks {
    /// Adds it, and the variable that the driver sets.
    pub fn of(module: &Module<'_>) -> FailedChecks {
        allow_ends(module);
        // SAFETY: a new global and function of a live module.
        unsafe {
            let (module, context) = (module.as_mut_ptr(), LLVMGetModuleContext(module.as_mut_ptr()));
            let (word, pointer) = (LLVMInt32TypeInContext(context), LLVMPointerTypeInContext(context, 0));
            let none = LLVMVoidTypeInContext(context);
            let name = std::ffi::CString::new(FAILED_CHECK).unwrap_or_default();
            let variable = LLVMAddGlobal(module, pointer, name.as_ptr());
            LLVMSetInitializer(variable, LLVMConstNull(pointer));
            let ty = LLVMFunctionType(none, &mut { word }, 1, 0);
            let function = LLVMAddFunction(module, c"ffgrad.stop.at".as_ptr(), ty);
            LLVMSetLinkage(function, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
            let block = |name: &std::ffi::CStr| LLVMAppendBasicBlockInContext(context, function, name.as_ptr());
            let (start, fails, stops, goes_on) = (block(c"start"), block(c"fails"), block(c"stops"), block(c"goes.on"));
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderAtEnd(builder, start);
            let given = LLVMGetParam(function, 0);
            let failed = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntNE, given, LLVMConstInt(word, 0, 0), NONE);
            LLVMBuildCondBr(builder, failed, fails, goes_on);
            LLVMPositionBuilderAtEnd(builder, fails);
            let target = LLVMBuildLoad2(builder, pointer, variable, NONE);
            LLVMSetOrdering(target, LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
            LLVMSetAlignment(target, 8);
            let is_set = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntNE, target, LLVMConstNull(pointer), NONE);
            LLVMBuildCondBr(builder, is_set, stops, goes_on);
            LLVMPositionBuilderAtEnd(builder, stops);
            let leaves = LLVMFunctionType(none, std::ptr::null_mut(), 0, 0);
            let call = LLVMBuildCall2(builder, leaves, target, std::ptr::null_mut(), 0, NONE);
            let cold = LLVMCreateEnumAttribute(context, Attribute::get_named_enum_kind_id("cold"), 0);
            LLVMAddCallSiteAttribute(call, llvm_sys::LLVMAttributeFunctionIndex, cold);
            LLVMBuildBr(builder, goes_on);
            LLVMPositionBuilderAtEnd(builder, goes_on);
            LLVMBuildRetVoid(builder);
            LLVMDisposeBuilder(builder);
            FailedChecks(function)
        }
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
            LLVMBuildCall2(builder, ty, self.0, [fails].as_mut_ptr(), 1, NONE);
        }
    }
}

/// Functions with a check, and those that call them, may not return now: nothing behind a call of one may happen before it.
fn allow_ends(module: &Module<'_>) {
    let calls: Vec<(FunctionValue<'_>, String)> = ir::functions(module)
        .into_iter()
        .flat_map(|f| ir::blocks(f).into_iter().flat_map(|b| b.instructions()).map(move |i| (f, i)))
        .filter_map(|(f, i)| Some((f, i.callee()?)))
        .collect();
    let mut ends = HashSet::from([path_markers::CHECK.to_owned()]);
    loop {
        let before = ends.len();
        for (caller, callee) in &calls {
            if ends.contains(callee) {
                ends.insert(caller.get_name().to_string_lossy().into_owned());
            }
        }
        if ends.len() == before {
            break;
        }
    }
    for (function, name) in ends.iter().filter_map(|name| module.get_function(name)).flat_map(|f| FLAGS.map(|n| (f, n)))
    {
        function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    }
}
