//! Builds the exported entry points (primal, vjp, jvp, hvp, ...) around the foreign function.
//!
//! First a wrapper that takes every differentiable argument by pointer, scalars and the return value included, so that
//! Enzyme sees one form of argument only:
//!
//! ```text
//! void ffgrad.wrap(ptr noalias x, ptr noalias dt, i64 n, ptr noalias return)
//! ```
//!
//! Then one function per entry point, `int32_t entry(void *const *args)`, which unpacks the argument array and calls the
//! wrapper, or calls `__enzyme_*` for its derivative.

mod descriptor;
mod read_back;
pub mod requests;
mod wrapper;

pub use read_back::read_back;
pub use wrapper::{WRAPPER, wrapper};

use crate::analysis::barriers::has_barriers;
use crate::ir::Result;
use crate::ir::markers::{GRADIENT, PRIVATE};
use core_ad::plan::{Part, Slot};
use core_ad::protocol::Entry;
use core_ad::{Arg, CallPlan, Role};
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicMetadataTypeEnum, BasicType};
use inkwell::values::{BasicValue, BasicValueEnum, FunctionValue, PointerValue};
use wrapper::element;

/// Whether a vjp's caller drops what is in this memory afterwards: the copies of what is updated in place, outputs,
/// scratch, and the cotangents that the reverse mode consumes. What stays are gradients (shadows of inputs).
fn is_private(arg: &Arg, part: Part) -> bool {
    match part {
        Part::Primal => arg.role != Role::Input && arg.role != Role::Size,
        Part::Shadow => matches!(arg.role, Role::Output | Role::Return | Role::Scratch),
        _ => false,
    }
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

/// Adds a derivative entry point: a call for Enzyme to replace. `has_rules`: some functions have derivatives of their
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
        // In a rule's own code, differentiated once more, a pointer without derivative is its own shadow: Enzyme
        // must check that before it reads primal values as tangents.
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
    let call = frame.builder.build_call(enzyme_function(module, entry), &values, "").map_err(|e| e.to_string())?;
    if entry == Entry::Augmented {
        let made = call.try_as_basic_value().basic().ok_or("Enzyme gives no tape")?;
        frame.builder.build_store(frame.place(tape)?, made).map_err(|e| e.to_string())?;
    }
    frame.close()
}

/// `void ffgrad.gradient(x, dx, ...)`, or `ffgrad.tangent`: the reverse or the forward mode as a function of its own. The
/// forward mode can differentiate it again, and the aliasing facts stand on its parameters while the reverse mode is
/// optimised (`inner_loops`, `dead_stores`), until it is inlined into the entry point.
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
        .map(|slot| match plan.args[slot.arg].is_by_value() {
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
    let barriers = has_barriers(module);
    for (i, slot) in slots.iter().enumerate().filter(|(_, s)| !plan.args[s.arg].is_by_value()) {
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
    frame.builder.build_call(enzyme_function(module, entry), &values, "").map_err(|e| e.to_string())?;
    frame.builder.build_return(None).map_err(|e| e.to_string())?;
    Ok(function)
}

/// Lets the reverse mode be inlined into its entry point.
pub fn undo(module: &Module<'_>) {
    let noinline = Attribute::get_named_enum_kind_id("noinline");
    for function in module.get_functions() {
        if function.get_name().to_string_lossy().contains(GRADIENT) {
            function.remove_enum_attribute(AttributeLoc::Function, noinline);
        }
    }
}

/// Where calls enter a module: the entry points and what they give to Enzyme.
pub fn roots<'ctx>(module: &Module<'ctx>, entries: &[Entry]) -> Vec<FunctionValue<'ctx>> {
    let names = entries.iter().map(|e| e.symbol()).chain([WRAPPER]);
    names.filter_map(|name| module.get_function(name)).collect()
}

/// Enzyme's word for an argument. The primal of an output that is only stored need not be
/// computed again; memory the foreign code also reads back must be.
fn activity(arg: &Arg, shadowed: bool, write_only: bool) -> &'static str {
    match (shadowed, arg.role) {
        (false, _) => "enzyme_const",
        (true, Role::Return) => "enzyme_dupnoneed",
        (true, Role::Output) if write_only => "enzyme_dupnoneed",
        (true, _) => "enzyme_dup",
    }
}

fn enzyme_function<'ctx>(module: &Module<'ctx>, entry: Entry) -> FunctionValue<'ctx> {
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
    declare(name)
}

/// Declares the function that Enzyme requires in a module: one with split-mode or forward-mode requests alone does not call it.
pub fn declare_reverse_mode(module: &Module<'_>) {
    enzyme_function(module, Entry::Vjp);
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
        if !arg.is_by_value() {
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

    /// A load of one of Enzyme's activity markers.
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
