//! Functions that are reachable from others, by calls or because their address is taken.

use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashSet;

/// The name of functions that initialise static local variables (`lowering/static_locals.rs`), at its beginning.
pub const STATIC_LOCAL: &str = "ffgrad.static";

/// Functions that the roots call or mention, directly or not; not those that initialise static local variables, and what only these need.
///
/// # Safety
///
/// The roots are live functions.
pub unsafe fn reachable(roots: &[FunctionValue<'_>]) -> HashSet<LLVMValueRef> {
    let mut found: HashSet<LLVMValueRef> = roots.iter().map(AsValueRef::as_value_ref).collect();
    let mut open: Vec<LLVMValueRef> = found.iter().copied().collect();
    while let Some(function) = open.pop() {
        // SAFETY: a live function, by this function's promise.
        unsafe {
            for mentioned in mentions(function) {
                if found.insert(mentioned) {
                    open.push(mentioned);
                }
            }
        }
    }
    found
}

/// Whether a function initialises a static local variable (`static_locals.rs`).
pub fn is_static_local(function: LLVMValueRef) -> bool {
    let mut length = 0;
    // SAFETY: a live function's name, of this length.
    let name = unsafe {
        let start = LLVMGetValueName2(function, &mut length);
        std::slice::from_raw_parts(start.cast::<u8>(), length)
    };
    name.starts_with(STATIC_LOCAL.as_bytes())
}

/// Functions that appear as operands in the body of a function.
unsafe fn mentions(function: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: see `reachable`.
    unsafe {
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                let operands = (0..LLVMGetNumOperands(instruction) as u32).map(|i| LLVMGetOperand(instruction, i));
                all.extend(operands.filter(|&o| !LLVMIsAFunction(o).is_null() && !is_static_local(o)));
                instruction = LLVMGetNextInstruction(instruction);
            }
            block = LLVMGetNextBasicBlock(block);
        }
    }
    all
}
