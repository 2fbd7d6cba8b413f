//! Drops wrong attributes and metadata that Enzyme adds: alignment, non-null, invariant groups.
//!
//! *Alignment.* A value that Enzyme caches for the reverse sweep, a whole array loaded at once among them, is stored in memory
//! from `malloc`, and Enzyme declares the access aligned to the size of the value. `malloc` and the arena promise 16 bytes,
//! and values cached one behind the other only 8; an aligned vector store of 32 or 64 bytes traps on any other address. No
//! access of a derivative is assumed to be aligned to more than 8: LLVM infers again what it can prove (stack slots,
//! globals), and for the rest an unaligned access costs the same.
//!
//! *Not null.* For a loop with no iterations Enzyme may ask `malloc` for an absurd size (the trip count has wrapped), and gets
//! null, which it never dereferences but frees. It marks that pointer `nonnull`, and where it is freed to the arena, LLVM
//! would drop the arena's null test (`tests/cases/enzyme_bugs/null_cache_generated.c`: a crash).
//!
//! *Invariant.* Enzyme puts `invariant.group` on its caches: every access through one pointer sees the same value. But it stores
//! which edge was taken twice: first a guess, later the final value. LLVM forwards either to the load
//! (`tests/cases/enzyme_bugs/path_cached_twice_generated.c`: a wrong gradient). And where LLVM sees into the arena, a recycled block has the address of
//! its predecessor (`p56701.c`: a crash).

use crate::ir::{self, Block, Value};
use inkwell::module::Module;
use llvm_sys::LLVMOpcode as Op;
use llvm_sys::core::*;
use llvm_sys::{LLVMAttributeIndex, LLVMAttributeReturnIndex};
use std::ffi::c_uint;

/// Alignment inside an allocation: Enzyme caches one value per iteration, one behind the other.
const PROMISED: u32 = 8;

/// Drops them, before any optimisation relies on them.
pub fn run(module: &Module<'_>) {
    let invariant = invariant_kind(module);
    for instruction in ir::functions(module).into_iter().flat_map(ir::blocks).flat_map(Block::instructions) {
        match instruction.op() {
            Some(Op::LLVMLoad | Op::LLVMStore) => {
                limit_access(instruction);
                // SAFETY: a live instruction; only metadata is taken from it.
                unsafe { LLVMSetMetadata(instruction.0, invariant, std::ptr::null_mut()) };
            }
            Some(Op::LLVMCall) => match instruction.callee().as_deref() {
                Some(name) if name.starts_with("llvm.mem") => limit_arguments(instruction),
                Some("malloc" | "calloc" | "realloc") => allow_null(instruction, LLVMAttributeReturnIndex),
                Some("free") => allow_null(instruction, 1),
                _ => {}
            },
            _ => {}
        }
    }
}

fn invariant_kind(module: &Module<'_>) -> c_uint {
    let name = c"invariant.group";
    // SAFETY: a live module, and a name with its length.
    unsafe {
        LLVMGetMDKindIDInContext(LLVMGetModuleContext(module.as_mut_ptr()), name.as_ptr(), name.count_bytes() as c_uint)
    }
}

fn limit_access(access: Value) {
    // SAFETY: a load or a store, both of which have an alignment.
    unsafe {
        if LLVMGetAlignment(access.0) > PROMISED {
            LLVMSetAlignment(access.0, PROMISED);
        }
    }
}

/// The destination and the source of `llvm.memcpy` and its like.
fn limit_arguments(call: Value) {
    // SAFETY: a call; attributes are asked for by kind and index, and none is changed that is not there.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"align".as_ptr(), 5);
        for argument in 1..=2 {
            let found = LLVMGetCallSiteEnumAttribute(call.0, argument, kind);
            if !found.is_null() && LLVMGetEnumAttributeValue(found) > u64::from(PROMISED) {
                let limited = LLVMCreateEnumAttribute(LLVMGetTypeContext(call.ty()), kind, u64::from(PROMISED));
                LLVMRemoveCallSiteEnumAttribute(call.0, argument, kind);
                LLVMAddCallSiteAttribute(call.0, argument, limited);
            }
        }
    }
}

/// Drops `nonnull` from a call's return value, or from the argument with this index.
fn allow_null(call: Value, index: LLVMAttributeIndex) {
    for name in ["nonnull", "dereferenceable"] {
        // SAFETY: a call; removing an attribute that is not there does nothing.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMRemoveCallSiteEnumAttribute(call.0, index, kind);
        }
    }
}
