//! Detects barriers in CUDA kernels: other threads may write to memory while a thread waits there.

use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::LLVMGetFirstUse;

/// The intrinsics that stand for a barrier of the block and of the warp, with their numbers in launch.c.
pub const BARRIERS: [(&str, u32); 2] = [("llvm.nvvm.membar.gl", 0), ("llvm.nvvm.membar.cta", 1)];

/// Whether anything waits for other threads: memory may then change under a thread's hands.
pub fn has_barriers(module: &Module<'_>) -> bool {
    BARRIERS.iter().any(|(name, _)| module.get_function(name).is_some_and(is_used))
}

/// Whether anything uses a function.
pub fn is_used(function: FunctionValue<'_>) -> bool {
    // SAFETY: reads a live value.
    unsafe { !LLVMGetFirstUse(function.as_value_ref()).is_null() }
}
