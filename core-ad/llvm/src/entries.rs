//! Builds the entry points around the foreign function.
//!
//! First a wrapper that takes every differentiable thing by pointer, scalars and the function's value
//! included, so that the engine meets one shape of argument only:
//!
//! ```text
//! void ffgrad.wrap(ptr noalias x, ptr noalias dt, i64 n, ptr noalias return)
//! ```
//!
//! Then one function per entry point, `int32_t entry(void *const *args)`, that unpacks the argument
//! array and calls the wrapper, or asks the engine for its derivative.

use crate::fortran;
use crate::session::Result;
use core_ad::plan::{Part, Slot};
use core_ad::protocol::Entry;
use core_ad::{Arg, CallPlan, DType, Passing, Role};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::context::ContextRef;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValue, BasicValueEnum, CallSiteValue, FunctionValue, PointerValue};
use inkwell::{AddressSpace, IntPredicate};

const WRAPPER: &str = "ffgrad.wrap";

/// Name of the reverse mode as a function; see [`derivative`].
pub const GRADIENT: &str = "ffgrad.gradient";

/// Mark of its parameters whose memory nobody reads after the call.
pub const PRIVATE: &str = "ffgrad.private";

/// Whether a vjp's caller drops what is in this memory afterwards: the copies of what is updated in place, outputs,
/// scratch, and the cotangents that the reverse mode consumes. What stays are gradients (shadows of inputs).
fn is_private(arg: &Arg, part: Part) -> bool {
    match part {
        Part::Primal => arg.role != Role::Input && arg.role != Role::Size,
        Part::Shadow => matches!(arg.role, Role::Output | Role::Return | Role::Scratch),
        _ => false,
    }
}

/// Whether the wrapper takes this argument as a plain value. Sizes always: what is known of a number is known of it in
/// memory too, once the wrapper has stored it there.
pub(crate) fn by_value(arg: &Arg) -> bool {
    arg.role == Role::Size || (arg.passing == Passing::Value && !arg.dtype.is_float())
}

fn element<'ctx>(context: ContextRef<'ctx>, dtype: DType) -> BasicTypeEnum<'ctx> {
    match dtype {
        DType::F32 => context.f32_type().into(),
        DType::F64 => context.f64_type().into(),
        DType::Bool | DType::I8 | DType::U8 => context.i8_type().into(),
        DType::I16 | DType::U16 => context.i16_type().into(),
        DType::I32 | DType::U32 => context.i32_type().into(),
        DType::I64 | DType::U64 => context.i64_type().into(),
    }
}

/// Adds the wrapper around `symbol`; `marked` adds what the engine needs to know, and says which arguments are never read.
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
    let types: Vec<BasicMetadataTypeEnum<'ctx>> =
        plan.args.iter().map(|a| if by_value(a) { element(context, a.dtype).into() } else { pointer.into() }).collect();
    let function = module.add_function(WRAPPER, context.void_type().fn_type(&types, false), Some(Linkage::Internal));
    state_aliasing(context, function, plan, crate::threads::has_barriers(module));
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
    for (i, arg) in plan.args.iter().enumerate().filter(|(_, a)| !by_value(a)) {
        let at = AttributeLoc::Param(i as u32);
        if !barriers || arg.role == Role::Input {
            function.add_attribute(at, flag("noalias"));
        }
        function.add_attribute(at, flag("nonnull"));
        function.add_attribute(at, flag("noundef"));
    }
}

/// Tells the engine what lies behind each floating-point pointer: code that only copies memory gives
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

/// The engine's `__enzyme_float` or `__enzyme_double`: a statement about the type behind a pointer,
/// removed by it. It is declared to touch no memory the program can see, so that it hinders nothing.
pub fn type_marker<'ctx>(module: &Module<'ctx>, dtype: DType) -> FunctionValue<'ctx> {
    let name = if dtype == DType::F32 { "__enzyme_float" } else { "__enzyme_double" };
    if let Some(function) = module.get_function(name) {
        return function;
    }
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let function = module.add_function(name, context.void_type().fn_type(&[pointer.into()], false), None);
    // memory(inaccessiblemem: readwrite), in LLVM's encoding of two bits per location.
    let memory = Attribute::get_named_enum_kind_id("memory");
    function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(memory, 0b1100));
    for name in ["nounwind", "willreturn"] {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    function
}

/// Name of the function that stands for "anything may have been written here".
pub const CLOBBER: &str = "ffgrad.clobber";

