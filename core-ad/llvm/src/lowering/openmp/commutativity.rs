//! Which parallel regions can be reversed without the order in which threads entered critical sections and atomics.
//!
//! Additions to memory can: the order of a sum only changes its rounding, and their adjoints only read. `best = max(best,
//! v)` cannot: the last writer decides who receives the gradient, and Enzyme does not record the order.

use super::{body, callee, name_of, place};
use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic;
use llvm_sys::LLVMAtomicRMWBinOp::{LLVMAtomicRMWBinOpFAdd, LLVMAtomicRMWBinOpFSub};
use llvm_sys::LLVMOpcode;
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};

/// Why the functions of a region need the order, if they do.
pub unsafe fn obstacle(functions: &[LLVMValueRef]) -> Option<String> {
    // SAFETY: the functions and everything reached from them are live values of one module.
    unsafe {
        for instruction in functions.iter().flat_map(|&f| body(f)) {
            if is_ordered_atomic(instruction) {
                return Some(format!("the atomic operation at {} is no sum", place(instruction)));
            }
            if called(instruction) == "__kmpc_critical" && !is_turn(instruction) {
                let section = section(instruction);
                if let Some(at) = section.iter().find(|&&i| !keeps_order_open(i, &section)) {
                    return Some(format!("the critical section does more than add to variables at {}", place(*at)));
                }
            }
        }
        None
    }
}

/// Whether this enters the critical section of a reduction.
pub unsafe fn is_turn(instruction: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        called(instruction) == "__kmpc_critical" && {
            let lock = LLVMGetOperand(instruction, 2);
            !LLVMIsAGlobalVariable(lock).is_null() && name_of(lock).starts_with("ffgrad_turn")
        }
    }
}

unsafe fn called(instruction: LLVMValueRef) -> String {
    // SAFETY: see `obstacle`.
    unsafe {
        let function = callee(instruction);
        if function.is_null() { String::new() } else { name_of(function) }
    }
}

/// Whether a load or store is atomic.
pub unsafe fn is_atomic(instruction: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        matches!(LLVMGetInstructionOpcode(instruction), LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore)
            && LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic
    }
}

/// Whether the order of an atomic operation shows in a derivative.
unsafe fn is_ordered_atomic(instruction: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        match LLVMGetInstructionOpcode(instruction) {
            LLVMOpcode::LLVMAtomicCmpXchg => true,
            LLVMOpcode::LLVMAtomicRMW => {
                let sum = matches!(LLVMGetAtomicRMWBinOp(instruction), LLVMAtomicRMWBinOpFAdd | LLVMAtomicRMWBinOpFSub);
                // Of integers only those that carry the bits of a floating-point value matter; which those are is not known here.
                let whole = LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMIntegerTypeKind
                    && LLVMGetAtomicRMWBinOp(instruction) != llvm_sys::LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg;
                !whole && (!sum || !LLVMGetFirstUse(instruction).is_null())
            }
            _ => is_atomic(instruction) && !is_small_integer(instruction),
        }
    }
}

/// A counter or a flag, too small or too plain to be the bits of a floating-point value.
unsafe fn is_small_integer(instruction: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        let value = match LLVMGetInstructionOpcode(instruction) {
            LLVMOpcode::LLVMStore => LLVMGetOperand(instruction, 0),
            _ => instruction,
        };
        let ty = LLVMTypeOf(value);
        LLVMGetTypeKind(ty) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) < 32
    }
}

/// The instructions between the beginning of a critical section and its ends.
unsafe fn section(begin: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut all = Vec::new();
    let mut seen: Vec<LLVMBasicBlockRef> = Vec::new();
    // SAFETY: see `obstacle`.
    unsafe {
        let mut open = vec![LLVMGetNextInstruction(begin)];
        while let Some(mut instruction) = open.pop() {
            while !instruction.is_null() && called(instruction) != "__kmpc_end_critical" {
                all.push(instruction);
                if !LLVMIsATerminatorInst(instruction).is_null() {
                    for i in 0..LLVMGetNumSuccessors(instruction) {
                        let block = LLVMGetSuccessor(instruction, i);
                        if !seen.contains(&block) {
                            seen.push(block);
                            open.push(LLVMGetFirstInstruction(block));
                        }
                    }
                }
                instruction = LLVMGetNextInstruction(instruction);
            }
        }
    }
    all
}

