//! Tells the driver of a derivative that may need a large stack; `compile-driver/src/call/large_stack.rs` gives it one.

use crate::analysis::stack_use;
use core_ad::protocol::{Entry, LARGE_STACK};
use inkwell::module::{Linkage, Module};

/// Exports the mark where the derivative may need a large stack. The primal runs as it does without ffgrad.
pub fn mark(module: &Module<'_>, entries: &[Entry]) {
    if !entries.contains(&Entry::Primal) && stack_use::may_be_large(module) {
        let ty = module.get_context().i8_type();
        let mark = module.add_global(ty, None, LARGE_STACK);
        mark.set_initializer(&ty.const_int(1, false));
        mark.set_constant(true);
        mark.set_linkage(Linkage::External);
    }
}