/// Ends the wrapper with a call that could overwrite every argument that the function writes and reads.
///
/// The engine keeps a loaded value for the reverse sweep only if it sees the memory overwritten later, and
/// for a buffer that a time loop overwrites in its next turn it does not see that (Enzyme's own test
/// `overwrite_outer_loop`). With this call in sight it keeps them all. The call itself does nothing: its
/// body is added, empty, once the engine is done.
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

fn clobber<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    if let Some(function) = module.get_function(CLOBBER) {
        return function;
    }
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let function = module.add_function(CLOBBER, context.void_type().fn_type(&[pointer.into()], false), None);
    // memory(argmem: readwrite): two bits per location, argument memory first.
    let memory = Attribute::get_named_enum_kind_id("memory");
    function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(memory, 0b11));
    for name in ["nounwind", "willreturn", "nofree", "nosync"] {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    for name in ["enzyme_inactive", "enzyme_nofree"] {
        function.add_attribute(AttributeLoc::Function, context.create_string_attribute(name, ""));
    }
    function
}

/// Gives the marker functions empty bodies, so that the optimiser removes their calls.
pub fn define_markers(module: &Module<'_>) -> Result<()> {
    for name in [CLOBBER, "__enzyme_float", "__enzyme_double"] {
        let Some(function) = module.get_function(name).filter(|f| f.count_basic_blocks() == 0) else { continue };
        let context = module.get_context();
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        builder.build_return(None).map_err(|e| e.to_string())?;
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
            Passing::Descriptor => fortran::descriptor(builder, wrapper, plan, i)?,
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
        (Passing::Pointer, _) if by_value(arg) => {
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

/// A call must say how small integers are widened, as the callee does.
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

/// Adds `int32_t ffgrad_primal(void *const *args)`.
pub fn primal<'ctx>(module: &Module<'ctx>, wrapper: FunctionValue<'ctx>, plan: &CallPlan) -> Result<()> {
    let frame = Frame::open(module, Entry::Primal)?;
    let mut values = Vec::new();
    for (number, slot) in plan.slots(Entry::Primal, 0).enumerate() {
        values.push(frame.value(&plan.args[slot.arg], number)?.into());
    }
    frame.builder.build_call(wrapper, &values, "").map_err(|e| e.to_string())?;
    frame.close()
}

/// Adds a derivative entry point: a call for the engine to replace. `has_rules`: some functions have derivatives of their
/// own.
pub fn derivative<'ctx>(
    module: &Module<'ctx>,
    entry: Entry,
    wrapper: FunctionValue<'ctx>,
    plan: &CallPlan,
    mask: u64,
    write_only: &[usize],
    has_rules: bool,
) -> Result<()> {
    let differentiated = match entry {
        Entry::Hvp | Entry::Vjp => first_derivative(module, Entry::Vjp, wrapper, plan, mask, write_only)?,
        Entry::Jvp2 => first_derivative(module, Entry::Jvp, wrapper, plan, mask, write_only)?,
        _ => wrapper,
    };
    let frame = Frame::open(module, entry)?;
    if entry == Entry::Vjp {
        let slots = plan.slots(entry, mask).enumerate();
        let values: Result<Vec<_>> = slots.map(|(i, s)| frame.slot(plan, s, i).map(Into::into)).collect();
        frame.builder.build_call(differentiated, &values?, "").map_err(|e| e.to_string())?;
        return frame.close();
    }
    let mut values = vec![differentiated.as_global_value().as_pointer_value().into()];
    if has_rules && matches!(entry, Entry::Hvp | Entry::Jvp2) {
        // In a rule's own code, differentiated once more, a pointer without derivative is its own shadow: the engine
        // must look before it takes numbers for tangents.
        values.push(frame.activity("enzyme_runtime_activity")?.into());
    }
    let is_split = matches!(entry, Entry::Augmented | Entry::Reverse);
    for (number, slot) in plan.slots(entry, mask).enumerate() {
        let arg = &plan.args[slot.arg];
        let shadowed = plan.has_shadow(slot.arg, mask);
        if is_split && slot.part == Part::Primal && arg.role == Role::Input {
            // The caller keeps inputs as they are until the tape is used: nothing of them need be on it.
            values.push(frame.activity("enzyme_not_overwritten")?.into());
        }
        match (entry, slot.part) {
            (Entry::Hvp | Entry::Jvp2, Part::Primal | Part::Shadow) if shadowed => {
                values.push(frame.activity("enzyme_dup")?.into());
                values.push(frame.pointer(number)?.into());
            }
            (Entry::Augmented | Entry::Reverse, Part::Primal) => {
                values.push(frame.activity(if shadowed { "enzyme_dup" } else { "enzyme_const" })?.into());
                values.push(frame.value(arg, number)?.into());
            }
            (_, Part::Primal) => {
                values.push(frame.activity(activity(arg, shadowed, write_only.contains(&slot.arg)))?.into());
                values.push(frame.value(arg, number)?.into());
            }
            _ => values.push(frame.pointer(number)?.into()),
        }
    }
    // The tape's place is behind the message buffer.
    let tape = plan.slots(entry, mask).count() + 1;
    if entry == Entry::Reverse {
        values.push(frame.pointer(tape)?.into());
    }
    let call = frame.builder.build_call(engine_function(module, entry), &values, "").map_err(|e| e.to_string())?;
    if entry == Entry::Augmented {
        let made = call.try_as_basic_value().basic().ok_or("the engine gives no tape")?;
        frame.builder.build_store(frame.place(tape)?, made).map_err(|e| e.to_string())?;
    }
    frame.close()
}

/// `void ffgrad.gradient(x, dx, ...)`, or `ffgrad.tangent`: the reverse or the forward mode as a function of its own. The
/// forward mode can differentiate it again, and the aliasing facts stand on its parameters while the reverse mode is
/// improved (`loops`, `unread`), until it is inlined into the entry point.
fn first_derivative<'ctx>(
    module: &Module<'ctx>,
    entry: Entry,
    wrapper: FunctionValue<'ctx>,
    plan: &CallPlan,
    mask: u64,
    write_only: &[usize],
) -> Result<FunctionValue<'ctx>> {
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let slots: Vec<Slot> = plan.slots(entry, mask).collect();
    let types: Vec<BasicMetadataTypeEnum<'ctx>> = slots
        .iter()
        .map(|slot| match by_value(&plan.args[slot.arg]) {
            true => element(context, plan.args[slot.arg].dtype).into(),
            false => pointer.into(),
        })
        .collect();
    let ty = context.void_type().fn_type(&types, false);
    let name = if entry == Entry::Vjp { GRADIENT } else { "ffgrad.tangent" };
    if let Some(function) = module.get_function(name) {
        return Ok(function);
    }
    let function = module.add_function(name, ty, Some(Linkage::Internal));
    let flag = |name| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
    let barriers = crate::threads::has_barriers(module);
    for (i, slot) in slots.iter().enumerate().filter(|(_, s)| !by_value(&plan.args[s.arg])) {
        let alone = !barriers || (slot.part == Part::Primal && plan.args[slot.arg].role == Role::Input);
        let names: &[&str] = if alone { &["noalias", "nonnull", "noundef"] } else { &["nonnull", "noundef"] };
        for name in names {
            function.add_attribute(AttributeLoc::Param(i as u32), flag(name));
        }
    }
    if entry == Entry::Vjp {
        for (i, _) in slots.iter().enumerate().filter(|(_, s)| is_private(&plan.args[s.arg], s.part)) {
            function.add_attribute(AttributeLoc::Param(i as u32), context.create_string_attribute(PRIVATE, ""));
        }
        function.add_attribute(AttributeLoc::Function, flag("noinline"));
    }
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let frame = Frame { module, builder, args: pointer.const_null() };
    let mut values = vec![wrapper.as_global_value().as_pointer_value().into()];
    for (i, slot) in slots.iter().enumerate() {
        if slot.part == Part::Primal {
            let unread = write_only.contains(&slot.arg);
            let word = activity(&plan.args[slot.arg], plan.has_shadow(slot.arg, mask), unread);
            values.push(frame.activity(word)?.into());
        }
        values.push(function.get_nth_param(i as u32).ok_or("gradient parameter")?.into());
    }
    frame.builder.build_call(engine_function(module, entry), &values, "").map_err(|e| e.to_string())?;
    frame.builder.build_return(None).map_err(|e| e.to_string())?;
    Ok(function)
}

