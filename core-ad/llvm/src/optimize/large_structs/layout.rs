//! Which structures are large, and where their members are.

use crate::ir::Value;
use llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMStructTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

/// From so many numbers and pointers on a structure is too large: a module without one stays as it is. Smaller ones make faster code as values:
/// LLVM drops members of them that nothing uses.
const TOO_LARGE: usize = 200;

/// From so many on a structure is in memory where one is too large: that consists of smaller ones.
const LARGE: usize = 8;

/// Whether an instruction defines a structure that is too large.
pub fn defines_too_large(i: Value) -> bool {
    // SAFETY: a live value's type.
    unsafe { LLVMGetTypeKind(i.ty()) == LLVMStructTypeKind && members(i.ty(), TOO_LARGE) >= TOO_LARGE }
}

/// Whether a type is a large structure.
pub fn is_large(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type.
    unsafe { LLVMGetTypeKind(ty) == LLVMStructTypeKind && members(ty, LARGE) >= LARGE }
}

/// How many numbers and pointers a type consists of, as far as `most`.
///
/// # Safety
///
/// The type is a live one.
unsafe fn members(ty: LLVMTypeRef, most: usize) -> usize {
    // SAFETY: each question is asked of the kind of type that it is for.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMStructTypeKind => {
                let mut sum = 0;
                for i in 0..LLVMCountStructElementTypes(ty) {
                    if sum >= most {
                        break;
                    }
                    sum += members(LLVMStructGetTypeAtIndex(ty, i), most - sum);
                }
                sum
            }
            LLVMArrayTypeKind => {
                let length = usize::try_from(LLVMGetArrayLength2(ty)).unwrap_or(usize::MAX);
                if length == 0 { 0 } else { length.saturating_mul(members(LLVMGetElementType(ty), most)).min(most) }
            }
            _ => 1,
        }
    }
}

/// The address of the member that an `insertvalue` or `extractvalue` is of.
///
/// # Safety
///
/// An `insertvalue` or `extractvalue` of a structure of that type; the builder has a place.
pub unsafe fn element(builder: LLVMBuilderRef, ty: LLVMTypeRef, whole: LLVMValueRef, i: Value) -> LLVMValueRef {
    // SAFETY: such an instruction, whose indices LLVM gives with their number.
    unsafe {
        let int = LLVMInt32TypeInContext(LLVMGetTypeContext(ty));
        let indices = std::slice::from_raw_parts(LLVMGetIndices(i.0), LLVMGetNumIndices(i.0) as usize);
        let mut path: Vec<LLVMValueRef> =
            std::iter::once(&0).chain(indices).map(|n| LLVMConstInt(int, u64::from(*n), 0)).collect();
        LLVMBuildInBoundsGEP2(builder, ty, whole, path.as_mut_ptr(), path.len() as u32, c"".as_ptr())
    }
}

/// # Safety
///
/// The type is a live one.
pub unsafe fn is_packed(ty: LLVMTypeRef) -> bool {
    // SAFETY: each question is asked of the kind of type that it is for.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMStructTypeKind => {
                LLVMIsPackedStruct(ty) != 0
                    || (0..LLVMCountStructElementTypes(ty)).any(|i| is_packed(LLVMStructGetTypeAtIndex(ty, i)))
            }
            LLVMArrayTypeKind => is_packed(LLVMGetElementType(ty)),
            _ => false,
        }
    }
}
