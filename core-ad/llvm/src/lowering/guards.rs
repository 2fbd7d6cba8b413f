//! Gives roots, quotients and logarithms that are not chosen an argument at which they are finite, in the pipeline `guarded`.
//!
//! ```text
//! %root = call double @llvm.sqrt.f64(double %x)                 %c = call i1 @ffgrad.hidden.i1(i1 %inside)
//! %y = select i1 %inside, double %root, double %b      becomes  %safe = select i1 %c, double %x, double 0.5    ; hidden, too
//!                                                               %root = call double @llvm.sqrt.f64(double %safe)
//! ```
//!
//! The value is the same. But the reverse pass multiplies the adjoint of what is not chosen, which is 0, by a derivative that is infinite or none
//! (`0 / (2 sqrt(-1))`), and the sum with what was chosen is a NaN. A phi chooses too, where its edge leaves the block in which the value is computed
//! on a condition, and so do `fmax` and `fmin`. A value that nothing uses in the end, in memory or of a function that is not inlined, shows no choice: Enzyme multiplies
//! with an adjoint of zero by a comparison (`enzyme_strong_zero`). LLVM would take the second choice out of the root again if it knew that the condition is that of the first, or what is safe.

use crate::analysis::cfg;
use crate::entry::requests::{self, STRONG_ZERO};
use crate::ir::markers::{hide, load_opaque_zero};
use crate::ir::{self, Block, Op, Value};
use crate::lowering::{clamped_arguments, zero_norms, zero_powers};
use core_ad::protocol::Pipeline;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMRealPredicate::{self, LLVMRealOGE, LLVMRealOLE, LLVMRealUNO};
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use std::cell::RefCell;
use std::collections::HashMap;

/// An expression with more operations than this is left as it is.
const LARGEST: usize = 64;

/// Functions of one argument, or of a basis and an exponent, that are not finite everywhere, or have such a derivative; LLVM's `llvm.NAME.f64` too.
const RISKY: [&str; 16] = [
    "sqrt", "log", "log2", "log10", "log1p", "pow", "powi", "asin", "acos", "acosh", "atanh", "cbrt", "tgamma",
    "lgamma", "exp", "exp2",
];

/// Where all of [`RISKY`] but this one are finite, and their derivatives: 0.5. Of this one: 2.
const ABOVE_ONE: &str = "acosh";

/// Branches that are followed up from a choice.
const NESTED: usize = 4;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// From so many instructions on a module is guarded in the first pipeline, and by comparisons with zero alone: guards are further copies of what leads to a choice.
const LARGE: usize = 4000;

/// Whether the first pipeline guards as well. A large function with powers of which the exponent varies is a solver that chooses its step or its
/// order by them: a second build costs far more than the guards.
pub fn comes_first(module: &Module<'_>, pipeline: Pipeline) -> bool {
    if pipeline != Pipeline::Inlined {
        return false;
    }
    let all = ir::all_instructions(module);
    all.len() >= LARGE && all.into_iter().any(zero_powers::has_varying_exponent)
}

/// Guards every choice between numbers, and has Enzyme leave out what a derivative of zero is multiplied with.
///
/// Lengths of zero in first order only: a Hessian there need not be zero, and no path would tell.
pub fn run(module: &Module<'_>, second_order: bool) {
    // In forward mode a tangent that nothing uses does no harm.
    let reverse = requests::all(module).into_iter().filter(|call| !requests::is_forward(*call));
    reverse.for_each(|call| requests::add(module, call, STRONG_ZERO));
    let is_large = ir::all_instructions(module).len() >= LARGE;
    for function in ir::functions(module) {
        if !second_order {
            zero_norms::run(module, function);
        }
        if is_large {
            zero_powers::run(module, function);
            continue;
        }
        let headers = cfg::headers(&ir::blocks(function));
        clamped_arguments::run(module, function);
        // SAFETY: live instructions of the module; what is replaced is erased behind its last use.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            let guard = Guard { module, function, builder, zeros: RefCell::default() };
            for i in ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter(|i| is_number(*i)) {
                match i.op() {
                    Some(Op::LLVMSelect) => guard.select(i),
                    Some(Op::LLVMPHI) if !headers.contains(&i.parent()) => guard.phi(i),
                    Some(Op::LLVMCall) => guard.extremum(i),
                    _ => {}
                }
            }
            LLVMDisposeBuilder(builder);
        }
        zero_powers::run(module, function);
    }
}

pub(super) fn is_number(i: Value) -> bool {
    // SAFETY: a live type.
    matches!(unsafe { LLVMGetTypeKind(i.ty()) }, LLVMDoubleTypeKind | LLVMFloatTypeKind)
}

