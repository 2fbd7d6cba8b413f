//! Marker functions and globals for Enzyme: memory types, clobbers, captures, CFG edges, opaque zeros.
//!
//! All are declared before Enzyme runs and defined afterwards ([`define_markers`]), empty or 0, so that the optimiser removes
//! them.

use super::{Result, count_markers};
use core_ad::DType;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::types::{AsTypeRef, BasicMetadataTypeEnum, FunctionType};
use inkwell::values::{AsValueRef, BasicValueEnum, FunctionValue, GlobalValue};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

/// How the names of functions begin that destroy an object at the end of a call. Their first argument is the object.
pub const END_OF_CALL: &std::ffi::CStr = c"ffgrad.end";

/// Name of the wrapper around the user's function.
pub const WRAPPER: &str = "ffgrad.wrap";

/// Prefix of the names of functions of one iteration of a checkpointed loop: memory that they free they alone hold.
pub const STEP: &str = "ffgrad.step.";

/// Name of the reverse mode as a function of its own.
pub const GRADIENT: &str = "ffgrad.gradient";

/// Attribute of its parameters whose memory the caller does not read after the call.
pub const PRIVATE: &str = "ffgrad.private";

/// Attribute of the wrapper's parameters that are, or point to, integers that the caller gives as data: no sizes.
pub const GIVEN: &str = "ffgrad.given";

/// Enzyme's `__enzyme_float` or `__enzyme_double`: states the element type of the memory at a pointer,
/// and is removed by Enzyme. It is declared to access no memory of the program, so that it blocks no optimisation.
pub fn type_marker<'ctx>(module: &Module<'ctx>, dtype: DType) -> FunctionValue<'ctx> {
    type_statement(module, if dtype == DType::F32 { "__enzyme_float" } else { "__enzyme_double" })
}

/// Enzyme's `__enzyme_integer`, which does the same for integers of any size.
pub fn integer_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    type_statement(module, INTEGER)
}

/// Enzyme's `__enzyme_pointer`, for memory with addresses in it.
pub fn pointer_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    type_statement(module, POINTER)
}

fn type_statement<'ctx>(module: &Module<'ctx>, name: &str) -> FunctionValue<'ctx> {
    let ty = without_value(module, &[pointer(module)]);
    declare(module, name, ty, INACCESSIBLE_MEMORY, &["nofree", "nounwind", "willreturn"])
}

const INTEGER: &str = "__enzyme_integer";
const POINTER: &str = "__enzyme_pointer";

/// Whether a function only states the type of memory.
pub fn is_type_marker(name: &str) -> bool {
    ["__enzyme_float", "__enzyme_double", INTEGER, POINTER].iter().any(|marker| name.starts_with(marker))
}

pub(super) fn pointer<'ctx>(module: &Module<'ctx>) -> BasicMetadataTypeEnum<'ctx> {
    module.get_context().ptr_type(AddressSpace::default()).into()
}

/// LLVM's encodings of what memory a function reads and writes, two bits per location, argument memory first.
const NO_MEMORY: u64 = 0;
const ARGUMENT_MEMORY: u64 = 0b11;
/// Of a function that reads what it is given, and is kept, because it may write elsewhere.
pub const READ_ARGUMENT_MEMORY: u64 = INACCESSIBLE_MEMORY | 0b01;
/// Of functions that only change what no program reads.
pub(super) const INACCESSIBLE_MEMORY: u64 = 0b1100;

/// Of a function that returns and does nothing else to control flow.
const HARMLESS: [&str; 4] = ["nounwind", "willreturn", "nofree", "nosync"];

/// The function of a name, declared where the module has none yet.
fn declare<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    ty: FunctionType<'ctx>,
    memory: u64,
    flags: &[&str],
) -> FunctionValue<'ctx> {
    if let Some(function) = module.get_function(name) {
        return function;
    }
    let function = module.add_function(name, ty, None);
    set_flag(module, function, AttributeLoc::Function, "memory", memory);
    for name in flags {
        set_flag(module, function, AttributeLoc::Function, name, 0);
    }
    function
}

/// The same, of a harmless function that is inactive for Enzyme.
pub(super) fn declare_inactive<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    ty: FunctionType<'ctx>,
    memory: u64,
) -> FunctionValue<'ctx> {
    let function = declare(module, name, ty, memory, &HARMLESS);
    set_inactive(module, function);
    function
}

pub(super) fn without_value<'ctx>(
    module: &Module<'ctx>,
    parameters: &[BasicMetadataTypeEnum<'ctx>],
) -> FunctionType<'ctx> {
    module.get_context().void_type().fn_type(parameters, false)
}

