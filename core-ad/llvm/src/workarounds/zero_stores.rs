//! Keeps stores of zeros to integers and pointers from becoming one `memset`.
//!
//! ```text
//! Block b; b.row = 0; b.column = 0; b.stride = n;  use(&b);        // with long row, column, stride
//! ```
//!
//! LLVM joins the first two stores to a `memset` of 16 bytes (MemCpyOpt, LoopIdiomRecognize). The stores had their types by TBAA, the
//! `memset` has none, and where nothing reads those members Enzyme refuses it ("Cannot deduce type of memset"). Expression templates
//! (Eigen's blocks, maps and products) are full of such members.
//!
//! Both passes leave non-temporal stores alone, because a `memset` has no such hint. So stores of integers and pointers get the hint before
//! LLVM's pipeline and lose it behind it; all of them, for which are zeros shows after inlining. Stores of floating-point zeros, and of arguments
//! (`complex(double r = 0, double i = 0)`), get it where a block has several. A loop of one is better a `memset`, which keeps the type of the store.

use crate::ir::{self, Block, Op, Value, is_argument};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use std::collections::HashMap;

/// The pass's name in the table.
pub const NAME: &str = "zero-stores";

/// LLVM's kind of metadata for the hint.
const HINT: &std::ffi::CStr = c"nontemporal";

/// Marks the stores.
pub fn mark(module: &Module<'_>) {
    let all = ir::all_instructions(module);
    let mut zeros: HashMap<Block, usize> = HashMap::new();
    all.iter().filter(|i| may_be_zero(**i)).for_each(|i| *zeros.entry(i.parent()).or_default() += 1);
    let is_joined = |i: &Value| may_be_zero(*i) && zeros.get(&i.parent()).is_some_and(|count| *count > 1);
    let stores = all.iter().filter(|i| is_bare(**i) || is_joined(i));
    // SAFETY: live stores of the module; the node is of its context.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let one = LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), 1, 0));
        let node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, [one].as_mut_ptr(), 1));
        let kind = kind(module);
        stores.for_each(|store| LLVMSetMetadata(store.0, kind, node));
    }
}

/// Takes the marks away. A user's own hint on such a store goes too.
pub fn unmark(module: &Module<'_>) {
    let kind = kind(module);
    for store in ir::all_instructions(module).into_iter().filter(|i| i.is(Op::LLVMStore)) {
        // SAFETY: a live store; null takes the metadata away.
        unsafe { LLVMSetMetadata(store.0, kind, std::ptr::null_mut()) };
    }
}

fn kind(module: &Module<'_>) -> u32 {
    // SAFETY: the module's context; the name has the length given.
    unsafe {
        LLVMGetMDKindIDInContext(LLVMGetModuleContext(module.as_mut_ptr()), HINT.as_ptr(), HINT.count_bytes() as u32)
    }
}

/// Whether it stores a floating-point zero, or what may be one in some call.
fn may_be_zero(i: Value) -> bool {
    let value = i.operand(0);
    // SAFETY: asked of a live value.
    i.is(Op::LLVMStore) && value.is_float() && (holds_argument(value) || unsafe { LLVMIsNull(value.0) } != 0)
}

/// Whether it is an argument, or comes from the variable that clang keeps one in.
fn holds_argument(value: Value) -> bool {
    let slot = || value.operand(0);
    let is_kept = |user: Value| user.is(Op::LLVMStore) && is_argument(user.operand(0)) && user.operand(1) == slot();
    is_argument(value) || value.is(Op::LLVMLoad) && slot().is(Op::LLVMAlloca) && slot().users().into_iter().any(is_kept)
}

/// Whether it stores an integer or a pointer.
fn is_bare(i: Value) -> bool {
    use LLVMTypeKind::{LLVMIntegerTypeKind, LLVMPointerTypeKind};
    // SAFETY: a type of the module.
    i.is(Op::LLVMStore)
        && matches!(unsafe { LLVMGetTypeKind(i.operand(0).ty()) }, LLVMIntegerTypeKind | LLVMPointerTypeKind)
}
