//! Virtual tables of C++ classes (Itanium ABI): which functions a virtual call may call.
//!
//! A table is a structure of arrays, one for each base class with virtual functions: offsets, the class's type information (`_ZTI..`), the functions.
//! An object points behind the type information, so the slot of a virtual call counts from there.

use crate::ir::metadata::{attached, operands, text};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashSet;

/// The tables of a module.
pub struct VirtualTables {
    /// The functions of each array in the order of slots; null where something else stands there.
    arrays: Vec<Vec<LLVMValueRef>>,
}

impl VirtualTables {
    /// Reads the tables. Those of exceptions are left out where nothing catches one by its type: nobody sees such an object.
    pub fn of(module: &Module<'_>) -> Self {
        let catches = catches_by_type(module);
        let mut arrays = Vec::new();
        for global in module.get_globals() {
            if !is_table(global.as_value_ref()) {
                continue;
            }
            // SAFETY: a live global.
            let initialiser = Value(unsafe { LLVMGetInitializer(global.as_value_ref()) });
            if initialiser.0.is_null() {
                continue;
            }
            for array in initialiser.operands() {
                let entries = array.operands();
                let Some(at) = entries.iter().position(|e| symbol(*e).starts_with("_ZTI")) else { continue };
                if catches || !is_exception(entries[at]) {
                    arrays.push(entries[at + 1..].iter().map(|e| function(*e)).collect());
                }
            }
        }
        VirtualTables { arrays }
    }

    /// The functions in a slot, each once.
    pub fn slot(&self, slot: usize) -> Vec<LLVMValueRef> {
        let mut seen = HashSet::new();
        let all = self.arrays.iter().filter_map(|functions| functions.get(slot).copied());
        all.filter(|f| !f.is_null() && seen.insert(*f)).collect()
    }
}

/// The slot of a virtual call: its callee is loaded from a table, and that from an object.
pub fn slot_of(call: Value) -> Option<usize> {
    let callee = call.called().filter(|c| c.is(Op::LLVMLoad))?;
    let place = callee.operand(0);
    let (table, slot) = match place.op() {
        Some(Op::LLVMGetElementPtr) if place.operands().len() == 2 => {
            // SAFETY: a live address computation.
            let element = unsafe { LLVMGetTypeKind(LLVMGetGEPSourceElementType(place.0)) };
            let bytes = if element == llvm_sys::LLVMTypeKind::LLVMPointerTypeKind { 8 } else { 1 };
            (place.operand(0), place.operand(1).constant()? * bytes / 8)
        }
        _ => (place, 0),
    };
    is_loaded_table(table).then(|| usize::try_from(slot).ok()).flatten()
}

/// Whether a value is the address of a table, loaded from an object.
pub fn is_loaded_table(value: Value) -> bool {
    let access = operands(attached(value, c"tbaa")).get(1).copied().unwrap_or(std::ptr::null_mut());
    value.is(Op::LLVMLoad) && operands(access).first().is_some_and(|n| text(*n) == "vtable pointer")
}

/// Whether a value is loaded from a table: a function, or an offset.
pub fn is_from_table(value: Value) -> bool {
    let place = if value.is(Op::LLVMLoad) { value.operand(0) } else { return false };
    is_loaded_table(if place.is(Op::LLVMGetElementPtr) { place.operand(0) } else { place })
}

/// Whether a constant is in virtual tables only.
pub fn only_in_tables(constant: LLVMValueRef) -> bool {
    // SAFETY: asked of a live value.
    unsafe {
        if !LLVMIsAGlobalVariable(constant).is_null() {
            return is_table(constant);
        }
        let is_part = !LLVMIsAConstant(constant).is_null() && LLVMIsAGlobalValue(constant).is_null();
        is_part && Value(constant).users().into_iter().all(|user| only_in_tables(user.0))
    }
}

/// Whether a constant is an address in the table of a class.
pub fn is_in_table(value: Value) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![value]);
    while let Some(constant) = open.pop() {
        // SAFETY: asked of live values.
        let (is_constant, is_global) =
            unsafe { (LLVMIsConstant(constant.0) != 0, !LLVMIsAGlobalVariable(constant.0).is_null()) };
        if is_global {
            return is_table(constant.0);
        }
        if is_constant && seen.insert(constant) {
            open.extend(constant.operands());
        }
    }
    false
}

/// A table of a class, or one for the construction of its bases.
pub fn is_table(global: LLVMValueRef) -> bool {
    ["_ZTV", "_ZTC"].iter().any(|start| symbol(Value(global)).starts_with(start))
}

/// Whether a global is the table of an exception, by the base classes of one of its arrays.
pub fn is_exception_table(global: LLVMValueRef) -> bool {
    if !is_table(global) {
        return false;
    }
    // SAFETY: a live global.
    let initialiser = Value(unsafe { LLVMGetInitializer(global) });
    let arrays = if initialiser.0.is_null() { Vec::new() } else { initialiser.operands() };
    let information = |array: Value| array.operands().into_iter().find(|e| symbol(*e).starts_with("_ZTI"));
    arrays.into_iter().filter_map(information).any(is_exception)
}

/// Whether type information is that of an exception, by its base classes.
fn is_exception(info: Value) -> bool {
    const ROOTS: [&str; 3] =
        ["_ZTISt9exception", "_ZTIN5boost9exceptionE", "_ZTIN5boost16exception_detail10clone_baseE"];
    let (mut seen, mut open) = (HashSet::new(), vec![info]);
    while let Some(class) = open.pop() {
        let called = symbol(class);
        if ROOTS.contains(&called.as_str()) || called.starts_with("_ZTISt") && called.ends_with("_error") {
            return true;
        }
        // SAFETY: asked of a live value.
        let is_global = unsafe { !LLVMIsAGlobalVariable(class.0).is_null() };
        if is_global && called.starts_with("_ZTI") && seen.insert(class) {
            // SAFETY: a live global.
            let initialiser = Value(unsafe { LLVMGetInitializer(class.0) });
            if !initialiser.0.is_null() {
                open.extend(initialiser.operands());
            }
        }
    }
    false
}

/// Whether a landing pad has a clause for a type.
fn catches_by_type(module: &Module<'_>) -> bool {
    let pads = ir::all_instructions(module).into_iter().filter(|i| i.is(Op::LLVMLandingPad));
    pads.flat_map(Value::operands).any(|clause| symbol(clause).starts_with("_ZTI"))
}

/// The function that an entry is, through an alias (constructors and destructors often are aliases).
fn function(entry: Value) -> LLVMValueRef {
    // SAFETY: asked of a live constant.
    unsafe {
        let target = if LLVMIsAGlobalAlias(entry.0).is_null() { entry.0 } else { LLVMAliasGetAliasee(entry.0) };
        LLVMIsAFunction(target)
    }
}

/// The name of a global value; empty for others.
pub fn symbol(value: Value) -> String {
    let mut length = 0;
    // SAFETY: a live value; the name has the length given.
    unsafe {
        if LLVMIsAGlobalValue(value.0).is_null() {
            return String::new();
        }
        let name = LLVMGetValueName2(value.0, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(name.cast::<u8>(), length)).into_owned()
    }
}
