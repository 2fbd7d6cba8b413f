//! Keeps the conditions of branches to code that does not return (`exit`, `abort`, a failed `assert`) visible in a derivative.
//!
//! Enzyme gives such code no derivative, and LLVM takes what leads there as never taken: inside Enzyme the branch becomes a call of `llvm.assume`, and all
//! that is computed from its condition follows it, a marker of the path too:
//!
//! ```text
//! path(0, 2, negative);  if (negative) exit(3);     path(0, 2, false);  assume(!negative);
//! ```
//!
//! So the marker gets a copy of the condition, of values that LLVM does not see through until Enzyme is done ([`decider`]); the assumptions are dropped
//! after it ([`drop_assumptions`]). The derivative itself goes on where the function would have stopped; the driver sees a new path, asks the function, and
//! gives the caller its end in place of a gradient.

use crate::ir::{self, Block, Op, Value, markers, path_markers};
use inkwell::module::Module;
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;

/// How many blocks lie at most between a branch and the end of the program.
const NEAR: usize = 8;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// What a branch or switch decides by, for a marker: its own condition or number, and beside a dead end one of values that LLVM cannot relate to it.
///
/// # Safety
///
/// The builder stands right before the branch, which is an instruction of the module.
pub unsafe fn decider(module: &Module<'_>, builder: LLVMBuilderRef, branch: Value) -> Value {
    let own = branch.operand(0);
    match branch.parent().successors().into_iter().any(|block| ends(block, NEAR)) {
        // SAFETY: by this function's promise.
        true => unsafe { hidden(module, builder, own) },
        false => own,
    }
}

/// Whether all paths from a block come to an `unreachable`.
fn ends(block: Block, near: usize) -> bool {
    let end = block.terminator();
    let next = block.successors();
    end.is(Op::LLVMUnreachable) || near > 0 && !next.is_empty() && next.into_iter().all(|b| ends(b, near - 1))
}

/// A condition is composed again of hidden values, because LLVM knows it as a whole; another value is the result of a function that has no body yet.
/// Constants, pointers and other types stay as they are.
///
/// # Safety
///
/// The builder stands in the module, where the value is defined.
unsafe fn hidden(module: &Module<'_>, builder: LLVMBuilderRef, value: Value) -> Value {
    let of = |i: u32| {
        // SAFETY: an operand of what is defined here is defined here, too.
        unsafe { hidden(module, builder, value.operand(i)).0 }
    };
    // SAFETY: by this function's promise; a live value and its type, and a function of the module with one parameter of that type.
    unsafe {
        let is_condition = LLVMGetTypeKind(value.ty()) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(value.ty()) == 1;
        let composed = match value.op().filter(|_| is_condition) {
            Some(Op::LLVMFCmp) => LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(value.0), of(0), of(1), NONE),
            Some(Op::LLVMICmp) => LLVMBuildICmp(builder, LLVMGetICmpPredicate(value.0), of(0), of(1), NONE),
            Some(Op::LLVMAnd) => LLVMBuildAnd(builder, of(0), of(1), NONE),
            Some(Op::LLVMOr) => LLVMBuildOr(builder, of(0), of(1), NONE),
            Some(Op::LLVMXor) => LLVMBuildXor(builder, of(0), of(1), NONE),
            Some(Op::LLVMSelect) => LLVMBuildSelect(builder, of(0), of(1), of(2), NONE),
            _ => {
                let is_constant = LLVMIsConstant(value.0) != 0;
                if is_constant { value.0 } else { markers::hide(module, builder, value.0).unwrap_or(value.0) }
            }
        };
        Value(composed)
    }
}

/// Drops what LLVM has taken for granted in functions with markers of the path: that they do not come to a dead end.
pub fn drop_assumptions(module: &Module<'_>) {
    for function in ir::functions(module) {
        let all: Vec<Value> = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
        let calls = |i: &Value, name: &str| i.callee().is_some_and(|callee| callee == name);
        if !all.iter().any(|i| calls(i, path_markers::PATH)) {
            continue;
        }
        // Bundles say something of pointers.
        // SAFETY: a live call.
        let is_plain = |i: &Value| calls(i, "llvm.assume") && unsafe { LLVMGetNumOperandBundles(i.0) } == 0;
        all.iter().filter(|i| is_plain(i)).for_each(|i| i.erase());
    }
}
