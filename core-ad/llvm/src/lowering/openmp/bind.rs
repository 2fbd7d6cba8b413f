//! Binds calls of the OpenMP runtime to function pointers that the loader fills in.
//!
//! A process should have one OpenMP runtime of a kind: two of LLVM's abort it. Which one it has is known where the artifact
//! is loaded, not where it is linked, and the libraries of other programs must not be searched for symbols. So each runtime
//! function that the code calls has a slot, and the object exports a table of slots and names: `{ count, { name, slot }... }`.

use super::{is_runtime, users};
use crate::ir::Result;
use inkwell::AddressSpace;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, BasicValue, BasicValueEnum};
use llvm_sys::core::*;

/// Makes the calls indirect, and exports the table as `name` where there are any. After the last optimisation: LLVM
/// knows the functions by name.
pub fn bind(module: &Module<'_>, name: &str) -> Result<()> {
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let mut rows: Vec<BasicValueEnum<'_>> = Vec::new();
    let wanted = module.get_functions().filter(|f| f.count_basic_blocks() == 0 && f.get_intrinsic_id() == 0);
    for function in wanted.collect::<Vec<_>>() {
        let called = function.get_name().to_string_lossy().into_owned();
        // SAFETY: iterates over the uses of a live function.
        let is_called = unsafe { !users(function.as_value_ref()).is_empty() };
        if !is_runtime(&called) || !is_called {
            continue;
        }
        let slot = module.add_global(pointer, None, &format!("ffgrad.slot.{called}"));
        slot.set_linkage(Linkage::Internal);
        slot.set_initializer(&pointer.const_null());
        // SAFETY: every use of a live function gets a pointer loaded just before it.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            for user in users(function.as_value_ref()) {
                if LLVMIsAInstruction(user).is_null() || !LLVMIsAPHINode(user).is_null() {
                    LLVMDisposeBuilder(builder);
                    return Err(format!("the address of `{called}` is kept, which OpenMP's runtime does not allow"));
                }
                LLVMPositionBuilderBefore(builder, user);
                let ty = LLVMPointerTypeInContext(LLVMGetModuleContext(module.as_mut_ptr()), 0);
                let loaded = LLVMBuildLoad2(builder, ty, slot.as_value_ref(), c"".as_ptr());
                for i in 0..LLVMGetNumOperands(user) as u32 {
                    if LLVMGetOperand(user, i) == function.as_value_ref() {
                        LLVMSetOperand(user, i, loaded);
                    }
                }
            }
            LLVMDisposeBuilder(builder);
        }
        let text = context.const_string(called.as_bytes(), true);
        let label = module.add_global(text.get_type(), None, &format!("ffgrad.name.{called}"));
        label.set_linkage(Linkage::Private);
        label.set_constant(true);
        label.set_initializer(&text);
        rows.push(label.as_pointer_value().as_basic_value_enum());
        rows.push(slot.as_pointer_value().as_basic_value_enum());
    }
    if rows.is_empty() {
        return Ok(());
    }
    let pointers: Vec<_> = rows.iter().map(|r| r.into_pointer_value()).collect();
    let list = pointer.const_array(&pointers);
    let count = context.i64_type().const_int(pointers.len() as u64 / 2, false);
    let table = context.const_struct(&[count.into(), list.into()], false);
    let exported = module.add_global(table.get_type(), None, name);
    exported.set_initializer(&table);
    exported.set_linkage(Linkage::External);
    Ok(())
}
