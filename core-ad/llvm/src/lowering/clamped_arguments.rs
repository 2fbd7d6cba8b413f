//! Takes the choice of a constant out of the argument of a root, a power or an arc cosine, in the pipeline `guarded`.
//!
//! ```text
//! %s = select i1 %inside, double %x, double 1.0                %one = call double @acos(double %x)
//! %a = call double @acos(double %s)                  becomes   %other = call double @acos(double 1.0)
//!                                                              %a = select i1 %inside, double %one, double %other
//! ```
//!
//! Limits are where such functions have infinite derivatives: the forward mode multiplies the tangent of the constant, which is 0, by one of them.
//! The choice may be some operations before the function, as of `1 - s`; these are computed for both. What is not chosen is guarded afterwards (`guards.rs`).

use crate::ir::{self, Op, Value};
use crate::lowering::guards::{as_select, is_extremum, is_number, is_pure, safe_argument};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;
use std::collections::HashMap;

/// Choices are looked for so many operations before a function.
const DEEPEST: usize = 6;
/// Functions that are taken apart, in one function of the program: each choice in an argument makes two of it.
const MOST: usize = 64;

/// Rewrites one function.
pub fn run(module: &Module<'_>, function: FunctionValue<'_>) {
    let risky = |i: &Value| i.is(Op::LLVMCall) && is_number(*i) && safe_argument(*i).is_some();
    let mut open: Vec<Value> = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(risky).collect();
    open.reverse();
    // SAFETY: live calls of the module; one that is replaced is erased behind its last use.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let mut left = MOST;
        while let Some(call) = open.pop().filter(|_| left > 0) {
            if let Some(both) = choice_before(call, call, DEEPEST).and_then(|choice| take_out(builder, call, choice)) {
                open.extend(both);
                left -= 1;
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The choice of a constant that an argument of `call` depends on.
fn choice_before(call: Value, user: Value, depth: usize) -> Option<Value> {
    let arguments = if user == call { vec![call.operand(safe_argument(call)?.0)] } else { user.operands() };
    arguments.into_iter().filter(|value| value.is_instruction() && is_number(*value)).find_map(|value| {
        let is_choice = value.is(Op::LLVMSelect) || is_extremum(value);
        match is_choice
            && value.operands().iter().any(|arm| is_number(*arm) && !arm.is_instruction() && arm.is_number())
        {
            true => Some(value),
            false if depth > 0 && is_pure(value) => choice_before(call, value, depth - 1),
            false => None,
        }
    })
}

/// Computes `call`, and what leads to it from the choice, for both arms. Returns the two calls.
///
/// # Safety
///
/// The call is live, in a block with a terminator, and the builder is of its context.
unsafe fn take_out(builder: LLVMBuilderRef, call: Value, choice: Value) -> Option<[Value; 2]> {
    // SAFETY: by this function's promise; what a choice is made of dominates the call.
    unsafe {
        let select = if choice.is(Op::LLVMSelect) { choice } else { as_select(builder, choice)? };
        LLVMPositionBuilderBefore(builder, call.0);
        let both = [1, 2].map(|arm| {
            let mut copies = HashMap::from([(select, select.operand(arm))]);
            copied(builder, call, &mut copies, DEEPEST + 1)
        });
        let merged = LLVMBuildSelect(builder, select.operand(0).0, both[0].0, both[1].0, c"".as_ptr());
        LLVMReplaceAllUsesWith(call.0, merged);
        call.erase();
        Some(both)
    }
}

/// A copy of a value in which others are replaced; the value itself where none is among its operands.
///
/// # Safety
///
/// As for [`take_out`].
unsafe fn copied(builder: LLVMBuilderRef, value: Value, copies: &mut HashMap<Value, Value>, depth: usize) -> Value {
    if let Some(known) = copies.get(&value) {
        return *known;
    }
    if depth == 0 || !value.is_instruction() || !is_number(value) || !is_pure(value) {
        return value;
    }
    // SAFETY: by this function's promise; a copy stands where the value is used.
    unsafe {
        let operands: Vec<Value> = value.operands();
        let new: Vec<Value> = operands.iter().map(|operand| copied(builder, *operand, copies, depth - 1)).collect();
        let copy = if new == operands {
            value
        } else {
            let copy = Value(LLVMInstructionClone(value.0));
            for (number, operand) in (0u32..).zip(&new) {
                LLVMSetOperand(copy.0, number, operand.0);
            }
            LLVMInsertIntoBuilder(builder, copy.0);
            copy
        };
        copies.insert(value, copy);
        copy
    }
}
