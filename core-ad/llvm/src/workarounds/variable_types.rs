//! Rewrites the tags of flang's accesses for TBAA: what they claim is not true of code that is inlined twice, and they do not say the type.
//!
//! ```text
//! !{!"dummy arg data/_QFmeanEx", !{!"dummy arg data", !{!"any data access", ..}, i64 0}, i64 0}    ; flang's type of each access to X in MEAN
//! ```
//!
//! flang makes a type for each variable of a procedure: X is not the memory of another dummy argument as long as the procedure runs. In code where the
//! procedure is inlined twice, or in a loop, that is claimed of two runs: what MEAN wrote through one argument, and the next MEAN reads through another, LLVM may
//! reorder. **The function itself, and its derivative, are wrong then** (`tests/cases/fortran/running_means.f`). So all accesses to data of a procedure get types of
//! which each is an ancestor of the next: integers, double, single precision. They may alias one another, and no descriptor. That arguments
//! differ while a procedure runs the attribute `noalias` says; LLVM makes scopes of it, one for each call that it inlines.
//!
//! clang names types `double` or `int`, and Enzyme's type analysis reads that. Without a name it follows uses, and gives up where there are none in
//! reach: at a `memset` that LLVM made of a loop ("Cannot deduce type of memset"), at a number that only moves from one iteration to the next (it follows
//! no latch of a phi upwards). And it needs longer: of what DGESVD calls, a minute. So before Enzyme the types get those names. Loads and
//! stores show the type of a variable; a variable with accesses of two types (memory of `EQUIVALENCE`) gets none.

use crate::ir::metadata::{attached, operands, text};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use std::collections::HashMap;

/// Each type is below the one before it.
const TYPES: usize = 3;
const NEUTRAL: [&str; TYPES] = ["Fortran integers", "Fortran double precision", "Fortran single precision"];
const NAMED: [&str; TYPES] = ["int", "double", "float"];
/// flang's type above those of all variables.
const ALL_DATA: &str = "any data access";

/// Makes accesses to data possible aliases of one another. Called where modules are read, before anything is inlined.
pub fn merge(module: &Module<'_>) {
    let all = ir::all_instructions(module);
    let mut types: HashMap<LLVMValueRef, Option<usize>> = HashMap::new();
    for access in all.iter().filter(|i| is_access(**i)) {
        let (tag, found) = (attached(*access, c"tbaa"), scalar(*access));
        types.entry(tag).and_modify(|known| *known = known.filter(|known| found == Some(*known))).or_insert(found);
    }
    replace(module, &all, |context, tag, is_access| {
        let data = all_data(*operands(tag).get(1)?)?;
        // What is copied or set may be an object with other members than those that are accessed here.
        let ty = types.get(&tag).copied().flatten().filter(|_| is_access);
        // SAFETY: nodes of the module's context.
        Some(unsafe { ty.map_or_else(|| self_tag(context, data), |ty| chain(context, data, NEUTRAL)[ty]) })
    });
    type_characters(module, &all);
}

/// What is moved by single bytes, in a place without a name: characters that are joined (`'H = ' // TEXT`). LLVM makes a copy of that loop.
fn type_characters(module: &Module<'_>, all: &[Value]) {
    for access in all.iter().filter(|i| is_access(**i) && is_byte(**i)) {
        let above = operands(attached(*access, c"tbaa")).get(1).copied();
        let Some(data) = above.filter(|ty| all_data(*ty) == Some(*ty)) else { continue };
        // SAFETY: a live instruction of the module, and nodes of its context.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let kind = LLVMGetMDKindIDInContext(context, c"tbaa".as_ptr(), 4);
            LLVMSetMetadata(access.0, kind, chain(context, data, NEUTRAL)[0]);
        }
    }
}

/// Whether it is of a byte, or of flang's array of one.
fn is_byte(access: Value) -> bool {
    let ty = accessed(access);
    // SAFETY: a type of the module, of which is asked what its kind has.
    unsafe {
        let is_array = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMArrayTypeKind;
        let ty = if is_array { LLVMGetElementType(ty) } else { ty };
        LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(ty) == 8
    }
}

