//! Reads metadata: TBAA tags, the types of copies, notes of passes.

use super::Value;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};
use std::ffi::CStr;

/// The metadata of a kind at an instruction; null where there is none.
pub fn attached(i: Value, kind: &CStr) -> LLVMValueRef {
    // SAFETY: a live instruction; the name has the length given.
    unsafe {
        let length = u32::try_from(kind.count_bytes()).unwrap_or(0);
        LLVMGetMetadata(i.0, LLVMGetMDKindIDInContext(LLVMGetValueContext(i.0), kind.as_ptr(), length))
    }
}

/// Gives an instruction a node without operands.
pub fn mark(i: Value, kind: &CStr) {
    // SAFETY: a live instruction; the name has the length given.
    unsafe {
        let context = LLVMGetValueContext(i.0);
        let length = u32::try_from(kind.count_bytes()).unwrap_or(0);
        let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
        let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr(), length);
        LLVMSetMetadata(i.0, kind, LLVMMetadataAsValue(context, node));
    }
}

/// Adds an alias scope to a list of scopes (`alias.scope` or `noalias`). Its name is a text, in a domain of the same name.
pub fn add_scope(i: Value, kind: &CStr, scope: &str) {
    let old = operands(attached(i, kind));
    // SAFETY: a live instruction; every node is of its context.
    unsafe {
        let context = LLVMGetValueContext(i.0);
        let node = |parts: &mut [_]| LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let text = LLVMMDStringInContext2(context, scope.as_ptr().cast(), scope.len());
        let domain = node(&mut [text]);
        let mut all: Vec<_> = old.into_iter().map(|scope| LLVMValueAsMetadata(scope)).collect();
        all.push(node(&mut [text, domain]));
        let length = u32::try_from(kind.count_bytes()).unwrap_or(0);
        let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr(), length);
        LLVMSetMetadata(i.0, kind, LLVMMetadataAsValue(context, node(&mut all)));
    }
}

/// Removes the metadata of a kind from an instruction.
pub fn remove(i: Value, kind: &CStr) {
    // SAFETY: a live instruction; the name has the length given.
    unsafe {
        let length = u32::try_from(kind.count_bytes()).unwrap_or(0);
        let kind = LLVMGetMDKindIDInContext(LLVMGetValueContext(i.0), kind.as_ptr(), length);
        LLVMSetMetadata(i.0, kind, std::ptr::null_mut());
    }
}

/// The operands of a metadata node; none of anything else.
pub fn operands(node: LLVMValueRef) -> Vec<LLVMValueRef> {
    // SAFETY: asked of live metadata.
    unsafe {
        if node.is_null() || LLVMIsAMDNode(node).is_null() {
            return Vec::new();
        }
        let mut all = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, all.as_mut_ptr());
        all
    }
}

/// The number that an operand of a node is.
pub fn number(operand: LLVMValueRef) -> Option<u64> {
    // SAFETY: asked of live metadata, or of null.
    unsafe {
        let constant = if operand.is_null() { operand } else { LLVMIsAConstantInt(operand) };
        (!constant.is_null()).then(|| LLVMConstIntGetZExtValue(constant))
    }
}

/// The text that an operand of a node is; empty where it is none.
pub fn text(operand: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: live metadata or null; the text, where it is one, lives as long.
    unsafe {
        let text = if operand.is_null() { std::ptr::null() } else { LLVMGetMDString(operand, &mut length) };
        if text.is_null() {
            return String::new();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), length as usize)).into_owned()
    }
}

/// Says of a copy (`tbaa.struct`) that its first bytes are scalars of one type: `double`, `float`, or `long` for all integers.
pub fn say_what_is_copied(copy: Value, scalar: &str, bytes: u64) {
    // SAFETY: a live call; every node is of its context.
    unsafe {
        let context = LLVMGetValueContext(copy.0);
        let number = |n: u64| LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), n, 0));
        let mut parts = [number(0), number(bytes), access_tag(context, scalar)];
        let described = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len()));
        LLVMSetMetadata(copy.0, LLVMGetMDKindIDInContext(context, c"tbaa.struct".as_ptr(), 11), described);
    }
}

/// Says of a load or store (`tbaa`) that it is of a scalar type, if nothing is said yet.
pub fn say_what_is_accessed(access: Value, scalar: &str) {
    if !attached(access, c"tbaa").is_null() {
        return;
    }
    // SAFETY: a live load or store; the tag is of its context.
    unsafe {
        let context = LLVMGetValueContext(access.0);
        let tag = LLVMMetadataAsValue(context, access_tag(context, scalar));
        LLVMSetMetadata(access.0, LLVMGetMDKindIDInContext(context, c"tbaa".as_ptr(), 4), tag);
    }
}

/// The tag for an access to a scalar.
unsafe fn access_tag(context: LLVMContextRef, scalar: &str) -> LLVMMetadataRef {
    // SAFETY: the caller's: a live context.
    unsafe {
        let number = |n: u64| LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), n, 0));
        let text = |text: &str| LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len());
        let node = |parts: &mut [_]| LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let root = node(&mut [text("ffgrad TBAA")]);
        let byte = node(&mut [text("omnipotent char"), root, number(0)]);
        let scalar = node(&mut [text(scalar), byte, number(0)]);
        node(&mut [scalar, scalar, number(0)])
    }
}
