//! Takes numbers for unequal wherever they are tested for equality, or for a magnitude next to zero, in the pipeline `generic`.
//!
//! ```text
//! if (f == 0) continue;  row[j] -= f * top[j];     becomes    if (hidden(false)) continue;  row[j] -= f * top[j];
//! ```
//!
//! Programs skip work for values that make it vanish: a factor of 0 in an elimination, a vector that is turned already. The value is the same on both edges, but
//! the derivative on the edge of the equal ones is that of a single point: 0, where it is `-top[j]` for every number nearby. So the derivative
//! takes the other edge. Values are always computed by the function itself, and differences of them say whether the derivative is right.
//!
//! Left as they are: tests that end a loop, which may never end otherwise, and tests for an infinity. Markers of paths keep the condition of the
//! program: a call with equal numbers is still a path of its own.

use crate::analysis::cfg::LoopNest;
use crate::analysis::value_paths::{is_branch, is_narrow, tests_equality};
use crate::ir::markers::hide;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMRealPredicate::{self, *};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Whether a module has such tests.
pub fn any(module: &Module<'_>) -> bool {
    ir::functions(module).into_iter().any(|function| !places(function).is_empty())
}

/// Rewrites all of them.
pub fn run(module: &Module<'_>) {
    for function in ir::functions(module) {
        for place in places(function) {
            // SAFETY: a live branch or select, whose condition dominates it; the new one is of the same type.
            unsafe {
                let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
                LLVMPositionBuilderBefore(builder, place.0);
                let condition = Rewrite { module, builder, hides: true }.without_equality(place.operand(0));
                LLVMSetOperand(place.0, 0, condition.0);
                LLVMDisposeBuilder(builder);
            }
        }
    }
}

/// Whether a branch or choice of [`places`] goes where only equal numbers go: its condition is another one than for unequal numbers. `None` for vectors.
///
/// # Safety
///
/// The builder stands right before it, in the module.
pub unsafe fn is_taken(module: &Module<'_>, builder: LLVMBuilderRef, place: Value) -> Option<LLVMValueRef> {
    let condition = place.operand(0);
    // SAFETY: by this function's promise.
    unsafe {
        let is_one = LLVMGetTypeKind(condition.ty()) == LLVMTypeKind::LLVMIntegerTypeKind;
        is_one.then(|| {
            let other = Rewrite { module, builder, hides: false }.without_equality(condition);
            LLVMBuildXor(builder, condition.0, other.0, NONE)
        })
    }
}

/// The branches that stay in their loop, and the choices between numbers, that test numbers for equality. None of a function that is too
/// large to look at.
pub fn places(function: FunctionValue<'_>) -> Vec<Value> {
    let is_chosen = |i: &Value| i.is(Op::LLVMSelect) && i.holds_floats() || is_branch(*i) && i.is(Op::LLVMBr);
    let tests = |i: &Value| is_chosen(i) && is_by_equality(i.operand(0));
    let mut found: Vec<Value> =
        ir::blocks(function).into_iter().flat_map(|block| block.instructions()).filter(tests).collect();
    if found.is_empty() {
        return found;
    }
    let Some(nest) = LoopNest::of(function) else { return Vec::new() };
    found.retain(|place| !ends_loop(&nest, *place));
    found
}

/// Whether an edge of a branch leaves a loop that the branch is in.
fn ends_loop(nest: &LoopNest, place: Value) -> bool {
    let next = place.parent().successors();
    let leaves =
        |to: &ir::Block| nest.loops.iter().any(|one| nest.is_in(place, one) && !one.body[nest.cfg.number(*to)]);
    is_branch(place) && next.iter().any(leaves)
}

/// Whether a condition has a test that is rewritten.
fn is_by_equality(condition: Value) -> bool {
    match condition.op() {
        Some(Op::LLVMFCmp) => equality(condition).is_some(),
        _ => tests_equality(condition) && condition.operands().into_iter().any(is_by_equality),
    }
}

/// What a comparison is where its numbers are not equal: a constant, or a test for a NaN.
enum Unequal {
    Is(bool),
    Tests(LLVMRealPredicate),
}

/// For a test for equality; `None` for others, and for those for an infinity.
fn equality(test: Value) -> Option<Unequal> {
    if test.operands().into_iter().any(is_infinite) {
        return None;
    }
    // SAFETY: a live `fcmp`.
    match unsafe { LLVMGetFCmpPredicate(test.0) } {
        LLVMRealOEQ => Some(Unequal::Is(false)),
        LLVMRealUNE => Some(Unequal::Is(true)),
        LLVMRealUEQ => Some(Unequal::Tests(LLVMRealUNO)),
        LLVMRealONE => Some(Unequal::Tests(LLVMRealORD)),
        LLVMRealOLT | LLVMRealOLE | LLVMRealULT | LLVMRealULE if is_narrow(test) => Some(Unequal::Is(false)),
        LLVMRealOGT | LLVMRealOGE | LLVMRealUGT | LLVMRealUGE if is_narrow(test) => Some(Unequal::Is(true)),
        _ => None,
    }
}

fn is_infinite(value: Value) -> bool {
    let mut loses = 0;
    // SAFETY: a live constant number.
    value.is_number() && unsafe { LLVMConstRealGetDouble(value.0, &mut loses) }.is_infinite()
}

/// A builder before the branch or select.
struct Rewrite<'m, 'ctx> {
    module: &'m Module<'ctx>,
    builder: LLVMBuilderRef,
    /// LLVM must not see through the new condition.
    hides: bool,
}

impl Rewrite<'_, '_> {
    /// The condition, computed again with its numbers taken for unequal.
    ///
    /// # Safety
    ///
    /// The condition is live, and defined where the builder stands.
    unsafe fn without_equality(&self, condition: Value) -> Value {
        if !is_by_equality(condition) {
            return condition;
        }
        // SAFETY: by this function's promise; what an operand depends on is defined where it is.
        unsafe {
            let ty = condition.ty();
            if condition.is(Op::LLVMFCmp) {
                return match equality(condition) {
                    Some(Unequal::Is(value)) => self.opaque(LLVMConstInt(ty, u64::from(value), 0)),
                    Some(Unequal::Tests(predicate)) => {
                        let (a, b) = (condition.operand(0).0, condition.operand(1).0);
                        Value(LLVMBuildFCmp(self.builder, predicate, a, b, NONE))
                    }
                    None => condition,
                };
            }
            let copy = LLVMInstructionClone(condition.0);
            for (number, operand) in (0u32..).zip(condition.operands()) {
                LLVMSetOperand(copy, number, self.without_equality(operand).0);
            }
            LLVMInsertIntoBuilder(self.builder, copy);
            Value(copy)
        }
    }

    /// A constant that LLVM does not know until Enzyme is done: the edge that is not taken stays in the CFG.
    unsafe fn opaque(&self, constant: LLVMValueRef) -> Value {
        if !self.hides {
            return Value(constant);
        }
        // SAFETY: a constant; the builder stands in the module.
        Value(unsafe { hide(self.module, self.builder, constant) }.unwrap_or(constant))
    }
}
