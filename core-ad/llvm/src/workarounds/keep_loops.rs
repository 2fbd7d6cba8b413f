//! Keeps loops of Fortran that clear or copy arrays from becoming `memset` and `memcpy`.
//!
//! ```text
//! do i = 1, lenrw;  rwork(i) = 0d0;  end do               ! the work array of LSODA, of which later calls use parts
//! ```
//!
//! A store in a loop says what it stores; `memset` does not, and what flang says of memory (TBAA) is where it is from, not what is in it. Enzyme refuses
//! then ("Cannot deduce type of memset"). LLVM makes the call of a loop unless a function's attributes say that the library has none. They
//! disappear after Enzyme, so the derivative's loops become such calls.

use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::AnyValue;

/// LLVM's names for "this function is not the library's".
const ATTRIBUTES: [&str; 3] = ["no-builtin-memset", "no-builtin-memcpy", "no-builtin-memmove"];

/// Whether flang has compiled a part of a module.
pub fn is_needed(module: &Module<'_>) -> bool {
    module.get_global_metadata("llvm.ident").iter().any(|node| node.print_to_string().to_string().contains("flang"))
}

/// Sets the attributes, on all functions: inlining is only between those that have the same.
pub fn run(module: &Module<'_>) {
    for function in module.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        for name in ATTRIBUTES {
            function.add_attribute(AttributeLoc::Function, module.get_context().create_string_attribute(name, ""));
        }
    }
}

/// Removes them.
pub fn undo(module: &Module<'_>) {
    for function in module.get_functions() {
        ATTRIBUTES.iter().for_each(|name| function.remove_string_attribute(AttributeLoc::Function, name));
    }
}
