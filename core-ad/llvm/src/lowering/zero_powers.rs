//! Powers of zero and of negative numbers with an exponent that has a derivative, in the pipeline `guarded`.
//!
//! ```text
//! %p = call double @pow(double %x, double %n)      becomes   %zero = (%x == 0) and (%n > 0) or (%x < 0)           ; hidden from LLVM twice
//!                                                            %a = call double @pow(double (%zero ? %x : 0.5), double hidden(%n))
//!                                                            %b = call double @pow(double (%zero ? 0.5 : %x), double %n)
//!                                                            %p = select i1 %zero, double %a, double %b
//! ```
//!
//! The derivative by the exponent is `log(x) * pow(x, n)`: for `x = 0` Enzyme multiplies an infinite number by 0, where the limit is 0. A dose or a time of zero
//! in a power law is no rare argument. `hidden` is inactive, so `%a` has the derivative by `%x` alone.
//!
//! A power of a negative number has no derivative by the exponent. Where that is a constant that is kept in memory (the node of a parsed formula, the order of a
//! reaction) none is asked for, and what Enzyme computes is not finite. Where a derivative is asked for, the check finds that differences are not finite, so
//! calls with such a number are a path of their own ([`of_negative`]).

use crate::ir::markers::{hide, is_hidden, load_opaque_zero};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMRealPredicate::{LLVMRealOEQ, LLVMRealOGT, LLVMRealOLT};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;

/// The power with two floating-point arguments.
const POWERS: [&str; 4] = ["pow", "powf", "llvm.pow.f64", "llvm.pow.f32"];

/// Where a power is finite, and its derivatives.
const SAFE: f64 = 0.5;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Rewrites the powers of one function.
pub fn run(module: &Module<'_>, function: FunctionValue<'_>) {
    let powers: Vec<Value> =
        ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(|i| has_varying_exponent(*i)).collect();
    // SAFETY: live calls of the module, in blocks with terminators; each is erased behind its last use.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for power in powers {
            split(module, function, builder, power);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Whether it is a power whose exponent may have a derivative.
pub fn has_varying_exponent(i: Value) -> bool {
    i.callee().is_some_and(|name| POWERS.contains(&name.as_str())) && may_vary(i.operand(1))
}

/// The powers of a function that are taken where the number is zero or negative: those whose exponent is hidden.
pub fn of_negative(function: FunctionValue<'_>) -> Vec<Value> {
    let all = ir::blocks(function).into_iter().flat_map(|b| b.instructions());
    all.filter(|i| has_varying_exponent(*i) && i.operand(1).callee().is_some_and(|name| is_hidden(&name))).collect()
}

/// Whether a module has such powers.
pub fn any(module: &Module<'_>) -> bool {
    ir::functions(module).into_iter().any(|function| !of_negative(function).is_empty())
}

/// Whether an exponent may have a derivative: it is neither a constant nor an integer.
fn may_vary(exponent: Value) -> bool {
    let is_integer = [Op::LLVMSIToFP, Op::LLVMUIToFP].into_iter().any(|op| exponent.is(op));
    (exponent.is_instruction() || ir::is_argument(exponent)) && !is_integer
}

/// Makes two powers of one.
///
/// # Safety
///
/// The call is live, in a block with a terminator, and the builder is of its context.
unsafe fn split(module: &Module<'_>, function: FunctionValue<'_>, builder: LLVMBuilderRef, power: Value) {
    let (base, exponent, ty) = (power.operand(0).0, power.operand(1).0, power.ty());
    // SAFETY: by this function's promise; the operands dominate the call.
    unsafe {
        let safe = load_opaque_zero(module, function, ty, 0);
        LLVMPositionBuilderBefore(builder, power.0);
        let nothing = LLVMConstReal(ty, 0.0);
        let is_zero = LLVMBuildFCmp(builder, LLVMRealOEQ, base, nothing, NONE);
        let is_positive = LLVMBuildFCmp(builder, LLVMRealOGT, exponent, nothing, NONE);
        let is_limit = LLVMBuildAnd(builder, is_zero, is_positive, NONE);
        let is_negative = LLVMBuildFCmp(builder, LLVMRealOLT, base, nothing, NONE);
        let both = LLVMBuildOr(builder, is_limit, is_negative, NONE);
        let (Some(chosen), Some(constant)) = (hide(module, builder, both), hide(module, builder, exponent)) else {
            return;
        };
        let safe = LLVMBuildFAdd(builder, safe, LLVMConstReal(ty, SAFE), NONE);
        let at_zero = LLVMBuildSelect(builder, chosen, base, safe, NONE);
        let elsewhere = LLVMBuildSelect(builder, chosen, safe, base, NONE);
        let copies = [(at_zero, constant), (elsewhere, exponent)].map(|(base, exponent)| {
            let copy = LLVMInstructionClone(power.0);
            LLVMSetOperand(copy, 0, base);
            LLVMSetOperand(copy, 1, exponent);
            LLVMInsertIntoBuilder(builder, copy);
            copy
        });
        let result = LLVMBuildSelect(builder, both, copies[0], copies[1], NONE);
        LLVMReplaceAllUsesWith(power.0, result);
        power.erase();
    }
}
