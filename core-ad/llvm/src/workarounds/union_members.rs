//! Reads and writes the integers of structures in a union by functions that Enzyme does not look into.
//!
//! ```text
//! struct Node { union { struct { size_t begin, end; } leaf; struct { int axis; double low, high; } split; }; Node *child[2]; };
//! ```
//!
//! Search trees (nanoflann) have such nodes. Enzyme's type analysis gives each byte of a node one type, finds an integer and a number at one offset, and refuses
//! ("Illegal updateAnalysis"). Which structure a node holds, the program knows, and an integer of one is inactive.
//!
//! Of memory that a pointer leads to only: a variable becomes values, and a union of a number and an integer side by side, not in structures, takes
//! the number's bits apart.

use crate::analysis::member_layout::type_behind;
use crate::analysis::memory_objects::contains_floats;
use crate::ir::{self, Op, Value};
use crate::workarounds::container_counts;
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind::{LLVMIntegerTypeKind, LLVMStructTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use std::ffi::CStr;

/// What clang's names of unions begin with.
const UNION: &str = "union.";

/// Replaces the accesses. Before variables become values: the steps that lead to a member are there as they are in the source.
pub fn run(module: &Module<'_>) {
    ir::all_instructions(module).into_iter().filter(|i| is_integer_of_union(*i)).for_each(|i| {
        container_counts::hide(module, i);
    });
}

/// Whether it loads or stores an integer member of a structure that is an alternative of a union.
fn is_integer_of_union(i: Value) -> bool {
    let (accessed, address) = match i.op() {
        Some(Op::LLVMLoad) => (i, i.operand(0)),
        Some(Op::LLVMStore) => (i.operand(0), i.operand(1)),
        _ => return false,
    };
    // SAFETY: live types.
    let is_integer = unsafe {
        LLVMGetTypeKind(accessed.ty()) == LLVMIntegerTypeKind
            && matches!(LLVMGetIntTypeWidth(accessed.ty()), 8 | 16 | 32 | 64)
    };
    is_integer && !i.is_special() && steps_through_union(address)
}

/// Whether an address is that of a member of a structure in a union, in an object that a pointer leads to.
fn steps_through_union(mut address: Value) -> bool {
    let (mut in_structure, mut in_union) = (false, false);
    while address.is(Op::LLVMGetElementPtr) {
        in_union |= in_structure && type_behind(address).is_some_and(is_union_with_numbers);
        // SAFETY: a live step.
        in_structure |= unsafe { LLVMGetTypeKind(LLVMGetGEPSourceElementType(address.0)) == LLVMStructTypeKind };
        address = address.operand(0);
    }
    in_union && address.is(Op::LLVMLoad)
}

/// Whether it is a union with a structure that has numbers. clang's type of a union is that of its largest alternative.
fn is_union_with_numbers(ty: LLVMTypeRef) -> bool {
    // SAFETY: a live type; its name lives as long.
    unsafe {
        if LLVMGetTypeKind(ty) != LLVMStructTypeKind || LLVMGetStructName(ty).is_null() {
            return false;
        }
        let name = CStr::from_ptr(LLVMGetStructName(ty)).to_string_lossy();
        name.starts_with(UNION) && LLVMCountStructElementTypes(ty) > 0 && {
            let largest = LLVMStructGetTypeAtIndex(ty, 0);
            LLVMGetTypeKind(largest) == LLVMStructTypeKind && contains_floats(largest)
        }
    }
}
