//! Global objects that the source declares `const`, by their debug information: tables that are filled at load, or by the first call.
//!
//! ```text
//! static const std::vector<double> nodes = {0.1, 0.5, 0.9};      // const: only its constructor writes to it
//! ```
//!
//! LLVM does not know them for constant, and where their address is stored or given to a function, nothing in the code says that they are not
//! written. Of a constant container the elements are constant, too; of a constant pointer, smart or not, what it leads to only
//! where the type says so.

use crate::ir::Value;
use crate::ir::metadata;
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};

/// Of metadata at such a global.
const NOTE: &std::ffi::CStr = c"ffgrad.constant";

/// Tags of types (DWARF 5, 7.5.4).
const ARRAY: u16 = 0x01;
const POINTER: u16 = 0x0f;
const REFERENCE: u16 = 0x10;
const TYPEDEF: u16 = 0x16;
const CONST: u16 = 0x26;
const RVALUE_REFERENCE: u16 = 0x42;

/// Classes of the standard library whose constant objects lead to what is not.
const SMART_POINTERS: [&str; 4] = ["unique_ptr<", "shared_ptr<", "span<", "reference_wrapper<"];

/// Steps from a type to what it is made of, at most.
const MOST: usize = 16;

/// Notes them, while the module has its debug information.
pub fn note(module: &Module<'_>) {
    for global in module.get_globals().filter(|g| !g.is_constant()) {
        let raw = global.as_value_ref();
        // SAFETY: a live global, and a node of its context.
        unsafe {
            if declared(raw).is_some_and(|ty| is_constant(ty, MOST)) {
                let context = LLVMGetModuleContext(module.as_mut_ptr());
                LLVMGlobalSetMetadata(raw, kind(raw), LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0));
            }
        }
    }
}

/// Whether a global is noted.
pub fn is_one(global: Value) -> bool {
    // SAFETY: a live global; the list is given back.
    unsafe {
        let mut count = 0;
        let all = LLVMGlobalCopyAllMetadata(global.0, &mut count);
        let found = (0..count as u32).any(|i| LLVMValueMetadataEntriesGetKind(all, i) == kind(global.0));
        LLVMDisposeValueMetadataEntries(all);
        found
    }
}

/// # Safety
///
/// The value is a live one.
unsafe fn kind(of: LLVMValueRef) -> u32 {
    // SAFETY: the name has the length given.
    unsafe { LLVMGetMDKindIDInContext(LLVMGetValueContext(of), NOTE.as_ptr(), NOTE.count_bytes() as u32) }
}

/// The type that a global is declared with.
///
/// # Safety
///
/// The global is a live one.
unsafe fn declared(global: LLVMValueRef) -> Option<Type> {
    // SAFETY: only nodes of the kind that each question is for are asked; the list is given back.
    unsafe {
        let mut count = 0;
        let all = LLVMGlobalCopyAllMetadata(global, &mut count);
        let entries = (0..count as u32).map(|i| LLVMValueMetadataEntriesGetMetadata(all, i));
        let described = entries
            .into_iter()
            .find(|e| matches!(LLVMGetMetadataKind(*e), LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind));
        LLVMDisposeValueMetadataEntries(all);
        let node = LLVMDIGlobalVariableExpressionGetVariable(described?);
        // Operands: scope, name, file, type (`DIGlobalVariable` in LLVM's DebugInfoMetadata.h).
        node_behind(Type { node, context: LLVMGetValueContext(global) }, 3)
    }
}

/// Whether objects of a type stay as they are made, with all that belongs to them.
///
/// # Safety
///
/// The type is a live one, with a global.
unsafe fn is_constant(ty: Type, steps: usize) -> bool {
    // SAFETY: see above.
    unsafe {
        let inner = |from: Type| from.inside().filter(|_| steps > 0);
        match ty.tag() {
            CONST => inner(ty).is_some_and(|object| keeps_pointees(object, steps - 1)),
            TYPEDEF | ARRAY | REFERENCE | RVALUE_REFERENCE => inner(ty).is_some_and(|t| is_constant(t, steps - 1)),
            _ => false,
        }
    }
}

/// Whether what a constant object leads to is constant.
///
/// # Safety
///
/// The type is a live one, with a global.
unsafe fn keeps_pointees(object: Type, steps: usize) -> bool {
    // SAFETY: see above.
    unsafe {
        match object.tag() {
            TYPEDEF => steps > 0 && object.inside().is_some_and(|t| keeps_pointees(t, steps - 1)),
            POINTER | REFERENCE => object.inside().is_some_and(|t| is_constant(t, steps)),
            _ => !object.is_mutable_pointer(),
        }
    }
}

/// A type's node.
#[derive(Clone, Copy)]
struct Type {
    node: LLVMMetadataRef,
    context: LLVMContextRef,
}

impl Type {
    /// # Safety
    ///
    /// The node is a live one.
    unsafe fn tag(self) -> u16 {
        // SAFETY: types are nodes with a tag.
        unsafe { LLVMGetDINodeTag(self.node) }
    }

    /// What a qualified type, an array, a pointer or a name is made of: the first node behind the type's own scope, file and name.
    ///
    /// # Safety
    ///
    /// The node is a live one.
    unsafe fn inside(self) -> Option<Type> {
        // SAFETY: see above.
        unsafe { node_behind(self, 3) }
    }

    /// Whether it is a smart pointer to what may be written.
    ///
    /// # Safety
    ///
    /// The node is a live one.
    unsafe fn is_mutable_pointer(self) -> bool {
        let mut length = 0;
        // SAFETY: a live type's name, of this length.
        let name = unsafe {
            let start = LLVMDITypeGetName(self.node, &mut length);
            if start.is_null() {
                return false;
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length)).into_owned()
        };
        let of = |class: &str| name.strip_prefix(class).map(|argument| !argument.starts_with("const "));
        SMART_POINTERS.iter().find_map(|class| of(class)).unwrap_or(false)
    }
}

/// The first operand of a node, from a place on, that is a node.
///
/// # Safety
///
/// The node is a live one.
unsafe fn node_behind(from: Type, place: usize) -> Option<Type> {
    // SAFETY: operands are nodes, texts, constants or null.
    unsafe {
        let operands = metadata::operands(LLVMMetadataAsValue(from.context, from.node));
        let node = operands.into_iter().skip(place).find(|o| !o.is_null() && !LLVMIsAMDNode(*o).is_null())?;
        Some(Type { node: LLVMValueAsMetadata(node), context: from.context })
    }
}
