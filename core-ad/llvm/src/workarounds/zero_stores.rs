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
//! LLVM's pipeline and lose it behind it; all of them, for which are zeros shows after inlining. Stores of floating-point zeros get it where
//! a block has several. A loop of one is better a `memset`, which keeps the type of the store.

use crate::ir::{self, Block, Op, Value};
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
    all.iter().filter(|i| is_zero(**i)).for_each(|i| *zeros.entry(i.parent()).or_default() += 1);
    let is_joined = |i: &Value| is_zero(*i) && zeros.get(&i.parent()).is_some_and(|count| *count > 1);
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
    for store in ir::all_instructions(module).into_iter().filter(|i| is_bare(*i) || is_zero(*i)) {
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

/// Whether it stores a floating-point zero.
fn is_zero(i: Value) -> bool {
    // SAFETY: asked of a live value.
    i.is(Op::LLVMStore) && i.operand(0).is_float() && unsafe { LLVMIsNull(i.operand(0).0) } != 0
}

/// Whether it stores an integer or a pointer.
fn is_bare(i: Value) -> bool {
    use LLVMTypeKind::{LLVMIntegerTypeKind, LLVMPointerTypeKind};
    // SAFETY: a type of the module.
    i.is(Op::LLVMStore)
        && matches!(unsafe { LLVMGetTypeKind(i.operand(0).ty()) }, LLVMIntegerTypeKind | LLVMPointerTypeKind)
}
