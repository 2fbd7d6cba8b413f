//! Makes phis that hold the previous iteration's value (first-order recurrences) opaque to Enzyme, in nested loops.
//!
//! ```text
//! for (i) for (j) { c = e;  e = sin(x[j]); }   ... c ...
//! ```
//!
//! To have such a value again behind the loops, where the reverse sweep needs it, Enzyme recomputes the value of the
//! second-to-last inner iteration, but with an undefined outer induction variable (`tests/cases/enzyme_bugs/lagged_phi.c`). It does so where
//! the value does not depend on itself and so could be recomputed. So each such phi is passed through an opaque identity function,
//! which Enzyme does not recompute.

use super::copy_types;
use crate::analysis::cfg::{LoopNest, NaturalLoop};
use crate::ir::identity::{self, identity_fn};
use crate::ir::{self, Value};
use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Replaces such phis by calls of the identity function.
///
/// # Errors
///
/// Errors of LLVM's builder.
pub fn run(module: &Module<'_>) -> Result<(), String> {
    for function in ir::functions(module) {
        for number in find_affected(function) {
            replace(module, number).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// After Enzyme: allows inlining of the identity functions and their derivatives.
pub fn undo(module: &Module<'_>) {
    identity::release(module);
}

/// Loop-carried phis of inner loops whose next value does not depend on themselves.
fn find_affected(function: FunctionValue<'_>) -> Vec<Value> {
    let Some(nest) = LoopNest::of(function) else { return Vec::new() };
    let is_inner = |l: &&NaturalLoop| nest.loops.iter().any(|around| around.is_around(l));
    let of = |l: &NaturalLoop| nest.carried(l).filter(|phi| !depends_on_itself(&nest, l, *phi)).collect::<Vec<_>>();
    nest.loops.iter().filter(is_inner).flat_map(of).collect()
}

/// Whether the next value of a phi depends on the phi.
fn depends_on_itself(nest: &LoopNest, inside: &NaturalLoop, phi: Value) -> bool {
    let (mut waiting, mut seen) = (nest.next_values(phi, inside), HashSet::new());
    while let Some(value) = waiting.pop() {
        if value == phi {
            return true;
        }
        if value.is_instruction() && nest.is_in(value, inside) && seen.insert(value) {
            waiting.extend(value.operands().into_iter().filter(|o| o.is_instruction()));
        }
    }
    false
}

/// Replaces the uses of a phi by a call of the identity function.
pub fn replace(module: &Module<'_>, number: Value) -> Result<(), BuilderError> {
    let same = identity_fn(module, number)?.as_value_ref();
    let element = number.is_pointer().then(|| copy_types::element(&[number])).flatten();
    // SAFETY: a live phi of the module, and a function of its type; the call after the phis dominates every other use in the loop.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, number.parent().first_after_phis().0);
        let call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(same), same, &mut { number.0 }, 1, c"".as_ptr());
        LLVMReplaceAllUsesWith(number.0, call);
        LLVMSetOperand(call, 0, number.0);
        LLVMDisposeBuilder(builder);
        // From an offset of unknown length Enzyme deduces little about the type behind the base.
        if let Some(dtype) = element {
            [number, Value(call)]
                .into_iter()
                .for_each(|p| copy_types::mark_before(module, p, dtype, Value(call).next()));
        }
    }
    Ok(())
}
