//! The wrapper around the foreign function: every differentiable argument is a pointer, aliasing facts on parameters.

use super::descriptor::descriptor;
use crate::analysis::barriers::has_barriers;
use crate::ir::Result;
pub use crate::ir::markers::WRAPPER;
use crate::ir::markers::{GIVEN, clobber, type_marker};
use core_ad::{Arg, CallPlan, DType, Passing, Role};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::context::ContextRef;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue};
use inkwell::{AddressSpace, IntPredicate};

pub(super) fn element<'ctx>(context: ContextRef<'ctx>, dtype: DType) -> BasicTypeEnum<'ctx> {
    match dtype {
        DType::F32 => context.f32_type().into(),
        DType::F64 => context.f64_type().into(),
        DType::Bool | DType::I8 | DType::U8 => context.i8_type().into(),
        DType::I16 | DType::U16 => context.i16_type().into(),
        DType::I32 | DType::U32 => context.i32_type().into(),
        DType::I64 | DType::U64 => context.i64_type().into(),
    }
}

/// Adds the wrapper around `symbol`; `marked` adds markers for Enzyme, and returns which arguments are never read.
pub fn wrapper<'ctx>(
    module: &Module<'ctx>,
    symbol: &str,
    plan: &CallPlan,
    marked: Option<&[usize]>,
    constants: &[(usize, i64)],
) -> Result<FunctionValue<'ctx>> {
    let context = module.get_context();
    let callee = module.get_function(symbol).ok_or_else(|| format!("no function `{symbol}`"))?;
    let pointer = context.ptr_type(AddressSpace::default());
    let types: Vec<BasicMetadataTypeEnum<'ctx>> = plan
        .args
        .iter()
        .map(|a| if a.is_by_value() { element(context, a.dtype).into() } else { pointer.into() })
        .collect();
    let function = module.add_function(WRAPPER, context.void_type().fn_type(&types, false), Some(Linkage::Internal));
    state_aliasing(context, function, plan, has_barriers(module));
    mark_given_integers(context, function, plan);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    if marked.is_some() {
        mark_types(module, &builder, function, plan)?;
    }
    call_foreign(&builder, callee, function, plan)?;
    if let Some(write_only) = marked {
        clobber_written(module, &builder, function, plan, write_only)?;
    }
    builder.build_return(None).map_err(|e| e.to_string())?;
    inline_into_wrapper(context, callee);
    fix(function, constants);
    Ok(function)
}

/// Framework buffers never overlap where one of them is written: the hub allocates outputs, scratch
/// and shadows itself, and inputs are only read. That they are (`readonly`) LLVM infers by itself, or not:
/// a function that casts `const` away must not become undefined behaviour here.
///
/// Between the barriers of a CUDA kernel other threads write to what this one writes to, through pointers of their own:
/// there only what is never written is without alias.
fn state_aliasing(context: ContextRef<'_>, function: FunctionValue<'_>, plan: &CallPlan, barriers: bool) {
    let flag = |name| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
    for (i, arg) in plan.args.iter().enumerate().filter(|(_, a)| !a.is_by_value()) {
        let at = AttributeLoc::Param(i as u32);
        if !barriers || arg.role == Role::Input {
            function.add_attribute(at, flag("noalias"));
        }
        function.add_attribute(at, flag("nonnull"));
        function.add_attribute(at, flag("noundef"));
    }
}

/// Marks the integers that are data: they may decide a path, as sizes do, which are checked by themselves.
fn mark_given_integers(context: ContextRef<'_>, function: FunctionValue<'_>, plan: &CallPlan) {
    let is_given = |a: &Arg| matches!(a.role, Role::Input | Role::InOut) && !a.dtype.is_float();
    for (i, _) in plan.args.iter().enumerate().filter(|(_, a)| is_given(a)) {
        function.add_attribute(AttributeLoc::Param(i as u32), context.create_string_attribute(GIVEN, ""));
    }
}

