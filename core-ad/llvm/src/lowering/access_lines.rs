//! Notes the source line of each access of memory, before it, so that one that leaves its array can be named.
//!
//! The function runs once more between pages without access (`compile-driver/src/prover/bounds.rs`). The signal says which address was
//! accessed, and what is noted here, at which line: `ffgrad_access` leads to the line and its file. The accesses become volatile: then none is dropped
//! because nothing needs what it loads, and each stands behind its note. Code of libraries keeps the line of the user's that calls it.

use crate::ir::{self, Op, Value};
use crate::lowering::caught::build::Edit;
use core_ad::protocol::ACCESS;
use core_ad::source_files;
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashMap;
use std::ffi::CString;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Rewrites all functions of a module with debug information, which is unoptimised.
pub fn run(module: &Module<'_>) {
    let edit = Edit::of(module);
    let mut notes = Notes { place: variable(&edit), edit: &edit, known: HashMap::new() };
    for function in ir::functions(module) {
        for i in ir::blocks(function).into_iter().flat_map(ir::Block::instructions) {
            let is_access = make_volatile(&edit, i);
            if (is_access || i.called().is_some_and(|_| calls_code(i)))
                && let Some(line) = source_line(i)
            {
                notes.before(i, line);
            }
        }
        forget_memory(Value(function.as_value_ref()));
    }
    module.get_functions().filter(|f| f.count_basic_blocks() > 0).for_each(|f| {
        Value(f.as_value_ref()).users().into_iter().filter(|user| user.called().is_some()).for_each(forget_call_memory);
    });
}

/// The exported address of the last note.
fn variable(edit: &Edit) -> LLVMValueRef {
    let name = CString::new(ACCESS).unwrap_or_default();
    // SAFETY: a new variable of a live module.
    unsafe {
        let place = LLVMAddGlobal(edit.module, edit.ptr, name.as_ptr());
        LLVMSetInitializer(place, LLVMConstNull(edit.ptr));
        LLVMSetLinkage(place, LLVMLinkage::LLVMExternalLinkage);
        place
    }
}

/// What is stored there.
struct Notes<'a> {
    edit: &'a Edit,
    place: LLVMValueRef,
    known: HashMap<(String, u32), LLVMValueRef>,
}

impl Notes<'_> {
    fn before(&mut self, i: Value, line: (String, u32)) {
        let edit = self.edit;
        let note = *self.known.entry(line).or_insert_with_key(|(file, line)| constant(edit, file, *line));
        edit.before(i);
        // SAFETY: a live instruction, before which the builder stands.
        unsafe {
            let store = LLVMBuildStore(edit.builder, note, self.place);
            LLVMSetVolatile(store, 1);
        }
    }
}

/// `{ line, file's name with a zero behind it }`.
fn constant(edit: &Edit, file: &str, line: u32) -> LLVMValueRef {
    let file = CString::new(file).unwrap_or_default();
    // SAFETY: new constants of a live module.
    unsafe {
        let length = file.as_bytes().len();
        let text = LLVMConstStringInContext2(edit.context, file.as_ptr(), length, 0);
        let mut parts = [LLVMConstInt(edit.i32, u64::from(line), 0), text];
        let value = LLVMConstStructInContext(edit.context, parts.as_mut_ptr(), 2, 0);
        let note = LLVMAddGlobal(edit.module, LLVMTypeOf(value), NONE);
        LLVMSetInitializer(note, value);
        LLVMSetGlobalConstant(note, 1);
        LLVMSetLinkage(note, LLVMLinkage::LLVMPrivateLinkage);
        note
    }
}

/// Whether an instruction accesses memory that may be an array of the caller's; it is volatile then.
fn make_volatile(edit: &Edit, i: Value) -> bool {
    let address = match i.op() {
        Some(Op::LLVMLoad | Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg) => i.operand(0),
        Some(Op::LLVMStore) => i.operand(1),
        Some(Op::LLVMCall) if is_copy(i) => {
            // SAFETY: the last argument of each of them says whether it is volatile.
            unsafe { LLVMSetOperand(i.0, 3, LLVMConstInt(LLVMInt1TypeInContext(edit.context), 1, 0)) };
            return true;
        }
        _ => return false,
    };
    let mut base = address;
    while base.is(Op::LLVMGetElementPtr) {
        base = base.operand(0);
    }
    if base.is(Op::LLVMAlloca) {
        return false;
    }
    // SAFETY: one of the instructions that may be volatile.
    unsafe { LLVMSetVolatile(i.0, 1) };
    true
}

fn is_copy(call: Value) -> bool {
    let starts = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."];
    call.callee().is_some_and(|name| starts.iter().any(|start| name.starts_with(start)) && !name.contains("element"))
}

/// Whether a call leads to code, and is no note for the compiler.
fn calls_code(call: Value) -> bool {
    call.callee().is_none_or(|name| !name.starts_with("llvm."))
}

/// Where the user wrote an instruction; `None` for those of libraries.
fn source_line(i: Value) -> Option<(String, u32)> {
    // SAFETY: a live instruction, whose debug location, where it has one, names a file and its folder for as long.
    unsafe {
        let line = LLVMGetDebugLocLine(i.0);
        let (mut length, mut above) = (0, 0);
        let file = LLVMGetDebugLocFilename(i.0, &mut length);
        let folder = LLVMGetDebugLocDirectory(i.0, &mut above);
        if line == 0 || file.is_null() {
            return None;
        }
        let text = |start: *const std::ffi::c_char, length: u32| {
            if start.is_null() {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length as usize)).into_owned()
        };
        let path = std::path::Path::new(&text(folder, above)).join(text(file, length));
        (!source_files::is_of_library(&path)).then(|| (path.to_string_lossy().into_owned(), line))
    }
}

/// A function that notes lines touches memory, whatever it was said to do.
fn forget_memory(function: Value) {
    // SAFETY: a live function; an attribute that it does not have is not there to be removed.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"memory".as_ptr(), 6);
        LLVMRemoveEnumAttributeAtIndex(function.0, u32::MAX, kind);
    }
}

fn forget_call_memory(call: Value) {
    // SAFETY: as above, of a call.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"memory".as_ptr(), 6);
        LLVMRemoveCallSiteEnumAttribute(call.0, u32::MAX, kind);
    }
}
