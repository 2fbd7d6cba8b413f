//! Allocates large local arrays of numbers on the heap, and hides their size: Enzyme's type analysis takes minutes for them.
//!
//! ```text
//! double w[20000];  ...  for (i) w[i] = x[i] * x[i];
//! ```
//!
//! From an access at an unknown index Enzyme concludes that all of the array holds numbers of one type. Where it knows the size of an `alloca` it writes that
//! down for each element (`TypeAnalyzer::visitAllocaInst`: `Lookup(LoadSize)`), sorts the elements in one by one and merges them with what it knew, whenever
//! it comes by the variable or an address in it: time grows with the square of the size. The same holds for a `malloc` of a constant size. So
//! the size is a constant to which a zero is added that Enzyme does not know:
//!
//! ```text
//! %w = alloca [20000 x double]         =>  %more = load i64, ptr @ffgrad.offset...   ; 0, as is known after Enzyme
//!                                          %w = call ptr @malloc(160000 + %more)     ; free before each return
//! ```
//!
//! An `alloca` of unknown size would do, but Enzyme fails on these in other ways (`dynamic_arrays.rs`). A call allocates once, as it did, also one
//! that is inlined in a loop, or recursive.

use crate::analysis::memory_objects::holds_numbers_only;
use crate::ir::{self, Op, Value, markers};
use crate::workarounds::dynamic_arrays::{ALIGNMENT, move_to_heap};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail;
use llvm_sys::core::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};

/// Larger arrays are moved. For smaller ones Enzyme takes less than a tenth of a second, and allocating larger ones less than filling them.
const LARGE: u64 = 8 << 10;

/// Number of the zero that is added to the size.
const ZERO: u64 = 0x1a_46e;

/// Moves them.
pub fn run(module: &Module<'_>) {
    for function in ir::functions(module) {
        let arrays = arrays(module, function);
        let ends = if arrays.is_empty() { None } else { ends(function) };
        let Some(ends) = ends else { continue };
        // SAFETY: the context of a live module.
        let long = unsafe { LLVMInt64TypeInContext(LLVMGetModuleContext(module.as_mut_ptr())) };
        let more = markers::load_opaque_zero(module, function, long, ZERO);
        arrays.into_iter().for_each(|array| move_to_heap(module, array, &ends, Some(more)));
    }
}

/// The large arrays of numbers that a function allocates when it begins.
fn arrays(module: &Module<'_>, function: FunctionValue<'_>) -> Vec<Value> {
    let Some(entry) = ir::blocks(function).first().copied() else { return Vec::new() };
    // SAFETY: live allocations of the module.
    let is_large = |a: &Value| unsafe {
        let ty = LLVMGetAllocatedType(a.0);
        let count = a.operand(0).constant().and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
        let bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), ty).saturating_mul(count);
        let is_plain = LLVMGetAlignment(a.0) <= ALIGNMENT && LLVMGetPointerAddressSpace(a.ty()) == 0;
        bytes > LARGE && holds_numbers_only(ty) && is_plain
    };
    entry.instructions().into_iter().filter(|i| i.is(Op::LLVMAlloca)).filter(is_large).collect()
}

/// Where a function is left; `None` where its last call takes its place.
fn ends(function: FunctionValue<'_>) -> Option<Vec<Value>> {
    let last = |block: ir::Block| block.terminator();
    let ends: Vec<Value> =
        ir::blocks(function).into_iter().map(last).filter(|i| i.is(Op::LLVMRet) || i.is(Op::LLVMResume)).collect();
    // SAFETY: live calls.
    let is_replaced = |i: Value| i.is(Op::LLVMCall) && unsafe { LLVMGetTailCallKind(i.0) } == LLVMTailCallKindMustTail;
    let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
    (!all.into_iter().any(is_replaced)).then_some(ends)
}
