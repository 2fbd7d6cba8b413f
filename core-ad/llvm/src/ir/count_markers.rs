//! Markers that read and change integers in memory, which Enzyme calls as they are: numbers of elements, of owners, of what threads have done.

use super::Result;
use super::markers::{accessor, body_of, pointer, set_text, without_value};
use inkwell::attributes::AttributeLoc;
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;
use inkwell::{AtomicOrdering, AtomicRMWBinOp};

/// Name of the function that reads the number of elements of a container.
pub const READ_COUNT: &str = "ffgrad.count.read";
/// Name of the function that writes it.
pub const WRITE_COUNT: &str = "ffgrad.count.write";

/// A function that reads an integer in memory, and states no type of it.
pub fn count_reader<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    accessor(module, READ_COUNT, module.get_context().i64_type().fn_type(&[pointer(module)], false), 1)
}

/// A function that writes one.
pub fn count_writer<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let parameters = [pointer(module), module.get_context().i64_type().into()];
    accessor(module, WRITE_COUNT, without_value(module, &parameters), 1)
}

/// What the names of functions begin with that compare and exchange.
const EXCHANGE: &str = "ffgrad.exchange.i";

/// A function `(place, expected, new)` that compares an integer in memory with the expected one, exchanges it where both are equal, and returns what was there.
pub fn exchange<'ctx>(module: &Module<'ctx>, bits: u32) -> FunctionValue<'ctx> {
    let context = module.get_context();
    let integer = if bits == 32 { context.i32_type() } else { context.i64_type() };
    let ty = integer.fn_type(&[pointer(module), integer.into(), integer.into()], false);
    let function = accessor(module, &format!("{EXCHANGE}{}", integer.get_bit_width()), ty, 1);
    set_text(module, function, AttributeLoc::Return, "enzyme_type", "{[-1]:Integer}");
    function
}

/// What the names of functions begin with that add to an integer in memory.
const UPDATE: &str = "ffgrad.update.i";

/// A function `(place, by)` that adds to an integer in memory, and returns what was there.
pub fn update<'ctx>(module: &Module<'ctx>, bits: u32) -> FunctionValue<'ctx> {
    let context = module.get_context();
    let integer = if bits == 32 { context.i32_type() } else { context.i64_type() };
    let ty = integer.fn_type(&[pointer(module), integer.into()], false);
    let function = accessor(module, &format!("{UPDATE}{}", integer.get_bit_width()), ty, 1);
    set_text(module, function, AttributeLoc::Return, "enzyme_type", "{[-1]:Integer}");
    function
}

/// Whether a function is one of [`update`].
pub fn is_update(name: &str) -> bool {
    name.starts_with(UPDATE)
}

/// Gives these functions their bodies.
///
/// # Errors
///
/// None but LLVM's.
pub fn define(module: &Module<'_>) -> Result<()> {
    for name in [READ_COUNT, WRITE_COUNT] {
        if let Some(function) = module.get_function(name).filter(|f| f.count_basic_blocks() == 0) {
            define_count_access(module, function)?;
        }
    }
    let exchanges = |f: &FunctionValue<'_>| f.get_name().to_bytes().starts_with(EXCHANGE.as_bytes());
    for function in module.get_functions().filter(|f| exchanges(f) && f.count_basic_blocks() == 0) {
        define_exchange(module, function)?;
    }
    let updates = |f: &FunctionValue<'_>| f.get_name().to_bytes().starts_with(UPDATE.as_bytes());
    for function in module.get_functions().filter(|f| updates(f) && f.count_basic_blocks() == 0) {
        define_update(module, function)?;
    }
    Ok(())
}

fn define_count_access<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<()> {
    let (context, builder) = (module.get_context(), body_of(module, function));
    let parameters = function.get_params();
    let place = parameters[0].into_pointer_value();
    match parameters.get(1) {
        Some(count) => {
            builder.build_store(place, count.into_int_value()).map_err(|e| e.to_string())?;
            builder.build_return(None).map_err(|e| e.to_string())?;
        }
        None => {
            let count = builder.build_load(context.i64_type(), place, "").map_err(|e| e.to_string())?;
            builder.build_return(Some(&count)).map_err(|e| e.to_string())?;
        }
    }
    function.set_linkage(Linkage::Internal);
    Ok(())
}

fn define_exchange<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<()> {
    let builder = body_of(module, function);
    if let [place, expected, new] = function.get_params()[..] {
        let (place, expected, new) = (place.into_pointer_value(), expected.into_int_value(), new.into_int_value());
        let (with, without) = (AtomicOrdering::AcquireRelease, AtomicOrdering::Monotonic);
        let both = builder.build_cmpxchg(place, expected, new, with, without).map_err(|e| e.to_string())?;
        let found = builder.build_extract_value(both, 0, "").map_err(|e| e.to_string())?;
        builder.build_return(Some(&found)).map_err(|e| e.to_string())?;
    }
    function.set_linkage(Linkage::Internal);
    Ok(())
}

fn define_update<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<()> {
    let builder = body_of(module, function);
    if let [place, by] = function.get_params()[..] {
        let (place, by, order) = (place.into_pointer_value(), by.into_int_value(), AtomicOrdering::AcquireRelease);
        let found = builder.build_atomicrmw(AtomicRMWBinOp::Add, place, by, order).map_err(|e| e.to_string())?;
        builder.build_return(Some(&found)).map_err(|e| e.to_string())?;
    }
    function.set_linkage(Linkage::Internal);
    Ok(())
}
