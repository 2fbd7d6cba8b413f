//! Computes the tangent of a quotient without the square of its denominator, which underflows where the denominator is small.
//!
//! ```text
//! (a' b - b' a) / (b b)     as Enzyme writes it: 0/0 or x/0 for |b| below 1e-162, and overflow above 1e154
//! (a' - b' (a / b)) / b     as it is written here; a' / b where only the numerator has a tangent: Enzyme writes (a' b) / (b b)
//! ```
//!
//! Recurrences that begin with the smallest numbers have such denominators (Miller's algorithm for Bessel functions). The reverse sweep
//! divides twice already. What is computed here is marked as the user's own operations are: reassociated it would be squared again.

use crate::ir::{CONTRACT, Value};
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, BasicValueEnum, FloatValue, InstructionOpcode as Op, InstructionValue};

/// Rewrites every such quotient that Enzyme has added: they lack the mark of the user's operations.
///
/// # Errors
///
/// Errors of LLVM's builder.
pub fn run(module: &Module<'_>) -> Result<(), String> {
    let builder = module.get_context().create_builder();
    for block in module.get_functions().flat_map(|f| f.get_basic_blocks()) {
        let quotients: Vec<_> = block.get_instructions().filter(|i| i.get_opcode() == Op::FDiv).collect();
        for quotient in quotients {
            rewrite(&builder, quotient).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

fn rewrite<'ctx>(builder: &Builder<'ctx>, quotient: InstructionValue<'ctx>) -> Result<(), BuilderError> {
    let (Some(above), Some(below)) = (operand(quotient, 0), operand(quotient, 1)) else { return Ok(()) };
    let (Some(above), Some((b, again))) = (added(above), product(below)) else { return Ok(()) };
    if b != again || is_users(quotient) {
        return Ok(());
    }
    let (plus, minus) = match above.get_opcode() {
        Op::FSub => (operand(above, 0), operand(above, 1)),
        Op::FNeg => (None, operand(above, 0)),
        // The denominator has no tangent.
        Op::FMul => (operand(quotient, 0), None),
        _ => return Ok(()),
    };
    // LLVM has taken the square of a magnitude for that of the number itself.
    let factors = || [plus, minus].into_iter().flatten().filter_map(product).flat_map(|(one, other)| [one, other]);
    let b = factors().find(|factor| is_magnitude(*factor, b)).unwrap_or(b);
    builder.position_before(&quotient);
    let marked = |value: FloatValue<'ctx>| {
        if value.as_instruction().is_some() {
            Value(value.as_value_ref()).set_flags(CONTRACT);
        }
        value
    };
    let by_b = |value| builder.build_float_div(value, b, "").map(marked);
    let drop = match minus.map(|minus| (minus, product(minus))) {
        Some((_, Some((tangent, a)))) => Some(marked(builder.build_float_mul(by_b(a)?, tangent, "")?)),
        Some((minus, None)) => Some(by_b(minus)?),
        None => None,
    };
    let rise = match plus.filter(|value| !is_zero(*value)).map(|plus| (plus, product(plus))) {
        Some((_, Some((tangent, factor)))) if factor == b => Some(tangent),
        Some((_, Some((factor, tangent)))) if factor == b => Some(tangent),
        Some((plus, _)) => Some(by_b(plus)?),
        None => None,
    };
    let change = match (rise, drop) {
        (Some(rise), Some(drop)) => marked(builder.build_float_sub(rise, drop, "")?),
        (None, Some(drop)) => marked(builder.build_float_neg(drop, "")?),
        (Some(rise), None) => rise,
        (None, None) => return Ok(()),
    };
    if let Some(made) = by_b(change)?.as_instruction() {
        quotient.replace_all_uses_with(&made);
        quotient.erase_from_basic_block();
    }
    Ok(())
}

fn operand<'ctx>(instruction: InstructionValue<'ctx>, i: u32) -> Option<FloatValue<'ctx>> {
    match instruction.get_operand(i)?.value()? {
        BasicValueEnum::FloatValue(value) => Some(value),
        _ => None,
    }
}

/// The factors of a product that Enzyme has added.
fn product<'ctx>(value: FloatValue<'ctx>) -> Option<(FloatValue<'ctx>, FloatValue<'ctx>)> {
    let product = added(value).filter(|i| i.get_opcode() == Op::FMul)?;
    Some((operand(product, 0)?, operand(product, 1)?))
}

/// An instruction that Enzyme has added.
fn added<'ctx>(value: FloatValue<'ctx>) -> Option<InstructionValue<'ctx>> {
    value.as_instruction().filter(|i| !is_users(*i))
}

fn is_users(instruction: InstructionValue<'_>) -> bool {
    Value(instruction.as_value_ref()).flags().is_none_or(|flags| flags & CONTRACT != 0)
}

/// Whether a value is the magnitude of a number.
fn is_magnitude(value: FloatValue<'_>, number: FloatValue<'_>) -> bool {
    let value = Value(value.as_value_ref());
    value.callee().is_some_and(|name| name.starts_with("llvm.fabs."))
        && value.operand(0) == Value(number.as_value_ref())
}

fn is_zero(value: FloatValue<'_>) -> bool {
    value.get_constant().is_some_and(|(number, _)| number == 0.0)
}
