//! Memory that nothing but zeros is stored to reads as zero.
//!
//! Enzyme gives an array of the function a shadow, which starts with zeros. Where the shadow's cells are cleared as soon as
//! they are read, and what is stored between has been taken out (`fuse_loops`), only the clearing is left. Then all loads
//! are zero (what memory holds that nothing was stored to is nobody's business), and LLVM drops the stores and the memory.

use crate::analysis::memory_objects::{self, Object, Objects};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::{LLVMConstNull, LLVMIsNull, LLVMReplaceAllUsesWith};

/// Replaces such loads in every function.
pub fn run(module: &Module<'_>) {
    ir::functions(module).into_iter().for_each(replace_loads);
}

fn replace_loads(function: FunctionValue<'_>) {
    let objects = Objects::of(function);
    let zeros: Vec<bool> = objects.iter().map(|(_, object)| holds_zeros(object)).collect();
    let loads = ir::blocks(function).into_iter().flat_map(ir::Block::instructions).filter(|i| i.is(Op::LLVMLoad));
    for load in loads {
        let from = objects.underlying(load.operand(0));
        if !load.is_special() && !from.is_empty() && from.iter().all(|o| zeros[*o]) {
            // SAFETY: zero of the load's own type.
            unsafe { LLVMReplaceAllUsesWith(load.0, LLVMConstNull(load.ty())) };
            load.erase();
        }
    }
}

/// Whether the function allocates it, nobody else has its address, and only zeros are stored there.
fn holds_zeros(object: &Object) -> bool {
    object.parameter.is_none() && !object.escapes && object.writes.iter().all(|write| stores_zero(*write))
}

fn stores_zero(write: Value) -> bool {
    let is_zero = |value: Value| {
        // SAFETY: asked of a live value.
        unsafe { LLVMIsNull(value.0) != 0 }
    };
    match write.op() {
        Some(Op::LLVMStore) => is_zero(write.operand(0)),
        // What is read behind `free` is nothing.
        Some(Op::LLVMCall) => write.callee().is_some_and(|name| {
            memory_objects::is_neutral(&name) || name.starts_with("llvm.memset.") && is_zero(write.operand(1))
        }),
        _ => false,
    }
}
