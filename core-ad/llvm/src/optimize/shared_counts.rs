//! Takes the shortcuts out of the counts of owners that libstdc++'s `shared_ptr` keeps.
//!
//! ```text
//! if (__libc_single_threaded) n = count--; else n = atomic_sub(count, 1);      -> n = atomic_sub(count, 1);
//! if (both_counts == {1, 1}) { dispose(); destroy(); }                         -> the counts go down one by one, as they do otherwise
//! ```
//!
//! Each copy of a pointer, inlined, brings five branches that memory decides. Enzyme's analyses go through all of them for each address, and
//! `path-map` counts them. The branches that are left do the same, whatever runs beside.

use crate::ir::count_markers::is_update;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate};

/// The C library's variable: whether the process has one thread.
const ONE_THREAD: &str = "__libc_single_threaded";

/// One owner and one observer, as libstdc++ reads both counts in one word.
const LAST_OF_BOTH: i64 = 0x1_0000_0001;

/// Rewrites them.
pub fn run(module: &Module<'_>) {
    for i in ir::all_instructions(module) {
        let is_shortcut = i.is(Op::LLVMLoad) && i.operand(0).name() == ONE_THREAD || asks_for_both(i);
        if is_shortcut {
            // SAFETY: a live instruction, which a constant of its type replaces.
            unsafe { LLVMReplaceAllUsesWith(i.0, LLVMConstNull(i.ty())) };
            i.erase();
        }
    }
}

/// Whether it compares both counts at once with those of the last owner, who then sets them to zero.
fn asks_for_both(test: Value) -> bool {
    let is_equality = || {
        // SAFETY: a live comparison.
        unsafe { LLVMGetICmpPredicate(test.0) == LLVMIntPredicate::LLVMIntEQ }
    };
    if !test.is(Op::LLVMICmp) || !is_equality() || test.operand(1).constant() != Some(LAST_OF_BOTH) {
        return false;
    }
    let counts = test.operand(0);
    // SAFETY: a live load.
    counts.is(Op::LLVMLoad) && unsafe { LLVMGetOrdering(counts.0) == LLVMAtomicOrdering::LLVMAtomicOrderingAcquire }
}

/// Whether a branch asks for the last owner: what the count was before one was taken from it. The path so far decides that.
pub fn asks_for_last(branch: Value) -> bool {
    let test = branch.operand(0);
    if !branch.is(Op::LLVMBr) || !test.is(Op::LLVMICmp) || test.operand(1).constant() != Some(1) {
        return false;
    }
    let before = test.operand(0);
    before.callee().is_some_and(|name| is_update(&name)) && before.operand(1).constant() == Some(-1)
}