/// Whether an instruction of a critical section leaves the order in which threads pass it without effect.
unsafe fn keeps_order_open(instruction: LLVMValueRef, section: &[LLVMValueRef]) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        match LLVMGetInstructionOpcode(instruction) {
            LLVMOpcode::LLVMStore => {
                let (value, address) = (LLVMGetOperand(instruction, 0), LLVMGetOperand(instruction, 1));
                !is_number(value) && LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind
                    || is_sum(value, address)
                    || is_private(address)
            }
            LLVMOpcode::LLVMLoad if is_number(instruction) => {
                let address = LLVMGetOperand(instruction, 0);
                // What the section adds to may be read only to be added to.
                let added_to = section.iter().any(|&s| {
                    LLVMGetInstructionOpcode(s) == LLVMOpcode::LLVMStore
                        && is_number(LLVMGetOperand(s, 0))
                        && root(LLVMGetOperand(s, 1)) == root(address)
                });
                !added_to || is_private(address) || feeds_one_sum(instruction, address)
            }
            LLVMOpcode::LLVMCall => {
                let function = callee(instruction);
                !function.is_null() && (LLVMGetIntrinsicID(function) != 0 && LLVMIsAMemIntrinsic(instruction).is_null())
            }
            LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => false,
            _ => true,
        }
    }
}

unsafe fn is_number(value: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        let mut ty = LLVMTypeOf(value);
        if LLVMGetTypeKind(ty) == llvm_sys::LLVMTypeKind::LLVMVectorTypeKind {
            ty = LLVMGetElementType(ty);
        }
        matches!(LLVMGetTypeKind(ty), LLVMDoubleTypeKind | LLVMFloatTypeKind)
    }
}

/// Whether a value is what stands at an address, plus or minus something.
unsafe fn is_sum(value: LLVMValueRef, address: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        let reads = |v: LLVMValueRef| !LLVMIsALoadInst(v).is_null() && same_place(LLVMGetOperand(v, 0), address);
        if LLVMIsAInstruction(value).is_null() {
            return false;
        }
        match LLVMGetInstructionOpcode(value) {
            LLVMOpcode::LLVMFAdd => reads(LLVMGetOperand(value, 0)) || reads(LLVMGetOperand(value, 1)),
            LLVMOpcode::LLVMFSub => reads(LLVMGetOperand(value, 0)),
            // a * b + sum
            LLVMOpcode::LLVMCall => {
                let name = called(value);
                (name.starts_with("llvm.fmuladd.") || name.starts_with("llvm.fma.")) && reads(LLVMGetOperand(value, 2))
            }
            _ => false,
        }
    }
}

unsafe fn same_place(a: LLVMValueRef, b: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        if a == b {
            return true;
        }
        let both_steps = !LLVMIsAGetElementPtrInst(a).is_null() && !LLVMIsAGetElementPtrInst(b).is_null();
        both_steps
            && LLVMGetNumOperands(a) == LLVMGetNumOperands(b)
            && LLVMGetGEPSourceElementType(a) == LLVMGetGEPSourceElementType(b)
            && (0..LLVMGetNumOperands(a) as u32).all(|i| LLVMGetOperand(a, i) == LLVMGetOperand(b, i))
    }
}

unsafe fn feeds_one_sum(load: LLVMValueRef, address: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        let users = super::users(load);
        let [sum] = users[..] else { return false };
        let stores = super::users(sum);
        let [store] = stores[..] else { return false };
        LLVMGetInstructionOpcode(store) == LLVMOpcode::LLVMStore
            && LLVMGetOperand(store, 0) == sum
            && same_place(LLVMGetOperand(store, 1), address)
            && is_sum(sum, address)
    }
}

/// Memory that one thread alone knows.
pub unsafe fn is_private(address: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe { !LLVMIsAAllocaInst(root(address)).is_null() }
}

/// What an address is computed from.
pub unsafe fn root(mut address: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: see `obstacle`.
    unsafe {
        while !LLVMIsAGetElementPtrInst(address).is_null() {
            address = LLVMGetOperand(address, 0);
        }
        address
    }
}
