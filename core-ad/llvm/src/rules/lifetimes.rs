//! Extends the lifetime of memory to the end of the entry point, where a rule may use it in the reverse sweep.
//!
//! Enzyme sees calls of shims (`rules/shim.rs`), not the pointers inside their blocks. So it would release memory too early:
//! it frees in the forward sweep what no use that it knows of needs in reverse, and stack memory of a function ends
//! with that function's forward half. Where rules are installed, therefore, `free` waits for the end of the entry point (the
//! arena releases everything then), and escaping stack arrays of functions other than the wrapper are allocated on the heap; those of the wrapper
//! too where forward and reverse sweep are two calls.

use crate::ir::markers::{self, STEP, WRAPPER};
use inkwell::AddressSpace;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashSet;

/// Functions that give memory back.
pub const FREEING: [&str; 11] = [
    "free",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
];

/// Lets all memory live until the entry point returns. `keeps` are functions whose stack does so anyway, `parts` names
/// the parts of rules: they free what they alone hold.
pub fn extend(module: &Module<'_>, keeps: &[FunctionValue<'_>], parts: &[String]) {
    for name in FREEING {
        if let Some(function) = module.get_function(name).filter(|f| f.count_basic_blocks() == 0) {
            delay(module, function, parts);
        }
    }
    for function in module.get_functions().filter(|f| !keeps.contains(f)) {
        let name = function.get_name().to_string_lossy().into_owned();
        if name == WRAPPER || !name.starts_with("ffgrad.") {
            move_to_heap(module, function);
        }
    }
}

/// Whether the program frees memory that is still needed.
pub fn is_extended(module: &Module<'_>) -> bool {
    // SAFETY: a live function.
    module.get_function(markers::FREE_LATER).is_some_and(|f| unsafe { !LLVMGetFirstUse(f.as_value_ref()).is_null() })
}

/// With the arena, later is at the end of the call, by itself.
pub fn end(module: &Module<'_>) {
    let Some(function) = module.get_function(markers::FREE_LATER).filter(|f| f.count_basic_blocks() == 0) else {
        return;
    };
    for call in calls(function) {
        // SAFETY: a live call without a value, so without uses.
        unsafe { LLVMInstructionEraseFromParent(call) };
    }
}

/// Direct calls of a function.
fn calls(function: FunctionValue<'_>) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    // SAFETY: iterates over the uses of a live function.
    unsafe {
        let raw = function.as_value_ref();
        let mut next = LLVMGetFirstUse(raw);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if !LLVMIsACallInst(user).is_null() && LLVMGetCalledValue(user) == raw {
                all.push(user);
            }
            next = LLVMGetNextUse(next);
        }
    }
    all
}

fn delay(module: &Module<'_>, freeing: FunctionValue<'_>, parts: &[String]) {
    let later = markers::free_later(module);
    // SAFETY: each call is live until it is erased, after its replacement stands before it.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for call in calls(freeing).into_iter().filter(|&c| !is_in(c, parts)) {
            LLVMPositionBuilderBefore(builder, call);
            let mut argument = LLVMGetOperand(call, 0);
            let ty = LLVMGlobalGetValueType(later.as_value_ref());
            let new = LLVMBuildCall2(builder, ty, later.as_value_ref(), &mut argument, 1, c"".as_ptr());
            LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(call));
            LLVMInstructionEraseFromParent(call);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Whether a call stands in a part of a rule, or in the function around it.
unsafe fn is_in(call: LLVMValueRef, parts: &[String]) -> bool {
    // SAFETY: see the caller.
    unsafe {
        let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
        let mut length = 0;
        let name = LLVMGetValueName2(function, &mut length);
        let name = std::slice::from_raw_parts(name.cast::<u8>(), length);
        let around: [&[u8]; 4] = [b"ffgrad.reverse.", b"ffgrad.forward.", b"ffgrad.save.", STEP.as_bytes()];
        around.iter().any(|a| name.starts_with(a)) || parts.iter().any(|p| p.as_bytes() == name)
    }
}

