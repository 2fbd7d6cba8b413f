//! Adds type markers to stack slots, for the pipeline variant that gives Enzyme element types.
//!
//! Enzyme's type analysis infers what a stack slot holds from its uses; from a slot that is only copied or cleared it deduces
//! nothing. The front end knew: it allocated an array of `double`.

use crate::ir::markers::type_marker;
use core_ad::DType;
use inkwell::module::Module;
use inkwell::types::{AnyTypeEnum, BasicTypeEnum};
use inkwell::values::{InstructionOpcode, InstructionValue};

/// Adds a type marker after every stack slot whose elements are all of one floating-point type.
pub fn run(module: &Module<'_>) {
    let builder = module.get_context().create_builder();
    let slots: Vec<(InstructionValue<'_>, DType)> = module
        .get_functions()
        .flat_map(|f| f.get_basic_blocks())
        .flat_map(|b| b.get_instructions())
        .filter(|i| i.get_opcode() == InstructionOpcode::Alloca)
        .filter_map(|i| {
            let allocated = i.get_allocated_type().ok()?;
            Some((i, uniform_float(allocated)?))
        })
        .collect();
    for (slot, dtype) in slots {
        let Some(next) = slot.get_next_instruction() else { continue };
        builder.position_before(&next);
        if let AnyTypeEnum::PointerType(_) = slot.get_type() {
            let pointer = inkwell::values::PointerValue::try_from(slot);
            if let Ok(pointer) = pointer {
                // A marker that cannot be built leaves the module as it was.
                let _ = builder.build_call(type_marker(module, dtype), &[pointer.into()], "");
            }
        }
    }
}

/// The floating-point type that a type consists of throughout, if there is one.
pub fn uniform_float(ty: BasicTypeEnum<'_>) -> Option<DType> {
    match ty {
        BasicTypeEnum::FloatType(f) => match f.get_bit_width() {
            32 => Some(DType::F32),
            64 => Some(DType::F64),
            _ => None,
        },
        BasicTypeEnum::ArrayType(a) => uniform_float(a.get_element_type()),
        BasicTypeEnum::StructType(s) => {
            let mut fields = s.get_field_types_iter().map(uniform_float);
            let first = fields.next()??;
            fields.all(|f| f == Some(first)).then_some(first)
        }
        _ => None,
    }
}
