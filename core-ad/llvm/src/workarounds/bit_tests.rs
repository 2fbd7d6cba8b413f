//! Lets comparisons of the bits of numbers be what they are: inactive.
//!
//! ```text
//! if (std::signbit(a) != std::signbit(b)) ..      ; LLVM: (bits(a) ^ bits(b)) < 0
//! ```
//!
//! Enzyme follows the bits of a number through integer arithmetic and refuses what it cannot be ("Illegal updateBinop Analysis"). Where all that
//! comes of them is compared, or is the exponent and the sign, it is piecewise constant. There the bits are taken by a function that is inactive.
//! Bits that become a number again, or are stored, are left as they are, but for one: the first guess of an iteration.
//!
//! ```text
//! i = 0x5fe6eb50c7b537a9 - (i >> 1);              ; of 1 / sqrt(x), for Newton's method; `i / 3 + ..` for the cube root
//! ```
//!
//! Bits of the exponent move into the fraction, so the number is no formula of the one before. What an iteration makes of it does not depend on it once it
//! has converged, so it is a constant; where it has not, the check against differences says so.

use crate::ir::markers::bits_marker;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMIntegerTypeKind, LLVMX86_FP80TypeKind};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Replaces the casts.
pub fn run(module: &Module<'_>) {
    for cast in
        ir::all_instructions(module).into_iter().filter(|i| takes_bits(*i) && (is_only_tested(*i) || is_guess(*i)))
    {
        let Some(function) = bits_marker(module, cast.operand(0).ty()) else { continue };
        let function = function.as_value_ref();
        // SAFETY: a live cast of the module, and a function of it with this parameter.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            LLVMPositionBuilderBefore(builder, cast.0);
            let ty = LLVMGlobalGetValueType(function);
            let bits = LLVMBuildCall2(builder, ty, function, &mut cast.operand(0).0, 1, c"".as_ptr());
            LLVMDisposeBuilder(builder);
            LLVMReplaceAllUsesWith(cast.0, bits);
        }
        cast.erase();
    }
}

/// Whether it is a cast of a number to an integer.
fn takes_bits(i: Value) -> bool {
    // SAFETY: a live type.
    i.is(Op::LLVMBitCast) && fraction(i).is_some() && unsafe { LLVMGetTypeKind(i.ty()) } == LLVMIntegerTypeKind
}

/// How many bits the fraction has of a number that is cast.
fn fraction(cast: Value) -> Option<i64> {
    match cast.operand(0).kind() {
        LLVMFloatTypeKind => Some(23),
        LLVMDoubleTypeKind => Some(52),
        LLVMX86_FP80TypeKind => Some(64),
        _ => None,
    }
}

/// Whether all that comes of the bits is a guess: they are shifted to the right, by less than the fraction has, then added to or divided, and then they are a number.
fn is_guess(cast: Value) -> bool {
    const MOST: usize = 16;
    let Some(fraction) = fraction(cast) else { return false };
    let is_shifted = |user: &Value| {
        matches!(user.op(), Some(Op::LLVMLShr | Op::LLVMAShr))
            && user.operand(0) == cast
            && user.operand(1).constant().is_some_and(|by| (1..fraction).contains(&by))
    };
    let mut open = cast.users();
    if !open.iter().all(is_shifted) {
        return false;
    }
    let (mut seen, mut is_computed, mut is_number) = (HashSet::new(), false, false);
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        for user in value.users() {
            match user.op() {
                Some(Op::LLVMBitCast) if user.is_float() => is_number = true,
                Some(Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul | Op::LLVMUDiv | Op::LLVMSDiv) => {
                    is_computed = true;
                    open.push(user);
                }
                Some(Op::LLVMShl | Op::LLVMLShr | Op::LLVMAShr | Op::LLVMTrunc | Op::LLVMZExt | Op::LLVMSExt) => {
                    open.push(user)
                }
                _ => return false,
            }
        }
        if seen.len() > MOST {
            return false;
        }
    }
    is_computed && is_number
}

/// Whether all that is computed from the bits ends in comparisons, or in the exponent and the sign.
fn is_only_tested(cast: Value) -> bool {
    const MOST: usize = 64;
    let Some(fraction) = fraction(cast) else { return false };
    let (mut seen, mut open) = (HashSet::new(), vec![cast]);
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if seen.len() > MOST {
            return false;
        }
        for user in value.users() {
            let shifted = || user.operand(0) == value && user.operand(1).constant().is_some_and(|by| by >= fraction);
            match user.op() {
                Some(Op::LLVMICmp | Op::LLVMSwitch) => {}
                Some(Op::LLVMLShr | Op::LLVMAShr) if value == cast && shifted() => {}
                Some(
                    Op::LLVMXor
                    | Op::LLVMAnd
                    | Op::LLVMOr
                    | Op::LLVMAdd
                    | Op::LLVMSub
                    | Op::LLVMShl
                    | Op::LLVMLShr
                    | Op::LLVMAShr
                    | Op::LLVMTrunc
                    | Op::LLVMZExt
                    | Op::LLVMSExt
                    | Op::LLVMSelect
                    | Op::LLVMPHI
                    | Op::LLVMFreeze,
                ) => open.push(user),
                _ => return false,
            }
        }
    }
    true
}
