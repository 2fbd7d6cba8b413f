//! Replaces `tanh` by a form whose second derivatives do not overflow.
//!
//! Enzyme computes tanh' as 1 / cosh², and its derivative as a quotient of cosh² and (cosh²)². These overflow, from about
//! |x| = 22 in single and 177 in double precision: the second derivative is then 0, or NaN for a large tangent. So
//! where second derivatives are wanted, tanh is composed of terms that stay between -2 and 2, as do their derivatives:
//!
//! ```text
//! tanh(x) = -sign(x) m / (2 + m)   with   m = expm1(-2 |x|)
//! ```

use inkwell::FloatPredicate;
use inkwell::attributes::AttributeLoc;
use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::values::{CallSiteValue, FloatValue, FunctionValue, InstructionOpcode, InstructionValue};

/// Replaces every call of `tanh`.
///
/// # Errors
///
/// Errors of LLVM's builder.
pub fn run(module: &Module<'_>) -> Result<(), String> {
    for block in module.get_functions().flat_map(|f| f.get_basic_blocks()) {
        let calls: Vec<_> = block.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::Call).collect();
        for call in calls {
            if let Some(expm1) = of_same_type(module, call) {
                replace(module, call, expm1).map_err(|e| e.to_string())?;
            }
        }
    }
    Ok(())
}

/// `expm1` of the instruction's type, where it calls `tanh`.
fn of_same_type<'ctx>(module: &Module<'ctx>, call: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    let callee = CallSiteValue::try_from(call).ok()?.get_called_fn_value()?;
    // By name first: other intrinsics have operands that are no values.
    let name = match callee.get_name().to_bytes() {
        b"tanh" | b"llvm.tanh.f64" => "expm1",
        b"tanhf" | b"llvm.tanh.f32" => "expm1f",
        _ => return None,
    };
    if callee.count_basic_blocks() > 0 || !call.get_operand(0)?.value()?.is_float_value() {
        return None;
    }
    let ty = callee.get_type();
    let expm1 = module.get_function(name).unwrap_or_else(|| {
        let new = module.add_function(name, ty, None);
        // `memory(none)` and the like, as on `tanh`.
        for attribute in callee.attributes(AttributeLoc::Function) {
            new.add_attribute(AttributeLoc::Function, attribute);
        }
        new
    });
    (expm1.count_basic_blocks() == 0 && expm1.get_type() == ty).then_some(expm1)
}

/// Replaces a call by the stable form. For Enzyme the sign is a constant; the form is odd, so no derivative is lost at 0.
fn replace<'ctx>(
    module: &Module<'ctx>,
    call: InstructionValue<'ctx>,
    expm1: FunctionValue<'ctx>,
) -> Result<(), BuilderError> {
    let Some(x) = call.get_operand(0).and_then(|o| o.value()) else { return Ok(()) };
    let x = x.into_float_value();
    let number = |n| x.get_type().const_float(n);
    let builder = module.get_context().create_builder();
    builder.position_before(&call);
    let negative = builder.build_float_compare(FloatPredicate::OLT, x, number(0.0), "negative")?;
    let sign = builder.build_select(negative, number(-1.0), number(1.0), "sign")?.into_float_value();
    let size = builder.build_float_mul(x, sign, "size")?;
    let down = builder.build_float_mul(size, number(-2.0), "down")?;
    // A clone has the call's flags, attributes and debug location.
    let m = call.explicit_clone();
    builder.insert_instruction(&m, None);
    m.set_operand(0, down);
    m.set_operand(1, expm1.as_global_value().as_pointer_value());
    let Ok(m) = FloatValue::try_from(m) else { return Ok(()) };
    let below = builder.build_float_add(m, number(2.0), "below")?;
    let ratio = builder.build_float_div(m, below, "ratio")?;
    let negated = builder.build_float_neg(sign, "negated")?;
    let value = builder.build_float_mul(ratio, negated, "tanh")?;
    if let Some(made) = value.as_instruction() {
        call.replace_all_uses_with(&made);
    }
    call.erase_from_basic_block();
    Ok(())
}