/// Arrays of a function that others may keep the address of.
fn move_to_heap(module: &Module<'_>, function: FunctionValue<'_>) {
    let context = module.get_context();
    let size = context.i64_type();
    let pointer = context.ptr_type(AddressSpace::default());
    let malloc = module.get_function("malloc");
    // SAFETY: iterates over a live function; an alloca is erased only after its uses have their replacement.
    unsafe {
        let escaping: Vec<LLVMValueRef> =
            instructions(function).into_iter().filter(|&i| !LLVMIsAAllocaInst(i).is_null() && escapes(i)).collect();
        if escaping.is_empty() {
            return;
        }
        let malloc =
            malloc.unwrap_or_else(|| module.add_function("malloc", pointer.fn_type(&[size.into()], false), None));
        let (malloc, ty) = (malloc.as_value_ref(), LLVMGlobalGetValueType(malloc.as_value_ref()));
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for alloca in escaping {
            end_lifetime_marks(alloca);
            LLVMPositionBuilderBefore(builder, alloca);
            let one = LLVMSizeOf(LLVMGetAllocatedType(alloca));
            let i64_type = LLVMTypeOf(one);
            let count = LLVMBuildZExtOrBitCast(builder, LLVMGetOperand(alloca, 0), i64_type, c"".as_ptr());
            let mut bytes = LLVMBuildMul(builder, one, count, c"".as_ptr());
            let memory = LLVMBuildCall2(builder, ty, malloc, &mut bytes, 1, c"".as_ptr());
            LLVMInstructionSetDebugLoc(memory, location_in(function));
            LLVMReplaceAllUsesWith(alloca, memory);
            LLVMInstructionEraseFromParent(alloca);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Any location of a function: a call in a function with debug information must have one.
unsafe fn location_in(function: FunctionValue<'_>) -> llvm_sys::prelude::LLVMMetadataRef {
    // SAFETY: see `move_to_heap`.
    unsafe {
        let mut places = instructions(function).into_iter().map(|i| LLVMInstructionGetDebugLoc(i));
        places.find(|l| !l.is_null()).unwrap_or(std::ptr::null_mut())
    }
}

fn instructions(function: FunctionValue<'_>) -> Vec<LLVMValueRef> {
    let blocks = function.get_basic_blocks();
    blocks.iter().flat_map(|b| b.get_instructions()).map(|i| i.as_value_ref()).collect()
}

/// Whether the address is stored, or given to a function that is not ours.
unsafe fn escapes(alloca: LLVMValueRef) -> bool {
    let mut seen = HashSet::from([alloca]);
    let mut open = vec![alloca];
    while let Some(address) = open.pop() {
        // SAFETY: see `move_to_heap`.
        unsafe {
            let mut next = LLVMGetFirstUse(address);
            while !next.is_null() {
                let user = LLVMGetUser(next);
                next = LLVMGetNextUse(next);
                if LLVMIsAInstruction(user).is_null() {
                    continue;
                }
                match LLVMGetInstructionOpcode(user) {
                    LLVMOpcode::LLVMStore if LLVMGetOperand(user, 0) == address => return true,
                    LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke if !is_shim_or_intrinsic(user) => return true,
                    LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMSelect
                        if seen.insert(user) =>
                    {
                        open.push(user);
                    }
                    _ => {}
                }
            }
        }
    }
    false
}

unsafe fn is_shim_or_intrinsic(call: LLVMValueRef) -> bool {
    // SAFETY: see `move_to_heap`.
    unsafe {
        let callee = LLVMGetCalledValue(call);
        if LLVMIsAFunction(callee).is_null() {
            return false;
        }
        let mut length = 0;
        let name = LLVMGetValueName2(callee, &mut length);
        let name = std::slice::from_raw_parts(name.cast::<u8>(), length);
        LLVMGetIntrinsicID(callee) != 0 || name.starts_with(b"ffgrad.shim.")
    }
}

/// `llvm.lifetime.*` speaks of stack memory only.
unsafe fn end_lifetime_marks(alloca: LLVMValueRef) {
    // SAFETY: see `move_to_heap`; the marks have no value.
    unsafe {
        let mut next = LLVMGetFirstUse(alloca);
        while !next.is_null() {
            let user = LLVMGetUser(next);
            next = LLVMGetNextUse(next);
            if LLVMIsACallInst(user).is_null() {
                continue;
            }
            let callee = LLVMGetCalledValue(user);
            let mut length = 0;
            let name = LLVMGetValueName2(callee, &mut length);
            if std::slice::from_raw_parts(name.cast::<u8>(), length).starts_with(b"llvm.lifetime.") {
                LLVMInstructionEraseFromParent(user);
            }
        }
    }
}