/// Lets the reverse mode be inlined into its entry point.
pub fn release(module: &Module<'_>) {
    let noinline = Attribute::get_named_enum_kind_id("noinline");
    for function in module.get_functions() {
        if function.get_name().to_string_lossy().contains(GRADIENT) {
            function.remove_enum_attribute(AttributeLoc::Function, noinline);
        }
    }
}

/// Where calls enter a module: the entry points and what they give to the engine.
pub fn roots<'ctx>(module: &Module<'ctx>, entries: &[Entry]) -> Vec<FunctionValue<'ctx>> {
    let names = entries.iter().map(|e| e.symbol()).chain([WRAPPER]);
    names.filter_map(|name| module.get_function(name)).collect()
}

/// The engine's word for an argument. The primal of an output that is only stored need not be
/// computed again; memory the foreign code also reads back must be.
fn activity(arg: &Arg, shadowed: bool, write_only: bool) -> &'static str {
    match (shadowed, arg.role) {
        (false, _) => "enzyme_const",
        (true, Role::Return) => "enzyme_dupnoneed",
        (true, Role::Output) if write_only => "enzyme_dupnoneed",
        (true, _) => "enzyme_dup",
    }
}

fn engine_function<'ctx>(module: &Module<'ctx>, entry: Entry) -> FunctionValue<'ctx> {
    let name = match entry {
        Entry::Jvp | Entry::Hvp | Entry::Jvp2 => "__enzyme_fwddiff_ffgrad",
        Entry::Vjp | Entry::Primal => "__enzyme_autodiff_ffgrad",
        Entry::Augmented => "__enzyme_augmentfwd_ffgrad",
        Entry::Reverse => "__enzyme_reverse_ffgrad",
    };
    let declare = |name: &str| {
        let context = module.get_context();
        let ty = match entry {
            Entry::Augmented if name.contains("augmentfwd") => {
                context.ptr_type(AddressSpace::default()).fn_type(&[], true)
            }
            _ => context.void_type().fn_type(&[], true),
        };
        module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, None))
    };
    // The engine looks at modules only that mention reverse mode.
    declare("__enzyme_autodiff_ffgrad");
    declare(name)
}

