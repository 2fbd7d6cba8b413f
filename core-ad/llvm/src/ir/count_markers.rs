//! Markers that read and change integers in memory, which Enzyme calls as they are: numbers of elements, of owners, of what threads have done.

use super::Result;
use super::markers::{accessor, body_of, pointer, set_text, without_value};
use inkwell::attributes::AttributeLoc;
use inkwell::module::{Linkage, Module};
use inkwell::types::IntType;
use inkwell::values::FunctionValue;
use inkwell::{AtomicOrdering, AtomicRMWBinOp};

/// What the names of functions begin with that read an integer in memory, such as the number of elements of a container.
const READ_COUNT: &str = "ffgrad.count.read";
/// What the names of functions begin with that write one.
const WRITE_COUNT: &str = "ffgrad.count.write";

/// A function that reads an integer in memory, and states no type of it.
pub fn count_reader<'ctx>(module: &Module<'ctx>, bits: u32) -> FunctionValue<'ctx> {
    let ty = integer(module, bits).fn_type(&[pointer(module)], false);
    accessor(module, &of_width(READ_COUNT, bits), ty, 1)
}

/// A function that writes one.
pub fn count_writer<'ctx>(module: &Module<'ctx>, bits: u32) -> FunctionValue<'ctx> {
    let parameters = [pointer(module), integer(module, bits).into()];
    accessor(module, &of_width(WRITE_COUNT, bits), without_value(module, &parameters), 1)
}

fn of_width(name: &str, bits: u32) -> String {
    if bits == 64 { name.to_owned() } else { format!("{name}.i{bits}") }
}

fn integer<'ctx>(module: &Module<'ctx>, bits: u32) -> IntType<'ctx> {
    let context = module.get_context();
    match bits {
        8 => context.i8_type(),
        16 => context.i16_type(),
        32 => context.i32_type(),
        _ => context.i64_type(),
    }
}

/// Whether a function is one of [`count_reader`] or [`count_writer`].
pub fn is_access(name: &str) -> bool {
    [READ_COUNT, WRITE_COUNT].iter().any(|start| name.starts_with(start))
}

/// What the names of functions begin with that compare and exchange.
const EXCHANGE: &str = "ffgrad.exchange.i";

/// A function `(place, expected, new)` that compares an integer in memory with the expected one, exchanges it where both are equal, and returns what was there.
pub fn exchange<'ctx>(module: &Module<'ctx>, bits: u32) -> FunctionValue<'ctx> {
    let integer = integer(module, bits);
    let ty = integer.fn_type(&[pointer(module), integer.into(), integer.into()], false);
    let function = accessor(module, &format!("{EXCHANGE}{}", integer.get_bit_width()), ty, 1);
    set_text(module, function, AttributeLoc::Return, "enzyme_type", "{[-1]:Integer}");
    function
}

/// What the names of functions begin with that add to an integer in memory.
const UPDATE: &str = "ffgrad.update.i";

/// A function `(place, by)` that adds to an integer in memory, and returns what was there.
pub fn update<'ctx>(module: &Module<'ctx>, bits: u32) -> FunctionValue<'ctx> {
    let integer = integer(module, bits);
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
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        let name = function.get_name().to_string_lossy().into_owned();
        if is_access(&name) {
            define_access(module, function)?;
        } else if name.starts_with(EXCHANGE) {
            define_exchange(module, function)?;
        } else if is_update(&name) {
            define_update(module, function)?;
        }
    }
    Ok(())
}

fn define_access<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<()> {
    let builder = body_of(module, function);
    let parameters = function.get_params();
    let place = parameters[0].into_pointer_value();
    match parameters.get(1) {
        Some(count) => {
            builder.build_store(place, count.into_int_value()).map_err(|e| e.to_string())?;
            builder.build_return(None).map_err(|e| e.to_string())?;
        }
        None => {
            let ty = function.get_type().get_return_type().ok_or("a reader returns an integer")?;
            let count = builder.build_load(ty, place, "").map_err(|e| e.to_string())?;
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