/// The type of what is loaded or stored.
fn accessed(access: Value) -> LLVMTypeRef {
    if access.is(Op::LLVMStore) { access.operand(0).ty() } else { access.ty() }
}

fn is_access(i: Value) -> bool {
    i.is(Op::LLVMLoad) || i.is(Op::LLVMStore)
}

/// Gives those types the names that Enzyme knows.
pub fn run(module: &Module<'_>) {
    replace(module, &ir::all_instructions(module), |context, tag, _| {
        let access = *operands(tag).get(1)?;
        let name = text(*operands(access).first()?);
        let ty = NEUTRAL.iter().position(|neutral| *neutral == name)?;
        // SAFETY: nodes of the module's context.
        Some(unsafe { chain(context, all_data(access)?, NAMED)[ty] })
    });
}

/// Replaces each tag for which there is another one.
fn replace(
    module: &Module<'_>,
    all: &[Value],
    other: impl Fn(LLVMContextRef, LLVMValueRef, bool) -> Option<LLVMValueRef>,
) {
    // SAFETY: live instructions of the module, and nodes of its context.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let kind = LLVMGetMDKindIDInContext(context, c"tbaa".as_ptr(), 4);
        let mut known: HashMap<(LLVMValueRef, bool), Option<LLVMValueRef>> = HashMap::new();
        for i in all {
            let tag = attached(*i, c"tbaa");
            if tag.is_null() {
                continue;
            }
            let key = (tag, is_access(*i));
            if let Some(tag) = known.entry(key).or_insert_with(|| other(context, tag, key.1)) {
                LLVMSetMetadata(i.0, kind, *tag);
            }
        }
    }
}

/// The type of all data above that of a variable; none for descriptors, and in other languages.
fn all_data(mut ty: LLVMValueRef) -> Option<LLVMValueRef> {
    loop {
        let parts = operands(ty);
        if text(*parts.first()?) == ALL_DATA {
            return Some(ty);
        }
        ty = *parts.get(1)?;
    }
}

/// Tags of accesses to the types, below that of all data.
unsafe fn chain(context: LLVMContextRef, data: LLVMValueRef, names: [&str; TYPES]) -> [LLVMValueRef; TYPES] {
    let mut above = data;
    names.map(|name| {
        // SAFETY: the caller's: a live context, with this node.
        unsafe {
            let name = LLVMMetadataAsValue(context, LLVMMDStringInContext2(context, name.as_ptr().cast(), name.len()));
            above = node(context, [name, above]);
            self_tag(context, above)
        }
    })
}

/// The tag of accesses to a type that is no part of another.
unsafe fn self_tag(context: LLVMContextRef, ty: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: the caller's.
    unsafe { node(context, [ty, ty]) }
}

unsafe fn node(context: LLVMContextRef, parts: [LLVMValueRef; 2]) -> LLVMValueRef {
    // SAFETY: the caller's: a live context, with these nodes.
    unsafe {
        let zero = LLVMValueAsMetadata(LLVMConstInt(LLVMInt64TypeInContext(context), 0, 0));
        let [first, second] = parts.map(|part| LLVMValueAsMetadata(part));
        let mut all = [first, second, zero];
        LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, all.as_mut_ptr(), all.len()))
    }
}

/// The place in the chain of what is loaded or stored: integers, numbers; none for addresses, which flang also loads as integers of their size.
fn scalar(access: Value) -> Option<usize> {
    let ty = accessed(access);
    // SAFETY: a type of the module, whose width is asked for where it is one of integers.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMIntegerTypeKind => (LLVMGetIntTypeWidth(ty) < 64).then_some(0),
            LLVMTypeKind::LLVMDoubleTypeKind => Some(1),
            LLVMTypeKind::LLVMFloatTypeKind => Some(2),
            _ => None,
        }
    }
}
