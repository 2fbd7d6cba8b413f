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
use crate::ir::markers::{edge_marker, opaque_zero};
use crate::ir::{self, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::BuilderError;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Prefix of the names of the identity functions.
const IDENTITY: &str = "ffgrad.same.";

/// First number of the markers and opaque zeros created here.
const MARKER_BASE: u64 = 1 << 27;

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
    ir::allow_inlining(module, IDENTITY);
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

/// An opaque identity function: it subtracts an opaque zero from its argument, and calls a marker, because Enzyme recomputes
/// calls that access no memory.
fn identity_fn<'ctx>(module: &Module<'ctx>, like: Value) -> Result<FunctionValue<'ctx>, BuilderError> {
    let context = module.get_context();
    // SAFETY: the type of a live value of the module.
    let ty = unsafe { BasicTypeEnum::new(like.ty()) };
    let place = match ty {
        BasicTypeEnum::FloatType(_) => u64::from(like.is_double()),
        BasicTypeEnum::PointerType(_) => 2,
        BasicTypeEnum::IntType(ty) => 2 + u64::from(ty.get_bit_width()),
        _ => return Err(BuilderError::ExtractOutOfRange),
    };
    let name = format!("{IDENTITY}{place}");
    if let Some(function) = module.get_function(&name) {
        return Ok(function);
    }
    let function = module.add_function(&name, ty.fn_type(&[ty.into()], false), Some(Linkage::Internal));
    for flag in ["noinline", "nounwind", "willreturn", "nofree", "nosync"] {
        let kind = Attribute::get_named_enum_kind_id(flag);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    if let BasicTypeEnum::IntType(_) = ty {
        // Else Enzyme looks for the shadow of an integer that comes of an address.
        function.add_attribute(AttributeLoc::Function, context.create_string_attribute("enzyme_inactive", ""));
    }
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let number = context.i32_type().const_int(MARKER_BASE + place, false);
    builder.build_call(edge_marker(module), &[number.into()], "")?;
    let zero_at = opaque_zero(module, MARKER_BASE + place).as_pointer_value();
    let given = function.get_first_param().ok_or(BuilderError::ExtractOutOfRange)?;
    let returned: BasicValueEnum<'ctx> = match given {
        BasicValueEnum::FloatValue(given) => {
            let zero = builder.build_load(ty, zero_at, "")?.into_float_value();
            builder.build_float_sub(given, zero, "")?.into()
        }
        BasicValueEnum::IntValue(given) => {
            let zero = builder.build_load(ty, zero_at, "")?.into_int_value();
            builder.build_int_sub(given, zero, "")?.into()
        }
        BasicValueEnum::PointerValue(given) => {
            let zero = builder.build_load(context.i64_type(), zero_at, "")?.into_int_value();
            // SAFETY: no bytes on.
            unsafe { builder.build_gep(context.i8_type(), given, &[zero], "")? }.into()
        }
        other => other,
    };
    builder.build_return(Some(&returned))?;
    Ok(function)
}
