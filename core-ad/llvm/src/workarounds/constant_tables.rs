//! Takes the initialisers of large constant tables away while Enzyme works, and puts them back afterwards.
//!
//! ```text
//! @terms = internal constant [1023 x %term] [...]     =>   @terms = external constant [1023 x %term], !enzyme_inactive
//! ```
//!
//! Enzyme's type analysis reads a constant's initialiser element by element (`getConstantAnalysis`), in each function that uses it, in each direction, and
//! carries what it finds through all that is done with an address in the table: the 36 tables of a lunar theory took half a minute. What is done with
//! the elements says as much. Enzyme's input and output are shorter by the tables, too.

use crate::analysis::memory_objects::holds_numbers_only;
use crate::ir::Value;
use crate::workarounds::inactive_globals::is_marked;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, BasicValueEnum, GlobalValue};
use llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMStructTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMTypeRef;
use std::collections::HashMap;

/// Tables with fewer numbers stay: Enzyme takes no notable time for them.
const FEW: u64 = 256;

/// What is taken from a table: its initialiser and how it was linked.
struct Taken<'ctx> {
    initializer: BasicValueEnum<'ctx>,
    linkage: Linkage,
}

/// What was taken, by the names of the tables.
#[derive(Default)]
pub struct Tables<'ctx>(HashMap<String, Taken<'ctx>>);

impl<'ctx> Tables<'ctx> {
    /// Takes the initialisers of a module's large tables. After `inactive-globals`, which tells Enzyme that the tables are not active.
    pub fn take(&mut self, module: &Module<'ctx>) {
        for table in module.get_globals().filter(|g| g.is_constant() && is_marked(module, g)) {
            let name = table.get_name().to_string_lossy().into_owned();
            let Some(initializer) = table.get_initializer().filter(|i| is_large(Value(i.as_value_ref()))) else {
                continue;
            };
            if !name.is_empty() {
                self.0.insert(name, Taken { initializer, linkage: table.get_linkage() });
                declare(table);
            }
        }
    }

    /// Puts them back into what Enzyme made of the module.
    pub fn put_back(&self, module: &Module<'ctx>) {
        for (name, taken) in &self.0 {
            if let Some(table) = module.get_global(name) {
                define(module, table, name, taken);
            }
        }
    }
}

/// Makes a declaration of a global.
fn declare(table: GlobalValue<'_>) {
    table.set_linkage(Linkage::External);
    // SAFETY: a live global; a null initialiser makes a declaration of it.
    unsafe { LLVMSetInitializer(table.as_value_ref(), std::ptr::null_mut()) };
}

/// Puts a table in the place of its declaration, whose type has another name after all that was written and read.
fn define<'ctx>(module: &Module<'ctx>, declared: GlobalValue<'ctx>, name: &str, taken: &Taken<'ctx>) {
    let table = module.add_global(taken.initializer.get_type(), None, "");
    table.set_initializer(&taken.initializer);
    table.set_constant(true);
    table.set_alignment(declared.get_alignment());
    table.set_linkage(taken.linkage);
    // SAFETY: two live globals; nothing refers to the declaration when it goes.
    unsafe {
        LLVMSetUnnamedAddress(table.as_value_ref(), LLVMGetUnnamedAddress(declared.as_value_ref()));
        LLVMReplaceAllUsesWith(declared.as_value_ref(), table.as_value_ref());
        LLVMDeleteGlobal(declared.as_value_ref());
    }
    table.set_name(name);
}

/// Whether a constant is a large table of numbers, without addresses.
fn is_large(whole: Value) -> bool {
    // SAFETY: the type of a live constant.
    numbers(whole.ty()) > FEW && unsafe { holds_numbers_only(whole.ty()) } && is_data(whole)
}

/// How many numbers values of a type have.
fn numbers(ty: LLVMTypeRef) -> u64 {
    // SAFETY: live types, each asked for what its kind has.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMArrayTypeKind => LLVMGetArrayLength2(ty).saturating_mul(numbers(LLVMGetElementType(ty))),
            LLVMStructTypeKind => {
                let parts = 0..LLVMCountStructElementTypes(ty);
                parts.map(|i| numbers(LLVMStructGetTypeAtIndex(ty, i))).fold(0, u64::saturating_add)
            }
            _ => 1,
        }
    }
}

/// Whether a constant is made of numbers alone, not of addresses as numbers.
fn is_data(value: Value) -> bool {
    // SAFETY: a live constant.
    unsafe {
        let is_leaf = !LLVMIsAConstantDataSequential(value.0).is_null()
            || !LLVMIsAConstantAggregateZero(value.0).is_null()
            || !LLVMIsAConstantInt(value.0).is_null()
            || !LLVMIsAConstantFP(value.0).is_null()
            || !LLVMIsAUndefValue(value.0).is_null();
        let is_aggregate = !LLVMIsAConstantArray(value.0).is_null() || !LLVMIsAConstantStruct(value.0).is_null();
        is_leaf || (is_aggregate && value.operands().into_iter().all(is_data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// A module with a table of so many integers, and one of as many addresses; both are marked inactive.
    fn tables(context: &Context, count: usize) -> Module<'_> {
        let (numbers, addresses) = (vec!["i32 7"; count].join(", "), vec!["ptr @numbers"; count].join(", "));
        let text = format!(
            "@numbers = internal constant [{count} x i32] [{numbers}], !enzyme_inactive !0\n\
             @addresses = internal constant [{count} x ptr] [{addresses}], !enzyme_inactive !0\n\
             define i32 @f(i64 %i) {{\n\
               %p = getelementptr i32, ptr @numbers, i64 %i\n  %v = load i32, ptr %p\n  ret i32 %v\n\
             }}\n!0 = !{{}}\n"
        );
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "tables");
        context.create_module_from_ir(buffer).expect("valid IR")
    }

    #[test]
    fn a_large_table_of_numbers_comes_back() {
        let context = Context::create();
        let (module, mut taken) = (tables(&context, 300), Tables::default());
        taken.take(&module);
        let has_initializer = |name: &str| module.get_global(name).expect("a global").get_initializer().is_some();
        assert!(!has_initializer("numbers") && has_initializer("addresses"));
        taken.put_back(&module);
        assert!(has_initializer("numbers"));
        module.verify().expect("valid IR");
    }

    #[test]
    fn a_small_table_stays() {
        let context = Context::create();
        let (module, mut taken) = (tables(&context, 10), Tables::default());
        taken.take(&module);
        assert!(module.get_global("numbers").expect("a global").get_initializer().is_some());
    }
}