/// An entry point under construction.
struct Frame<'m, 'ctx> {
    module: &'m Module<'ctx>,
    builder: Builder<'ctx>,
    args: PointerValue<'ctx>,
}

impl<'m, 'ctx> Frame<'m, 'ctx> {
    fn open(module: &'m Module<'ctx>, entry: Entry) -> Result<Self> {
        let context = module.get_context();
        let pointer = context.ptr_type(AddressSpace::default());
        let ty = context.i32_type().fn_type(&[pointer.into()], false);
        let function = module.add_function(entry.symbol(), ty, Some(Linkage::External));
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(function, ""));
        let args = function.get_nth_param(0).ok_or("entry parameter")?.into_pointer_value();
        Ok(Frame { module, builder, args })
    }

    /// The pointer in a slot of the argument array.
    fn pointer(&self, slot: usize) -> Result<PointerValue<'ctx>> {
        let pointer = self.module.get_context().ptr_type(AddressSpace::default());
        let place = self.place(slot)?;
        let loaded = self.builder.build_load(pointer, place, "").map_err(|e| e.to_string())?;
        Ok(loaded.into_pointer_value())
    }

    /// A slot of the argument array.
    fn place(&self, slot: usize) -> Result<PointerValue<'ctx>> {
        let context = self.module.get_context();
        let pointer = context.ptr_type(AddressSpace::default());
        let index = context.i64_type().const_int(slot as u64, false);
        // SAFETY: the caller's array has a pointer for every slot of the plan.
        unsafe { self.builder.build_in_bounds_gep(pointer, self.args, &[index], "") }.map_err(|e| e.to_string())
    }

    /// What the wrapper takes for an argument: its pointer, or the integer behind it.
    fn value(&self, arg: &Arg, slot: usize) -> Result<BasicValueEnum<'ctx>> {
        let pointer = self.pointer(slot)?;
        if !by_value(arg) {
            return Ok(pointer.as_basic_value_enum());
        }
        let ty = element(self.module.get_context(), arg.dtype);
        self.builder.build_load(ty.as_basic_type_enum(), pointer, &arg.name).map_err(|e| e.to_string())
    }

    /// What `ffgrad.gradient` takes for a slot.
    fn slot(&self, plan: &CallPlan, slot: Slot, number: usize) -> Result<BasicValueEnum<'ctx>> {
        match slot.part {
            Part::Primal => self.value(&plan.args[slot.arg], number),
            _ => Ok(self.pointer(number)?.as_basic_value_enum()),
        }
    }

    /// A load of one of the engine's activity markers.
    fn activity(&self, name: &str) -> Result<BasicValueEnum<'ctx>> {
        let ty = self.module.get_context().i32_type();
        let global = self.module.get_global(name).unwrap_or_else(|| self.module.add_global(ty, None, name));
        self.builder.build_load(ty, global.as_pointer_value(), "").map_err(|e| e.to_string())
    }

    fn close(self) -> Result<()> {
        let ok = self.module.get_context().i32_type().const_zero();
        self.builder.build_return(Some(&ok)).map(|_| ()).map_err(|e| e.to_string())
    }
}