pub(super) fn set_flag(module: &Module<'_>, function: FunctionValue<'_>, place: AttributeLoc, name: &str, value: u64) {
    let kind = Attribute::get_named_enum_kind_id(name);
    function.add_attribute(place, module.get_context().create_enum_attribute(kind, value));
}

pub(super) fn set_text(module: &Module<'_>, function: FunctionValue<'_>, place: AttributeLoc, name: &str, value: &str) {
    function.add_attribute(place, module.get_context().create_string_attribute(name, value));
}

/// Name of the function that may overwrite the memory at its argument.
pub const CLOBBER: &str = "ffgrad.clobber";

/// The function of that name.
pub fn clobber<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    declare_inactive(module, CLOBBER, without_value(module, &[pointer(module)]), ARGUMENT_MEMORY)
}

/// Name of the function that reads the memory at its argument.
pub const READ: &str = "ffgrad.read";

/// The function of that name.
pub fn read_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    declare_inactive(module, READ, without_value(module, &[pointer(module)]), READ_ARGUMENT_MEMORY)
}

/// The attribute of functions that the user, or a rule, says are inactive.
pub const INACTIVE_BY_NAME: &str = "ffgrad_inactive";

fn set_inactive(module: &Module<'_>, function: FunctionValue<'_>) {
    for name in ["enzyme_inactive", "enzyme_nofree"] {
        set_text(module, function, AttributeLoc::Function, name, "");
    }
}

/// Name of the function that puts the release of memory off.
pub const FREE_LATER: &str = "ffgrad.free_later";

/// What stands for the release of memory until it is due. Else Enzyme takes it for a function that writes to the memory, or lets others do so, and caches what is
/// read of it.
pub fn free_later<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let ty = without_value(module, &[pointer(module)]);
    keeping_nothing(module, declare_inactive(module, FREE_LATER, ty, INACCESSIBLE_MEMORY), 1)
}

/// Name of the function that captures its argument.
pub const CAPTURE: &str = "ffgrad.capture";

/// A function that may capture the pointer that it is given, and does nothing.
pub fn capture_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    declare_inactive(module, CAPTURE, without_value(module, &[pointer(module)]), INACCESSIBLE_MEMORY)
}

/// Name of the function that copies what a global holds to a variable, or back.
pub const STATE: &str = "ffgrad.state";

/// A function `(to, from, bytes)` that copies inactive values.
pub fn state_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let parameters = [pointer(module), pointer(module), module.get_context().i64_type().into()];
    let function = accessor(module, STATE, without_value(module, &parameters), 2);
    set_flag(module, function, AttributeLoc::Param(1), "readonly", 0);
    function
}

/// Name of the function that gives the size of a block of the arena.
pub const BLOCK_SIZE: &str = "ffgrad.block_size";

/// The function of that name. The arena defines it (`runtime/arena.rs`).
pub fn block_size<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let function = accessor(module, BLOCK_SIZE, module.get_context().i64_type().fn_type(&[pointer(module)], false), 1);
    set_text(module, function, AttributeLoc::Return, "enzyme_type", "{[-1]:Integer}");
    function
}

/// An inactive function that reads and writes memory at its first `pointers` parameters, and keeps none of them.
///
/// A function that only reads is declared so too: Enzyme would call it again in the reverse sweep, where the memory may
/// hold another value.
pub(super) fn accessor<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    ty: FunctionType<'ctx>,
    pointers: u32,
) -> FunctionValue<'ctx> {
    keeping_nothing(module, declare_inactive(module, name, ty, ARGUMENT_MEMORY), pointers)
}

fn keeping_nothing<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>, pointers: u32) -> FunctionValue<'ctx> {
    for parameter in 0..pointers {
        set_flag(module, function, AttributeLoc::Param(parameter), "captures", 0);
    }
    // Else Enzyme asks for a derivative all the same: two pointers, one could be stored through the other.
    set_text(module, function, AttributeLoc::Function, "enzyme_no_escaping_allocation", "");
    function
}

/// Names of the functions that give the bits of a `double` and of a `float`.
const BITS: [&str; 3] = ["ffgrad.bits.f64", "ffgrad.bits.f32", "ffgrad.bits.f80"];

/// Whether a function is that of [`bits_marker`].
pub fn is_bits(name: &str) -> bool {
    BITS.contains(&name)
}

/// A function that gives the bits of a number of a type, for comparisons: it is inactive. None for types that are no numbers of C.
pub fn bits_marker<'ctx>(module: &Module<'ctx>, number: LLVMTypeRef) -> Option<FunctionValue<'ctx>> {
    let context = module.get_context();
    let numbers = [(context.f64_type(), 64), (context.f32_type(), 32), (context.x86_f80_type(), 80)];
    let ((own, bits), name) = numbers.into_iter().zip(BITS).find(|((own, _), _)| own.as_type_ref() == number)?;
    let integer = context.custom_width_int_type(std::num::NonZeroU32::new(bits)?).ok()?;
    Some(integer_function(module, name, integer.fn_type(&[own.into()], false)))
}

