//! Keeps second derivatives of `tanh` finite where it has long been flat.
//!
//! The engine takes tanh' as 1 / cosh², and its derivative in turn as a quotient of cosh² and (cosh²)². Where cosh² overflows,
//! that is infinity by infinity: from |x| = 44.4 in single and 355 in double precision second derivatives would be NaN. So where
//! second derivatives are wanted the argument is limited to just below: tanh is the same there to the last bit, and its derivatives,
//! below the smallest normal number, become zero. NaN stays NaN.

use inkwell::FloatPredicate;
use inkwell::module::Module;
use inkwell::types::FloatType;
use inkwell::values::{CallSiteValue, InstructionOpcode, InstructionValue};

/// Limits the argument of every call of `tanh`.
///
/// # Errors
///
/// LLVM's own, which an instruction of a whole module does not give.
pub fn limit_tanh(module: &Module<'_>) -> Result<(), String> {
    for block in module.get_functions().flat_map(|f| f.get_basic_blocks()) {
        for call in block.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::Call) {
            if let Some(limit) = limit(call) {
                clamp(module, call, limit).map_err(|e| e.to_string())?;
            }
        }
    }
    Ok(())
}

/// The largest useful argument, where the instruction calls `tanh`.
fn limit(call: InstructionValue<'_>) -> Option<f64> {
    let callee = CallSiteValue::try_from(call).ok()?.get_called_fn_value()?;
    if callee.count_basic_blocks() > 0 {
        return None;
    }
    match callee.get_name().to_bytes() {
        b"tanh" | b"llvm.tanh.f64" => Some(354.0),
        b"tanhf" | b"llvm.tanh.f32" => Some(44.0),
        _ => None,
    }
}

fn clamp(module: &Module<'_>, call: InstructionValue<'_>, limit: f64) -> Result<(), inkwell::builder::BuilderError> {
    let Some(x) = call.get_operand(0).and_then(|o| o.value()).filter(|v| v.is_float_value()) else { return Ok(()) };
    let builder = module.get_context().create_builder();
    builder.position_before(&call);
    let mut x = x.into_float_value();
    let ty: FloatType<'_> = x.get_type();
    for (beyond, edge) in [(FloatPredicate::OGT, limit), (FloatPredicate::OLT, -limit)] {
        let edge = ty.const_float(edge);
        let is_beyond = builder.build_float_compare(beyond, x, edge, "beyond")?;
        x = builder.build_select(is_beyond, edge, x, "limited")?.into_float_value();
    }
    call.set_operand(0, x);
    Ok(())
}
