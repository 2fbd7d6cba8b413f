//! Finds memory of characters and integers by what was allocated, and by the structures that addresses name.

use crate::ir::{Op, Value};
use llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMIntegerTypeKind, LLVMStructTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;

/// Whether a local variable of bytes is at that address that need not be aligned: a local object with numbers in it is.
pub fn is_character_variable(address: Value) -> bool {
    array_of_integers(address).is_some_and(|(bits, alignment)| bits == 8 && alignment == 1)
}

/// Whether an address is that of a structure's member that is characters: flang's own addresses name the structure.
pub fn is_character_member(address: Value) -> bool {
    if !address.is(Op::LLVMGetElementPtr) {
        return false;
    }
    // SAFETY: types of a live value; each question is asked of the kind of type that it is for.
    unsafe {
        let mut member = LLVMGetGEPSourceElementType(address.0);
        for index in address.operands().into_iter().skip(2) {
            member = match (LLVMGetTypeKind(member), index.constant()) {
                (LLVMStructTypeKind, Some(number)) => LLVMStructGetTypeAtIndex(member, number as u32),
                (LLVMArrayTypeKind, _) => LLVMGetElementType(member),
                _ => return false,
            };
        }
        let element = innermost(member);
        member != element && LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 8
    }
}

/// What arrays of arrays hold.
fn innermost(mut ty: LLVMTypeRef) -> LLVMTypeRef {
    // SAFETY: a live type; an array has elements.
    unsafe {
        while LLVMGetTypeKind(ty) == LLVMArrayTypeKind {
            ty = LLVMGetElementType(ty);
        }
    }
    ty
}

/// Whether a local array of characters or of integers is at that address.
pub fn is_integer_variable(address: Value) -> bool {
    is_character_variable(address) || array_of_integers(address).is_some_and(|(bits, _)| matches!(bits, 16 | 32))
}

/// The width of the elements and the alignment of the local array of integers at that address.
fn array_of_integers(mut address: Value) -> Option<(u32, u32)> {
    while address.is(Op::LLVMGetElementPtr) {
        address = address.operand(0);
    }
    if !address.is(Op::LLVMAlloca) {
        return None;
    }
    // SAFETY: each question is asked of the kind of value, and of type, that it is for.
    unsafe {
        let array = LLVMGetAllocatedType(address.0);
        let member = innermost(array);
        let of_integers = member != array && LLVMGetTypeKind(member) == LLVMIntegerTypeKind;
        of_integers.then(|| (LLVMGetIntTypeWidth(member), LLVMGetAlignment(address.0)))
    }
}