/// What the names of functions begin with that give back their argument.
const HIDDEN: &str = "ffgrad.hidden.";

/// Whether a function is one of these.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with(HIDDEN)
}

/// The function of that name for a type: what LLVM knows of its argument it does not know of its result. It is inactive. For type analysis the
/// result is what the argument is, an integer or a number. None for types that C does not have.
pub fn hidden<'ctx>(module: &Module<'ctx>, ty: LLVMTypeRef) -> Option<FunctionValue<'ctx>> {
    let context = module.get_context();
    let numbers = [(context.f64_type(), "f64"), (context.f32_type(), "f32")];
    if let Some((number, name)) = numbers.into_iter().find(|(number, _)| number.as_type_ref() == ty) {
        let ty = number.fn_type(&[number.into()], false);
        return Some(declare_inactive(module, &format!("{HIDDEN}{name}"), ty, NO_MEMORY));
    }
    let integers = [context.bool_type(), context.i8_type(), context.i16_type(), context.i32_type(), context.i64_type()];
    let integer = integers.into_iter().find(|integer| integer.as_type_ref() == ty)?;
    let name = format!("{HIDDEN}i{}", integer.get_bit_width());
    Some(integer_function(module, &name, integer.fn_type(&[integer.into()], false)))
}

/// A value that LLVM does not know any more, by [`hidden`]; `None` for types that C does not have.
///
/// # Safety
///
/// The builder stands in a function of the module, where the value is defined.
pub unsafe fn hide(module: &Module<'_>, builder: LLVMBuilderRef, value: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: by this function's promise; a function of the value's type.
    unsafe {
        let function = hidden(module, LLVMTypeOf(value))?.as_value_ref();
        let ty = LLVMGlobalGetValueType(function);
        Some(LLVMBuildCall2(builder, ty, function, [value].as_mut_ptr(), 1, c"".as_ptr()))
    }
}

/// Name of the function that subtracts the address of one pointer from that of another.
const DIFFERENCE: &str = "ffgrad.difference";

/// The function of that name: an integer for Enzyme and for LLVM, whatever it is computed from.
pub fn difference<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let ty = module.get_context().i64_type().fn_type(&[pointer(module), pointer(module)], false);
    let function = integer_function(module, DIFFERENCE, ty);
    // Computing it once more costs less than a cache.
    set_text(module, function, AttributeLoc::Function, "enzyme_shouldrecompute", "");
    for parameter in [0, 1] {
        set_flag(module, function, AttributeLoc::Param(parameter), "captures", 0);
    }
    function
}

/// Name of the function `(pointer, view)` that returns the pointer.
pub const OBJECT: &str = "ffgrad.object";

/// The function of that name. LLVM keeps calls for several views apart. For Enzyme's type analysis, what is behind its
/// result has nothing to do with what is behind its argument.
pub fn object<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let context = module.get_context();
    let parameters = [pointer(module), context.i32_type().into()];
    let ty = context.ptr_type(AddressSpace::default()).fn_type(&parameters, false);
    let function = declare(module, OBJECT, ty, NO_MEMORY, &HARMLESS);
    set_text(module, function, AttributeLoc::Function, "enzyme_ta_norecur", "");
    function
}

/// A call of it at a builder's place.
///
/// # Safety
///
/// The builder stands in a function of the module, where the pointer is defined.
pub unsafe fn call_object(
    module: &Module<'_>,
    builder: LLVMBuilderRef,
    pointer: LLVMValueRef,
    view: u32,
) -> LLVMValueRef {
    let function = object(module).as_value_ref();
    let view = module.get_context().i32_type().const_int(view.into(), false).as_value_ref();
    // SAFETY: the caller's.
    unsafe {
        let ty = LLVMGlobalGetValueType(function);
        LLVMBuildCall2(builder, ty, function, [pointer, view].as_mut_ptr(), 2, c"".as_ptr())
    }
}

/// An inactive function of its arguments only, which returns an integer.
fn integer_function<'ctx>(module: &Module<'ctx>, name: &str, ty: FunctionType<'ctx>) -> FunctionValue<'ctx> {
    let function = declare_inactive(module, name, ty, NO_MEMORY);
    set_text(module, function, AttributeLoc::Return, "enzyme_type", "{[-1]:Integer}");
    function
}

const EDGE: &str = "ffgrad.edge";