/// Gives Enzyme the element type of each floating-point pointer: code that only copies memory gives
/// its type analysis nothing to go by.
fn mark_types<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    function: FunctionValue<'ctx>,
    plan: &CallPlan,
) -> Result<()> {
    for (i, arg) in plan.args.iter().enumerate().filter(|(_, a)| a.dtype.is_float()) {
        let pointer = function.get_nth_param(i as u32).ok_or("wrapper parameter")?;
        let marker = type_marker(module, arg.dtype);
        builder.build_call(marker, &[pointer.into()], "").map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Ends the wrapper with a call that could overwrite every argument that the function writes and reads.
///
/// Enzyme caches a loaded value for the reverse sweep only if it sees the memory overwritten later, and
/// it misses that for a buffer that the next iteration of a time loop overwrites (Enzyme's own test
/// `overwrite_outer_loop`). With this call it caches them all. The call itself does nothing: its
/// body is added, empty, once Enzyme is done.
fn clobber_written<'ctx>(
    module: &Module<'ctx>,
    builder: &Builder<'ctx>,
    function: FunctionValue<'ctx>,
    plan: &CallPlan,
    write_only: &[usize],
) -> Result<()> {
    let overwritten = |(i, a): &(usize, &Arg)| match a.role {
        Role::InOut => a.dtype.is_float(),
        Role::Output => a.dtype.is_float() && !write_only.contains(i),
        _ => false,
    };
    for (i, _) in plan.args.iter().enumerate().filter(overwritten) {
        let pointer = function.get_nth_param(i as u32).ok_or("wrapper parameter")?;
        builder.build_call(clobber(module), &[pointer.into()], "").map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Puts constants in the place of sizes that are the same in every call.
fn fix(function: FunctionValue<'_>, constants: &[(usize, i64)]) {
    for &(argument, value) in constants {
        if let Some(BasicValueEnum::IntValue(size)) = function.get_nth_param(argument as u32) {
            size.replace_all_uses_with(size.get_type().const_int(value as u64, true));
        }
    }
}

fn call_foreign<'ctx>(
    builder: &Builder<'ctx>,
    callee: FunctionValue<'ctx>,
    wrapper: FunctionValue<'ctx>,
    plan: &CallPlan,
) -> Result<()> {
    let expected = callee.get_type().get_param_types();
    let mut values: Vec<BasicMetadataValueEnum<'ctx>> = Vec::new();
    let parameters = plan.args.iter().enumerate().filter(|(_, a)| a.role != Role::Return);
    // Behind the parameters of the foreign function stand the extents of descriptors.
    for (i, arg) in parameters.take(expected.len()) {
        let given = wrapper.get_nth_param(i as u32).ok_or("wrapper parameter")?;
        let want = expected[values.len()];
        let value = match arg.passing {
            Passing::Descriptor => descriptor(builder, wrapper, plan, i)?,
            _ => argument(builder, arg, given, want)?,
        };
        values.push(value.into());
    }
    if values.len() < expected.len() {
        return Err("the foreign function takes more arguments".to_owned());
    }
    let call = builder.build_call(callee, &values, "").map_err(|e| e.to_string())?;
    call.set_call_convention(callee.get_call_conventions());
    extend_small_integers(callee, call, values.len());
    store_value(builder, wrapper, plan, call)
}

/// The value the foreign function wants for one argument of the wrapper.
fn argument<'ctx>(
    builder: &Builder<'ctx>,
    arg: &Arg,
    given: BasicValueEnum<'ctx>,
    want: BasicMetadataTypeEnum<'ctx>,
) -> Result<BasicValueEnum<'ctx>> {
    let text = |e: inkwell::builder::BuilderError| e.to_string();
    match (arg.passing, want) {
        (Passing::Pointer, _) if arg.is_by_value() => {
            let place = builder.build_alloca(given.get_type(), &arg.name).map_err(text)?;
            builder.build_store(place, given).map_err(text)?;
            Ok(place.into())
        }
        (Passing::Pointer | Passing::Descriptor, _) => Ok(given),
        (Passing::Absent, BasicMetadataTypeEnum::PointerType(ty)) => Ok(ty.const_null().into()),
        (Passing::Absent, other) => Err(format!("parameter `{}` is passed as {other}", arg.name)),
        (Passing::Value, BasicMetadataTypeEnum::FloatType(ty)) => {
            builder.build_load(ty, given.into_pointer_value(), &arg.name).map_err(text)
        }
        (Passing::Value, BasicMetadataTypeEnum::IntType(ty)) if ty.get_bit_width() == 1 => {
            let byte = given.into_int_value();
            let zero = byte.get_type().const_zero();
            Ok(builder.build_int_compare(IntPredicate::NE, byte, zero, &arg.name).map_err(text)?.into())
        }
        (Passing::Value, BasicMetadataTypeEnum::IntType(_)) => Ok(given),
        (Passing::Value, other) => Err(format!("parameter `{}` is passed as {other}", arg.name)),
    }
}

/// A call needs the callee's extension attributes for small integers.
fn extend_small_integers<'ctx>(callee: FunctionValue<'ctx>, call: CallSiteValue<'ctx>, count: usize) {
    for name in ["signext", "zeroext"] {
        let kind = Attribute::get_named_enum_kind_id(name);
        for i in 0..count as u32 {
            if let Some(attribute) = callee.get_enum_attribute(AttributeLoc::Param(i), kind) {
                call.add_attribute(AttributeLoc::Param(i), attribute);
            }
        }
    }
}

fn store_value<'ctx>(
    builder: &Builder<'ctx>,
    wrapper: FunctionValue<'ctx>,
    plan: &CallPlan,
    call: CallSiteValue<'ctx>,
) -> Result<()> {
    let Some(position) = plan.args.iter().position(|a| a.role == Role::Return) else { return Ok(()) };
    let value = call.try_as_basic_value().basic().ok_or("the foreign function returns no value")?;
    let slot = wrapper.get_nth_param(position as u32).ok_or("wrapper parameter")?;
    let value = match value {
        BasicValueEnum::IntValue(v) if v.get_type().get_bit_width() == 1 => {
            let byte = v.get_type().get_context().i8_type();
            builder.build_int_z_extend(v, byte, "").map_err(|e| e.to_string())?.into()
        }
        other => other,
    };
    builder.build_store(slot.into_pointer_value(), value).map_err(|e| e.to_string())?;
    Ok(())
}

/// The aliasing facts stand on the wrapper; inlined there, the function's body profits from them.
fn inline_into_wrapper(context: ContextRef<'_>, callee: FunctionValue<'_>) {
    for name in ["noinline", "optnone"] {
        callee.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    }
    let kind = Attribute::get_named_enum_kind_id("alwaysinline");
    callee.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
}
