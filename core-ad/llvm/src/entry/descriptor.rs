//! Fortran array descriptors, built in the wrapper for assumed-shape arguments.
//!
//! An assumed-shape argument is passed as the address of a descriptor: the address of the elements, then their type and the
//! bounds of each dimension (`ISO_Fortran_binding.h` of flang 22). The wrapper allocates one on its stack for each such
//! argument. Inlined, it disappears; where it stays, Enzyme builds a shadow descriptor that points to the shadow elements.

use crate::ir::Result;
use core_ad::fortran::open_symbol;
use core_ad::{CallPlan, DType};
use inkwell::AddressSpace;
use inkwell::builder::Builder;
use inkwell::types::{BasicTypeEnum, StructType};
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue};

/// `CFI_VERSION` of flang 22.
const VERSION: u64 = 20240719;

/// The descriptor of `plan.args[position]`, filled in from the wrapper's parameters.
pub fn descriptor<'ctx>(
    builder: &Builder<'ctx>,
    wrapper: FunctionValue<'ctx>,
    plan: &CallPlan,
    position: usize,
) -> Result<BasicValueEnum<'ctx>> {
    let text = |e: inkwell::builder::BuilderError| e.to_string();
    let arg = &plan.args[position];
    let rank = arg.shape.len() as u32;
    let data = wrapper.get_nth_param(position as u32).ok_or("wrapper parameter")?;
    let ty = struct_type(wrapper, rank);
    let place = builder.build_alloca(ty, &arg.name).map_err(text)?;
    let context = ty.get_context();
    let (wide, byte) = (context.i64_type(), context.i8_type());
    let size = wide.const_int(arg.dtype.size() as u64, false);
    let fixed: [(u32, BasicValueEnum<'ctx>); 7] = [
        (0, data),
        (1, size.into()),
        (2, context.i32_type().const_int(VERSION, false).into()),
        (3, byte.const_int(u64::from(rank), false).into()),
        (4, byte.const_int(type_code(arg.dtype), false).into()),
        (5, byte.const_zero().into()),
        (6, byte.const_zero().into()),
    ];
    for (field, value) in fixed {
        let at = builder.build_struct_gep(ty, place, field, "").map_err(text)?;
        builder.build_store(at, value).map_err(text)?;
    }
    let mut stride = size;
    for dimension in 0..rank {
        let extent = extent(wrapper, plan, &open_symbol(&arg.name, dimension as usize + 1))?;
        let bounds = [wide.const_int(1, false), extent, stride];
        for (field, value) in bounds.into_iter().enumerate() {
            let path = [0, 7, dimension, field as u32].map(|i| context.i32_type().const_int(u64::from(i), false));
            // SAFETY: the path names a field of the descriptor's own type.
            let at = unsafe { builder.build_in_bounds_gep(ty, place, &path, "") }.map_err(text)?;
            builder.build_store(at, value).map_err(text)?;
        }
        stride = builder.build_int_mul(stride, extent, "").map_err(text)?;
    }
    Ok(place.into())
}

/// `{ address, element size, version, rank, type, attribute, extra, [rank x { lower bound, extent, stride in bytes }] }`
fn struct_type(wrapper: FunctionValue<'_>, rank: u32) -> StructType<'_> {
    let context = wrapper.get_type().get_context();
    let (wide, byte) = (context.i64_type(), context.i8_type());
    let pointer = context.ptr_type(AddressSpace::default());
    let bounds = wide.array_type(3).array_type(rank);
    let fields: [BasicTypeEnum<'_>; 8] = [
        pointer.into(),
        wide.into(),
        context.i32_type().into(),
        byte.into(),
        byte.into(),
        byte.into(),
        byte.into(),
        bounds.into(),
    ];
    context.struct_type(&fields, false)
}

/// The wrapper's parameter that holds an extent.
fn extent<'ctx>(wrapper: FunctionValue<'ctx>, plan: &CallPlan, name: &str) -> Result<IntValue<'ctx>> {
    let position = plan.args.iter().rposition(|a| a.name == name && a.is_by_value());
    let value = position.and_then(|p| wrapper.get_nth_param(p as u32)).ok_or_else(|| format!("no extent `{name}`"))?;
    Ok(value.into_int_value())
}

/// The runtime's code of an element type.
fn type_code(dtype: DType) -> u64 {
    match dtype {
        DType::Bool => 39,
        DType::I8 | DType::U8 => 7,
        DType::I16 | DType::U16 => 8,
        DType::I32 | DType::U32 => 9,
        DType::I64 | DType::U64 => 10,
        DType::F32 => 27,
        DType::F64 => 28,
    }
}