/// A marker for a CFG edge: it keeps LLVM from folding the edge's block away.
pub fn edge_marker<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    let ty = without_value(module, &[module.get_context().i32_type().into()]);
    let function = declare_inactive(module, EDGE, ty, INACCESSIBLE_MEMORY);
    // LLVM would merge the calls on several edges.
    set_flag(module, function, AttributeLoc::Function, "nomerge", 0);
    function
}

const OFFSET: &str = "ffgrad.offset.";

/// A constant 0 with this id whose value Enzyme does not see.
pub fn opaque_zero<'ctx>(module: &Module<'ctx>, number: u64) -> GlobalValue<'ctx> {
    let context = module.get_context();
    let global = module.add_global(context.i64_type(), None, &format!("{OFFSET}{number}"));
    global.set_constant(true);
    global.set_metadata(context.metadata_node(&[]), context.get_kind_id("enzyme_inactive"));
    global
}

/// An opaque zero loaded in the entry block, as a value of a type of at most 64 bits.
pub fn load_opaque_zero(
    module: &Module<'_>,
    function: FunctionValue<'_>,
    ty: LLVMTypeRef,
    number: u64,
) -> LLVMValueRef {
    let start = super::blocks(function)[0].first_after_phis();
    // SAFETY: a live function with a body, and a global of its module.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, start.0);
        let loaded = LLVMBuildLoad2(builder, ty, opaque_zero(module, number).as_value_ref(), c"".as_ptr());
        LLVMDisposeBuilder(builder);
        loaded
    }
}

/// Gives the marker functions empty bodies and the opaque zeros their value, so that the optimiser removes them.
pub fn define_markers(module: &Module<'_>) -> Result<()> {
    for global in module.get_globals().filter(|g| g.get_name().to_bytes().starts_with(OFFSET.as_bytes())) {
        global.set_initializer(&module.get_context().i64_type().const_zero());
        global.set_linkage(Linkage::Internal);
    }
    if let Some(function) = module.get_function(STATE).filter(|f| f.count_basic_blocks() == 0) {
        define_copy(module, function)?;
    }
    count_markers::define(module)?;
    if let Some(function) = module.get_function(DIFFERENCE).filter(|f| f.count_basic_blocks() == 0) {
        define_difference(module, function)?;
    }
    for name in BITS {
        let Some(function) = module.get_function(name).filter(|f| f.count_basic_blocks() == 0) else { continue };
        let builder = body_of(module, function);
        if let (Some(number), Some(bits)) = (function.get_first_param(), function.get_type().get_return_type()) {
            let bits = builder.build_bit_cast(number, bits, "").map_err(|e| e.to_string())?;
            builder.build_return(Some(&bits)).map_err(|e| e.to_string())?;
        }
        function.set_linkage(Linkage::Internal);
    }
    let hidden = |f: &FunctionValue<'_>| f.get_name().to_bytes().starts_with(HIDDEN.as_bytes());
    for function in module.get_functions().filter(|f| hidden(f) && f.count_basic_blocks() == 0) {
        let builder = body_of(module, function);
        builder.build_return(function.get_first_param().as_ref().map(|p| p as _)).map_err(|e| e.to_string())?;
        function.set_linkage(Linkage::Internal);
    }
    for name in [CLOBBER, READ, CAPTURE, EDGE, INTEGER, POINTER, "__enzyme_float", "__enzyme_double"] {
        let Some(function) = module.get_function(name).filter(|f| f.count_basic_blocks() == 0) else { continue };
        let builder = body_of(module, function);
        builder.build_return(None).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A builder in the first block of a function that has had none.
pub(super) fn body_of<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Builder<'ctx> {
    let builder = module.get_context().create_builder();
    builder.position_at_end(module.get_context().append_basic_block(function, ""));
    builder
}

fn define_difference<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<()> {
    let (context, builder) = (module.get_context(), body_of(module, function));
    let address = |p: BasicValueEnum<'ctx>| {
        builder.build_ptr_to_int(p.into_pointer_value(), context.i64_type(), "").map_err(|e| e.to_string())
    };
    if let [to, from] = function.get_params()[..] {
        let distance = builder.build_int_sub(address(to)?, address(from)?, "").map_err(|e| e.to_string())?;
        builder.build_return(Some(&distance)).map_err(|e| e.to_string())?;
    }
    function.set_linkage(Linkage::Internal);
    Ok(())
}

fn define_copy<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Result<()> {
    let builder = body_of(module, function);
    if let [to, from, bytes] = function.get_params()[..] {
        let (to, from, bytes) = (to.into_pointer_value(), from.into_pointer_value(), bytes.into_int_value());
        // The size is that of the global; the alignment is unknown.
        builder.build_memcpy(to, 1, from, 1, bytes).map_err(|e| e.to_string())?;
    }
    function.set_linkage(Linkage::Internal);
    builder.build_return(None).map_err(|e| e.to_string())?;
    Ok(())
}
