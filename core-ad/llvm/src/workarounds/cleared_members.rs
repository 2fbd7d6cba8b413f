//! Clears small structures member by member, word by word where nothing tells what they are.
//!
//! ```text
//! Block b; b.row = 0; b.column = 0; b.stride = n;  Sum s(Block(b), other);        // s has a copy of b
//! ```
//!
//! LLVM splits a structure that is copied and stores its known members on their own; it joins stores of zeros to a `memset`, behind the marks of
//! `zero_stores.rs`. Enzyme refuses a `memset` of members that nothing reads ("Cannot deduce type of memset"); of a store it needs no type, for a zero
//! has any. In Fortran, where no structure is split so, the members are integers of COMMON blocks, which words of eight bytes would join.

use super::copy_types;
use super::member_copies::{clear, is_clearing};
use crate::analysis::member_layout::Layouts;
use crate::ir;
use inkwell::module::Module;

/// Bytes of what is cleared at most.
const MOST: i64 = 64;

/// Replaces each `memset` without a type.
pub fn run(module: &Module<'_>) {
    let is_small = |call: &ir::Value| call.operand(2).constant().is_some_and(|bytes| (1..=MOST).contains(&bytes));
    let of_words = |call: &ir::Value| ir::stated_alignment(*call, 0) >= 8;
    let all = ir::all_instructions(module);
    let all: Vec<_> = all.into_iter().filter(|i| is_clearing(*i) && is_small(i) && of_words(i)).collect();
    if all.is_empty() || is_fortran(module) {
        return;
    }
    let builder = module.get_context().create_builder();
    let layouts = Layouts::of(module);
    all.into_iter().filter(|call| !copy_types::is_known(*call)).for_each(|call| clear(&builder, &layouts, call));
}

/// Whether flang made any of it: its names begin with `_Q`, and those of procedures and COMMON blocks end with `_`.
fn is_fortran(module: &Module<'_>) -> bool {
    let is = |name: &std::ffi::CStr| {
        let name = name.to_string_lossy();
        let own = name.split('.').next().unwrap_or_default();
        own.starts_with("_Q") || (own.ends_with('_') && !own.starts_with("_Z"))
    };
    module.get_functions().any(|f| is(f.get_name())) || module.get_globals().any(|g| is(g.get_name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// Whether a `memset` of four integers is left in a function of that name.
    fn stays(name: &str) -> bool {
        let ir = format!(
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
            define void @{name}(ptr %counts) {{
              call void @llvm.memset.p0.i64(ptr align 8 %counts, i8 0, i64 16, i1 false)
              ret void
            }}"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(ir.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{e}"));
        run(&module);
        ir::all_instructions(&module).into_iter().any(is_clearing)
    }

    #[test]
    fn integers_of_a_common_block_are_cleared_as_a_whole() {
        assert!(stays("dvstep_") && stays("dvstep_.stateful") && stays("_QFstepPcount"));
        assert!(!stays("evaluate") && !stays("_ZN5Eigen8evaluateEv_"));
    }
}
