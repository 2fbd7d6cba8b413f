//! Says in the tags of flang's accesses that they are of floating-point numbers, or of integers.
//!
//! ```text
//! !{!"dummy arg data/_QFdlasetEa", !{!"dummy arg data", ..}, i64 0}              ; flang's type of each access to A in DLASET
//! ```
//!
//! For TBAA flang makes a type for each variable, and names it after the variable. clang names types `double` or `int`, and Enzyme's type analysis
//! reads that. Without a name it follows uses, and gives up where there are none in reach: at a `memset` that LLVM made of a loop ("Cannot
//! deduce type of memset"), at a number that only moves from one iteration to the next (it follows no latch of a phi upwards). And it
//! needs longer: of what DGESVD calls, a minute.
//!
//! Loads and stores show the type of a variable. Where all accesses of a tag agree, it gets a type `double`, `float` or `int` below flang's own, so that
//! alias analysis finds out as much as before. What LLVM makes of several accesses keeps it as long as they are of one variable. A variable with accesses
//! of two types (memory of `EQUIVALENCE`) keeps its tag.

use crate::ir::metadata::{attached, operands, text};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMValueRef};
use std::collections::HashMap;

/// Replaces the tags, before LLVM's pipeline.
pub fn run(module: &Module<'_>) {
    let all = ir::all_instructions(module);
    let mut types: HashMap<LLVMValueRef, Option<&'static str>> = HashMap::new();
    for access in all.iter().filter(|i| i.is(Op::LLVMLoad) || i.is(Op::LLVMStore)) {
        let (tag, found) = (attached(*access, c"tbaa"), scalar(*access));
        types.entry(tag).and_modify(|known| *known = known.filter(|known| found == Some(*known))).or_insert(found);
    }
    // SAFETY: live instructions of the module, and nodes of its context.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let named = |(tag, scalar): (LLVMValueRef, Option<&str>)| Some((tag, with_type(context, tag, scalar?)?));
        let tags: HashMap<LLVMValueRef, LLVMValueRef> = types.into_iter().filter_map(named).collect();
        let kind = LLVMGetMDKindIDInContext(context, c"tbaa".as_ptr(), 4);
        for i in all {
            if let Some(tag) = tags.get(&attached(i, c"tbaa")) {
                LLVMSetMetadata(i.0, kind, *tag);
            }
        }
    }
}

/// A tag for numbers in a variable of Fortran; none for any other tag.
unsafe fn with_type(context: LLVMContextRef, tag: LLVMValueRef, scalar: &str) -> Option<LLVMValueRef> {
    let variable = *operands(tag).get(1)?;
    if !text(*operands(variable).first()?).contains(" data/") {
        return None;
    }
    // SAFETY: the caller's: a live context, with this tag.
    unsafe {
        let zero = LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), 0, 0));
        let name = LLVMMDStringInContext2(context, scalar.as_ptr().cast(), scalar.len());
        let node = |parts: &mut [_]| LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        let ty = node(&mut [name, LLVMValueAsMetadata(variable), zero]);
        Some(LLVMMetadataAsValue(context, node(&mut [ty, ty, zero])))
    }
}

/// The name that TBAA has for the numbers that are loaded or stored, of any size; none for addresses.
fn scalar(access: Value) -> Option<&'static str> {
    let ty = if access.is(Op::LLVMStore) { access.operand(0).ty() } else { access.ty() };
    // SAFETY: a type of the module.
    match unsafe { LLVMGetTypeKind(ty) } {
        LLVMTypeKind::LLVMDoubleTypeKind => Some("double"),
        LLVMTypeKind::LLVMFloatTypeKind => Some("float"),
        LLVMTypeKind::LLVMIntegerTypeKind => Some("int"),
        _ => None,
    }
}
