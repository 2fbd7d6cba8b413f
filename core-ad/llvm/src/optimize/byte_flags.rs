//! Stores truth values as bytes.
//!
//! Enzyme keeps the conditions of selects for the reverse sweep in arrays of `i1`, a byte each in memory. LLVM does not vectorise a loop with accesses of a type
//! that does not fill its bytes, neither the forward loop nor the reverse one. As bytes they are the same memory.

use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;

/// Rewrites loads and stores.
pub fn run(module: &Module<'_>) {
    for i in ir::all_instructions(module) {
        match i.op() {
            Some(Op::LLVMLoad) if is_flag(i.ty()) && !i.is_special() => load(i),
            Some(Op::LLVMStore) if is_flag(i.operand(0).ty()) && !i.is_special() => store(i),
            _ => {}
        }
    }
}

fn is_flag(ty: LLVMTypeRef) -> bool {
    // SAFETY: the type of a live value.
    unsafe { LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 1 }
}

fn load(i: Value) {
    // SAFETY: a live load; its uses are replaced before it is erased.
    unsafe {
        let context = LLVMGetTypeContext(i.ty());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, i.0);
        let byte = LLVMInt8TypeInContext(context);
        let new = LLVMBuildLoad2(builder, byte, i.operand(0).0, c"".as_ptr());
        copy_metadata(i, Value(new));
        let flag = LLVMBuildTrunc(builder, new, i.ty(), c"".as_ptr());
        LLVMReplaceAllUsesWith(i.0, flag);
        LLVMDisposeBuilder(builder);
    }
    i.erase();
}

fn store(i: Value) {
    // SAFETY: a live store, which has no uses.
    unsafe {
        let context = LLVMGetTypeContext(i.operand(0).ty());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, i.0);
        let byte = LLVMBuildZExt(builder, i.operand(0).0, LLVMInt8TypeInContext(context), c"".as_ptr());
        let new = LLVMBuildStore(builder, byte, i.operand(1).0);
        LLVMSetAlignment(new, LLVMGetAlignment(i.0));
        copy_metadata(i, Value(new));
        LLVMDisposeBuilder(builder);
    }
    i.erase();
}

/// What is said about aliases. What is said of values is of another type's.
unsafe fn copy_metadata(from: Value, to: Value) {
    for name in ["alias.scope", "noalias"] {
        // SAFETY: live instructions of one module.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(to.operand(0).0));
            let kind = LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
            let own = LLVMGetMetadata(from.0, kind);
            if !own.is_null() {
                LLVMSetMetadata(to.0, kind, own);
            }
        }
    }
}
