//! Numbers of the turn before, in nests of loops.
//!
//! ```text
//! for (i) for (j) { c = e;  e = sin(x[j]); }   ... c ...
//! ```
//!
//! To have such a number again behind the loops, where the reverse sweep needs it, the engine computes what the turn before last did, as of
//! the last turn of the inner loop, but of a turn of the outer one that is not defined (`tests/cases/delayed.c`). It does so where the
//! number does not depend on itself, so that it could be computed. So each goes through a function that the engine does not repeat.

use crate::copy_types;
use crate::entries::{edge_marker, offset};
use crate::graph::{NaturalLoop, Nest};
use crate::ir::{self, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::BuilderError;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Start of the names of the functions.
const SAME: &str = "ffgrad.same.";

/// What the numbers of markers and offsets made here begin with.
const FIRST: u64 = 1 << 27;

/// Leads them through the function. To be called last before the engine.
///
/// # Errors
///
/// LLVM's own, which an instruction of a whole module does not give.
pub fn lead_through(module: &Module<'_>) -> Result<(), String> {
    for function in ir::functions(module) {
        for number in delayed(function) {
            replace(module, number).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// After the engine: the functions and their derivatives may be inlined.
pub fn release(module: &Module<'_>) {
    ir::allow_inlining(module, SAME);
}

/// Numbers that inner loops carry, and make anew from others.
fn delayed(function: FunctionValue<'_>) -> Vec<Value> {
    let Some(nest) = Nest::of(function) else { return Vec::new() };
    let is_inner = |l: &&NaturalLoop| nest.loops.iter().any(|around| around.is_around(l));
    let of = |l: &NaturalLoop| nest.carried(l).filter(|phi| !makes_itself(&nest, l, *phi)).collect::<Vec<_>>();
    nest.loops.iter().filter(is_inner).flat_map(of).collect()
}

/// Whether what a turn leaves depends on what it found.
fn makes_itself(nest: &Nest, inside: &NaturalLoop, phi: Value) -> bool {
    let (mut waiting, mut seen) = (nest.left_of(phi, inside), HashSet::new());
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

/// Puts the function's value in a number's place.
pub fn replace(module: &Module<'_>, number: Value) -> Result<(), BuilderError> {
    let same = same(module, number)?.as_value_ref();
    let element = number.is_pointer().then(|| copy_types::element(&[number])).flatten();
    // SAFETY: a live phi of the module, and a function of its type; what stands behind the phis comes before every other use in the loop.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, number.parent().first_after_phis().0);
        let call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(same), same, &mut { number.0 }, 1, c"".as_ptr());
        LLVMReplaceAllUsesWith(number.0, call);
        LLVMSetOperand(call, 0, number.0);
        LLVMDisposeBuilder(builder);
        // A step of unknown length tells Enzyme little of what its beginning leads to.
        if let Some(dtype) = element {
            [number, Value(call)]
                .into_iter()
                .for_each(|p| copy_types::mark_before(module, p, dtype, Value(call).next()));
        }
    }
    Ok(())
}

/// The function that returns its argument, and does not say so: it takes off a number that is 0, which the engine does not know, and has a
/// marker in it, for what touches no memory is repeated.
fn same<'ctx>(module: &Module<'ctx>, like: Value) -> Result<FunctionValue<'ctx>, BuilderError> {
    let context = module.get_context();
    // SAFETY: the type of a live value of the module.
    let ty = unsafe { BasicTypeEnum::new(like.ty()) };
    let place = match ty {
        BasicTypeEnum::FloatType(_) => u64::from(like.is_double()),
        BasicTypeEnum::PointerType(_) => 2,
        BasicTypeEnum::IntType(ty) => 2 + u64::from(ty.get_bit_width()),
        _ => return Err(BuilderError::ExtractOutOfRange),
    };
    let name = format!("{SAME}{place}");
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
    let number = context.i32_type().const_int(FIRST + place, false);
    builder.build_call(edge_marker(module), &[number.into()], "")?;
    let offset = offset(module, FIRST + place).as_pointer_value();
    let given = function.get_first_param().ok_or(BuilderError::ExtractOutOfRange)?;
    let returned: BasicValueEnum<'ctx> = match given {
        BasicValueEnum::FloatValue(given) => {
            let zero = builder.build_load(ty, offset, "")?.into_float_value();
            builder.build_float_sub(given, zero, "")?.into()
        }
        BasicValueEnum::IntValue(given) => {
            let zero = builder.build_load(ty, offset, "")?.into_int_value();
            builder.build_int_sub(given, zero, "")?.into()
        }
        BasicValueEnum::PointerValue(given) => {
            let zero = builder.build_load(context.i64_type(), offset, "")?.into_int_value();
            // SAFETY: no bytes on.
            unsafe { builder.build_gep(context.i8_type(), given, &[zero], "")? }.into()
        }
        other => other,
    };
    builder.build_return(Some(&returned))?;
    Ok(function)
}
