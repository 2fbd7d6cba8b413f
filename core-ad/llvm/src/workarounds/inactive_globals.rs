//! Marks global variables that are never written as inactive.
//!
//! A table, or an object built before the first call, holds values that do not depend on the inputs. Enzyme would give it a
//! shadow of zeros; where it owns memory (a static `std::vector`) that shadow is a null pointer, dereferenced at run time. A
//! global that no reachable function writes to is therefore marked `enzyme_inactive`; one that the source declares `const`
//! (`analysis/constant_objects.rs`) wherever its address goes. So is what describes a C++ type, and where nothing calls
//! through a pointer, the tables of virtual functions: Enzyme would differentiate each function in them.

use crate::analysis::constant_objects;
use crate::analysis::global_uses::{is_only_read, is_ours};
use crate::analysis::reachable::reachable;
use crate::analysis::virtual_tables::{is_exception_table, is_table};
use crate::ir::{Block, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};
use std::collections::HashSet;

/// The pending messages of a Fortran MPI program (`compile-driver/runtime/mpi_fortran.c`): in the shadow Enzyme
/// stores what it needs of each.
const REQUESTS: &str = "ffgrad_mpi_requests";

unsafe fn shadow_node(context: LLVMContextRef, shadow: LLVMValueRef) -> LLVMMetadataRef {
    // SAFETY: a live value of the context.
    unsafe {
        let mut operand = LLVMValueAsMetadata(shadow);
        LLVMMDNodeInContext2(context, &mut operand, 1)
    }
}

/// Marks them. `roots` are where calls enter; writes in constructors do not count.
pub fn run(module: &Module<'_>, roots: &[FunctionValue<'_>]) {
    // SAFETY: only live values of `module` are read, and only metadata is added.
    unsafe {
        let reachable = reachable(roots);
        let calls_pointers = calls_pointers(&reachable);
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let name = "enzyme_inactive";
        let kind = LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
        let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
        let shadow_name = "enzyme_shadow";
        let shadow_kind = LLVMGetMDKindIDInContext(context, shadow_name.as_ptr().cast(), shadow_name.len() as u32);
        for global in module.get_globals() {
            let raw = global.as_value_ref();
            // What is only read of a library's objects is a constant, too.
            let candidate = !is_ours(global.get_name().to_bytes());
            if global.get_name().to_bytes() == REQUESTS.as_bytes()
                && let Some(shadow) = module.get_global(&format!("{REQUESTS}_shadow"))
            {
                LLVMGlobalSetMetadata(raw, shadow_kind, shadow_node(context, shadow.as_value_ref()));
            } else if is_type_information(global.get_name().to_bytes())
                || is_table(raw) && (!calls_pointers || is_exception_table(raw))
                || candidate && is_only_read(Value(raw), &reachable, constant_objects::is_one(Value(raw)))
            {
                LLVMGlobalSetMetadata(raw, kind, node);
            }
        }
    }
}

/// Whether one of the functions calls through a pointer.
fn calls_pointers(functions: &HashSet<LLVMValueRef>) -> bool {
    let called = |f: &LLVMValueRef| {
        let mut blocks = Vec::new();
        // SAFETY: a live function.
        let mut next = unsafe { LLVMGetFirstBasicBlock(*f) };
        while !next.is_null() {
            blocks.push(Block(next));
            // SAFETY: a live block.
            next = unsafe { LLVMGetNextBasicBlock(next) };
        }
        blocks.into_iter().flat_map(Block::instructions).filter_map(Value::called).collect::<Vec<_>>()
    };
    // SAFETY: asked of live values.
    let is_pointer =
        |callee: Value| unsafe { LLVMIsAFunction(callee.0).is_null() && LLVMIsAInlineAsm(callee.0).is_null() };
    functions.iter().flat_map(called).any(is_pointer)
}

/// Whether a global describes a C++ type, by its name: nothing is computed from it.
fn is_type_information(name: &[u8]) -> bool {
    [&b"_ZTI"[..], b"_ZTS", b"_ZTVN10__cxxabiv1"].iter().any(|start| name.starts_with(start))
}

/// Whether a global is marked.
pub fn is_marked(module: &Module<'_>, global: &GlobalValue<'_>) -> bool {
    let wanted = module.get_context().get_kind_id("enzyme_inactive");
    // SAFETY: a live global; the list is given back.
    unsafe {
        let mut count = 0;
        let all = LLVMGlobalCopyAllMetadata(global.as_value_ref(), &mut count);
        let found = (0..count as u32).any(|i| LLVMValueMetadataEntriesGetKind(all, i) == wanted);
        LLVMDisposeValueMetadataEntries(all);
        found
    }
}