/// What an operation must be given to be finite, by the number of its operand, where it is not finite everywhere.
pub(super) fn safe_argument(i: Value) -> Option<(u32, f64)> {
    if i.is(Op::LLVMFDiv) {
        return (!i.operand(1).is_number()).then_some((1, 0.5));
    }
    let callee = i.callee()?;
    let name = callee.strip_prefix("llvm.").map_or(callee.as_str(), |rest| rest.split('.').next().unwrap_or(rest));
    // The C library's functions for `float`.
    let name = RISKY.iter().find(|known| name == **known || name.strip_suffix('f') == Some(**known))?;
    Some((0, if *name == ABOVE_ONE { 2.0 } else { 0.5 }))
}

/// Whether an instruction may be computed once more: it reads and writes no memory.
pub(super) fn is_pure(i: Value) -> bool {
    match i.op() {
        Some(
            Op::LLVMFAdd
            | Op::LLVMFSub
            | Op::LLVMFMul
            | Op::LLVMFDiv
            | Op::LLVMFNeg
            | Op::LLVMFPExt
            | Op::LLVMFPTrunc
            | Op::LLVMSelect,
        ) => true,
        Some(Op::LLVMCall) => safe_argument(i).is_some() || i.only_computes(),
        _ => false,
    }
}

/// The operations that lead to a number, operands first; none where no one of them is risky, or there are too many.
fn expression(of: Value) -> Vec<Value> {
    fn add(value: Value, all: &mut Vec<Value>) -> bool {
        if !value.is_instruction() || !is_number(value) || !is_pure(value) || all.contains(&value) {
            return true;
        }
        let fits = all.len() < LARGEST && value.operands().into_iter().all(|operand| add(operand, all));
        all.push(value);
        fits
    }
    let mut all = Vec::new();
    let fits = add(of, &mut all);
    if fits && all.iter().any(|i| safe_argument(*i).is_some()) { all } else { Vec::new() }
}

/// How `fmax` and `fmin` choose.
fn extremum_predicate(call: Value) -> Option<LLVMRealPredicate> {
    match call.callee()?.rsplit_once('.')?.0 {
        "llvm.maxnum" => Some(LLVMRealOGE),
        "llvm.minnum" => Some(LLVMRealOLE),
        _ => None,
    }
}

/// Whether a call is the larger or the smaller of two numbers.
pub(super) fn is_extremum(i: Value) -> bool {
    i.is(Op::LLVMCall) && extremum_predicate(i).is_some()
}

/// Makes a select of an extremum: the other one where one is not a number.
///
/// # Safety
///
/// The call is live, in a block with a terminator, and the builder is of its context.
pub(super) unsafe fn as_select(builder: LLVMBuilderRef, call: Value) -> Option<Value> {
    let (predicate, a, b) = (extremum_predicate(call)?, call.operand(0), call.operand(1));
    // SAFETY: by this function's promise; the call is erased after its uses are replaced.
    unsafe {
        LLVMPositionBuilderBefore(builder, call.0);
        let larger = LLVMBuildFCmp(builder, predicate, a.0, b.0, NONE);
        let alone = LLVMBuildFCmp(builder, LLVMRealUNO, b.0, b.0, NONE);
        let first = LLVMBuildOr(builder, larger, alone, NONE);
        let select = Value(LLVMBuildSelect(builder, first, a.0, b.0, NONE));
        LLVMReplaceAllUsesWith(call.0, select.0);
        call.erase();
        select.is_instruction().then_some(select)
    }
}

/// The conditions on which a path leaves `from` for `to`, and has come there: of its own branch, and of those before that lead to it alone.
fn conditions(from: Block, to: Block) -> Vec<(Value, bool)> {
    let (mut all, mut block, mut next) = (Vec::new(), from, to);
    while all.len() < NESTED {
        let end = block.terminator();
        match block.successors().as_slice() {
            [_] => {}
            [first, other] if end.is(Op::LLVMBr) && first != other => all.push((end.operand(0), *first == next)),
            _ => break,
        }
        let [before] = block.predecessors()[..] else { break };
        (block, next) = (before, block);
    }
    all
}

/// A builder in a function, and zeros that LLVM does not know, by their type.
struct Guard<'m, 'ctx> {
    module: &'m Module<'ctx>,
    function: FunctionValue<'ctx>,
    builder: LLVMBuilderRef,
    zeros: RefCell<HashMap<LLVMTypeRef, LLVMValueRef>>,
}

