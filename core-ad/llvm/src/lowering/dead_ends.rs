//! Keeps the conditions of branches to code that does not return (`exit`, `abort`, a failed `assert`) visible in a derivative.
//!
//! Enzyme gives such code no derivative, and LLVM takes what leads there as never taken: inside Enzyme the branch becomes a call of `llvm.assume`, and all
//! that is computed from its condition follows it, a marker of the path too:
//!
//! ```text
//! path(0, 2, negative);  if (negative) exit(3);     path(0, 2, false);  assume(!negative);
//! ```
//!
//! So the marker gets a copy of the condition, of values that LLVM does not see through until Enzyme is done ([`condition`]); the assumptions are dropped
//! after it ([`drop_assumptions`]). The derivative itself goes on where the function would have stopped; the driver sees a new path, asks the function, and
//! gives the caller its end in place of a gradient.

use crate::ir::{self, Block, Op, Value, markers};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};

/// How many blocks lie at most between a branch and the end of the program.
const NEAR: usize = 8;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Whether one edge of a branch leads to code that does not return.
pub fn is_beside(branch: Value) -> bool {
    branch.parent().successors().into_iter().any(|block| ends(block, NEAR))
}

/// Whether all paths from a block come to an `unreachable`.
fn ends(block: Block, near: usize) -> bool {
    let end = block.terminator();
    let next = block.successors();
    end.is(Op::LLVMUnreachable) || near > 0 && !next.is_empty() && next.into_iter().all(|b| ends(b, near - 1))
}

/// The same condition, or number, of values that LLVM cannot relate to it.
///
/// # Safety
///
/// The builder stands in the module, where the value is defined.
pub unsafe fn condition(module: &Module<'_>, builder: LLVMBuilderRef, value: Value) -> LLVMValueRef {
    // SAFETY: by this function's promise; operands of what is defined here are defined here, too.
    unsafe {
        let of = |i: u32| condition(module, builder, value.operand(i));
        match value.op() {
            Some(Op::LLVMFCmp) => LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(value.0), of(0), of(1), NONE),
            Some(Op::LLVMICmp) => LLVMBuildICmp(builder, LLVMGetICmpPredicate(value.0), of(0), of(1), NONE),
            Some(Op::LLVMAnd) => LLVMBuildAnd(builder, of(0), of(1), NONE),
            Some(Op::LLVMOr) => LLVMBuildOr(builder, of(0), of(1), NONE),
            Some(Op::LLVMXor) => LLVMBuildXor(builder, of(0), of(1), NONE),
            Some(Op::LLVMSelect) if !value.holds_floats() => LLVMBuildSelect(builder, of(0), of(1), of(2), NONE),
            _ => hidden(module, builder, value),
        }
    }
}

/// The value of a function of it that has no body yet; constants, pointers and other types as they are.
///
/// # Safety
///
/// As for [`condition`].
unsafe fn hidden(module: &Module<'_>, builder: LLVMBuilderRef, value: Value) -> LLVMValueRef {
    let call = |function: LLVMValueRef| {
        // SAFETY: by this function's promise; a function of the module with one parameter of the value's type.
        unsafe { LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, [value.0].as_mut_ptr(), 1, NONE) }
    };
    // SAFETY: a live value and its type.
    unsafe {
        if LLVMIsConstant(value.0) != 0 {
            return value.0;
        }
        match LLVMGetTypeKind(value.ty()) {
            LLVMDoubleTypeKind => call(markers::hidden_number(module, true).as_value_ref()),
            LLVMFloatTypeKind => call(markers::hidden_number(module, false).as_value_ref()),
            LLVMIntegerTypeKind => match markers::hidden_integer(module, LLVMGetIntTypeWidth(value.ty())) {
                Some(function) => call(function.as_value_ref()),
                None => value.0,
            },
            _ => value.0,
        }
    }
}

/// Drops what LLVM has taken for granted in functions with markers of the path: that they do not come to a dead end.
pub fn drop_assumptions(module: &Module<'_>) {
    for function in ir::functions(module) {
        let all: Vec<Value> = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
        let calls = |i: &Value, name: &str| i.callee().is_some_and(|callee| callee == name);
        if !all.iter().any(|i| calls(i, markers::PATH)) {
            continue;
        }
        // Bundles say something of pointers.
        // SAFETY: a live call.
        let is_plain = |i: &Value| calls(i, "llvm.assume") && unsafe { LLVMGetNumOperandBundles(i.0) } == 0;
        all.iter().filter(|i| is_plain(i)).for_each(|i| i.erase());
    }
}
