//! Clears small structures member by member, word by word where nothing tells what they are.
//!
//! ```text
//! Block b; b.row = 0; b.column = 0; b.stride = n;  Sum s(Block(b), other);        // s has a copy of b
//! ```
//!
//! LLVM splits a structure that is copied and stores its known members on their own; it joins stores of zeros to a `memset`, behind the marks of
//! `zero_stores.rs`. Enzyme refuses a `memset` of members that nothing reads ("Cannot deduce type of memset"); of a store it needs no type, for a zero
//! has any.

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
    let all = ir::all_instructions(module);
    let all: Vec<_> = all.into_iter().filter(|i| is_clearing(*i) && is_small(i)).collect();
    if all.is_empty() {
        return;
    }
    let builder = module.get_context().create_builder();
    let layouts = Layouts::of(module);
    all.into_iter().filter(|call| !copy_types::is_known(*call)).for_each(|call| clear(&builder, &layouts, call));
}