/// SAFETY of the methods: the instruction is live, in a block with a terminator, and the builder is of its context.
impl Guard<'_, '_> {
    /// A choice by a condition.
    unsafe fn select(&self, select: Value) {
        let condition = select.operand(0);
        for (operand, chosen_by) in [(1, true), (2, false)] {
            let all = expression(select.operand(operand));
            if !all.is_empty() {
                // SAFETY: by the rule of this type; what leads to an operand dominates its user.
                unsafe {
                    LLVMPositionBuilderBefore(self.builder, select.0);
                    let copy = self.guarded(&all, &[(condition, chosen_by)]);
                    LLVMSetOperand(select.0, operand, copy);
                }
            }
        }
    }

    /// A choice by the edges into a block: what leads to a value is computed again on its edge. Enzyme makes a select of a phi with few operations.
    unsafe fn phi(&self, phi: Value) {
        let incoming = phi.incoming();
        for (number, (value, from)) in (0u32..).zip(incoming.iter().copied()).filter(|_| incoming.len() > 1) {
            let (all, end) = (expression(value), from.terminator());
            if all.is_empty() || !end.is(Op::LLVMBr) {
                continue;
            }
            let conditions = conditions(from, phi.parent());
            // A block that is left on one edge is itself the edge, unless the value is computed there.
            if conditions.is_empty() && (value.stands_in(from) || from.successors().len() > 1) {
                continue;
            }
            // SAFETY: by the rule of this type; a value that comes in dominates the end of the block it comes from, and so do the
            // conditions of branches that lead there alone.
            unsafe {
                LLVMPositionBuilderBefore(self.builder, end.0);
                let copy = self.guarded(&all, &conditions);
                LLVMSetOperand(phi.0, number, copy);
            }
        }
    }

    /// `fmax(a, b)` and `fmin(a, b)`, where one of both may not be finite.
    unsafe fn extremum(&self, call: Value) {
        if !is_extremum(call) || [0, 1].iter().all(|i| expression(call.operand(*i)).is_empty()) {
            return;
        }
        // SAFETY: by the rule of this type.
        unsafe {
            if let Some(select) = as_select(self.builder, call) {
                self.select(select);
            }
        }
    }

    /// A condition, which LLVM does not know any more.
    unsafe fn hidden(&self, condition: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: by the rule of this type.
        unsafe { hide(self.module, self.builder, condition) }.unwrap_or(condition)
    }

    fn zero(&self, ty: LLVMTypeRef) -> LLVMValueRef {
        *self.zeros.borrow_mut().entry(ty).or_insert_with(|| load_opaque_zero(self.module, self.function, ty, 0))
    }

    /// Whether all conditions have these values, hidden from LLVM; `None` where there are none.
    unsafe fn chosen(&self, conditions: &[(Value, bool)]) -> Option<LLVMValueRef> {
        let one = |(condition, chosen_by): &(Value, bool)| {
            // SAFETY: by the caller's promise the conditions dominate the builder's place.
            unsafe {
                let hidden = self.hidden(condition.0);
                if *chosen_by { hidden } else { LLVMBuildNot(self.builder, hidden, NONE) }
            }
        };
        // SAFETY: as above.
        conditions.iter().map(one).reduce(|one, other| unsafe { LLVMBuildAnd(self.builder, one, other, NONE) })
    }

    /// Computes an expression again where the builder stands, its risky arguments replaced where the conditions do not have these values.
    unsafe fn guarded(&self, all: &[Value], conditions: &[(Value, bool)]) -> LLVMValueRef {
        // SAFETY: by the caller's promise all operands dominate the builder's place.
        unsafe {
            let chosen = self.chosen(conditions);
            let mut copies: HashMap<Value, LLVMValueRef> = HashMap::new();
            let mut last = std::ptr::null_mut();
            for i in all {
                let copy = LLVMInstructionClone(i.0);
                for (number, operand) in (0u32..).zip(i.operands()) {
                    if let Some(known) = copies.get(&operand) {
                        LLVMSetOperand(copy, number, *known);
                    }
                }
                if let (Some((number, safe)), Some(chosen)) = (safe_argument(*i), chosen) {
                    let given = LLVMGetOperand(copy, number);
                    let ty = LLVMTypeOf(given);
                    let safe = LLVMBuildFAdd(self.builder, self.zero(ty), LLVMConstReal(ty, safe), NONE);
                    LLVMSetOperand(copy, number, LLVMBuildSelect(self.builder, chosen, given, safe, NONE));
                }
                LLVMInsertIntoBuilder(self.builder, copy);
                copies.insert(*i, copy);
                last = copy;
            }
            last
        }
    }
}
