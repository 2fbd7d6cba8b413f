//! Identity functions that Enzyme does not see through: it keeps what they return for the reverse sweep instead of computing it again.
//!
//! Workarounds pass values through them (passes `lagged-phi`, `exit-values`), and what is worth keeping
//! goes through them, too (pass `keep-results`). Analyses that ask where a value comes from or goes to look through them.

use super::markers::{edge_marker, opaque_zero};
use super::{Value, allow_inlining};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::BuilderError;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicValueEnum, FunctionValue};

/// Prefix of the names of the identity functions.
const IDENTITY: &str = "ffgrad.same.";

/// First number of the markers and opaque zeros created here.
const MARKER_BASE: u64 = 1 << 27;

/// Whether a function of this name, as [`Value::callee`] returns it, returns what it is given.
pub fn is_identity(name: &str) -> bool {
    name.starts_with(IDENTITY)
}

/// What an identity function is given, where the value is what it returns; else the value itself.
pub fn look_through(value: Value) -> Value {
    let mut given = value;
    while given.callee().is_some_and(|name| is_identity(&name)) {
        given = given.operand(0);
    }
    given
}

/// After Enzyme: allows inlining of the identity functions and their derivatives.
pub fn release(module: &Module<'_>) {
    allow_inlining(module, IDENTITY);
}

/// An identity function for values like this one: it subtracts an opaque zero from its argument, and calls a marker, because Enzyme recomputes
/// calls that access no memory.
///
/// # Errors
///
/// For other values than floating-point numbers, integers and pointers; errors of LLVM's builder.
pub fn identity_fn<'ctx>(module: &Module<'ctx>, like: Value) -> Result<FunctionValue<'ctx>, BuilderError> {
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
