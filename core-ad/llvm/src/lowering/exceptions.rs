//! Catches C++ exceptions at the entry points.
//!
//! An exception that left an entry point would unwind through Rust and Python frames and end the process. Each entry point
//! of a C++ module is therefore renamed and called from a guard that catches everything, writes `what()` into the message
//! buffer (the slot after the last argument, [`core_ad::protocol::MESSAGE_BYTES`] long) and returns a status.

use crate::ir::Result;
use core_ad::protocol::{Entry, MESSAGE_BYTES, status};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::builder::Builder;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValueEnum, FunctionValue, PointerValue};
use inkwell::{AddressSpace, IntPredicate};

/// Puts the guard around one entry point. `slots` is the number of argument slots before the buffer.
pub fn guard(module: &Module<'_>, entry: Entry, slots: usize) -> Result<()> {
    let name = entry.symbol();
    let inner = module.get_function(name).ok_or_else(|| format!("no entry point `{name}`"))?;
    inner.as_global_value().set_name(&format!("{name}.inner"));
    inner.set_linkage(Linkage::Internal);
    // Enzyme states that its functions do not throw; the foreign code may.
    let nounwind = Attribute::get_named_enum_kind_id("nounwind");
    inner.remove_enum_attribute(AttributeLoc::Function, nounwind);
    let guard = module.add_function(name, inner.get_type(), Some(Linkage::External));
    let runtime = Runtime::declare(module);
    guard.set_personality_function(runtime.personality);
    build(module, guard, inner, &runtime, slots).map_err(|e| e.to_string())
}

struct Runtime<'ctx> {
    personality: FunctionValue<'ctx>,
    begin: FunctionValue<'ctx>,
    end: FunctionValue<'ctx>,
    copy: FunctionValue<'ctx>,
    type_id: FunctionValue<'ctx>,
    std_exception: PointerValue<'ctx>,
}

impl<'ctx> Runtime<'ctx> {
    fn declare(module: &Module<'ctx>) -> Self {
        let context = module.get_context();
        let pointer = context.ptr_type(AddressSpace::default());
        let declare = |name: &str, ty| module.get_function(name).unwrap_or_else(|| module.add_function(name, ty, None));
        let i32_type = context.i32_type();
        let std_exception = module
            .get_global("_ZTISt9exception")
            .unwrap_or_else(|| module.add_global(pointer, None, "_ZTISt9exception"));
        let size = context.i64_type();
        Runtime {
            personality: declare("__gxx_personality_v0", i32_type.fn_type(&[], true)),
            begin: declare("__cxa_begin_catch", pointer.fn_type(&[pointer.into()], false)),
            end: declare("__cxa_end_catch", context.void_type().fn_type(&[], false)),
            copy: declare("strncpy", pointer.fn_type(&[pointer.into(), pointer.into(), size.into()], false)),
            type_id: declare("llvm.eh.typeid.for.p0", i32_type.fn_type(&[pointer.into()], false)),
            std_exception: std_exception.as_pointer_value(),
        }
    }
}

fn build<'ctx>(
    module: &Module<'ctx>,
    guard: FunctionValue<'ctx>,
    inner: FunctionValue<'ctx>,
    runtime: &Runtime<'ctx>,
    slots: usize,
) -> std::result::Result<(), inkwell::builder::BuilderError> {
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let i32_type = context.i32_type();
    let block = |name| context.append_basic_block(guard, name);
    let (start, returned, caught, typed, untyped) =
        (block("start"), block("returned"), block("caught"), block("typed"), block("untyped"));
    let b = context.create_builder();
    let args = guard.get_first_param().map(BasicValueEnum::into_pointer_value);
    let args = args.unwrap_or_else(|| pointer.const_null());

    b.position_at_end(start);
    let call = b.build_invoke(inner, &[args.into()], returned, caught, "")?;
    b.position_at_end(returned);
    let code = call.try_as_basic_value().basic();
    b.build_return(code.as_ref().map(|c| c as &dyn inkwell::values::BasicValue<'ctx>))?;

    b.position_at_end(caught);
    let pad_type = context.struct_type(&[pointer.into(), i32_type.into()], false);
    let any = pointer.const_null();
    let clauses = [runtime.std_exception.into(), any.into()];
    let pad = b.build_landing_pad(pad_type, runtime.personality, &clauses, false, "")?;
    let pad = pad.into_struct_value();
    let exception = b.build_extract_value(pad, 0, "")?;
    let selector = b.build_extract_value(pad, 1, "")?.into_int_value();
    let object = b.build_call(runtime.begin, &[exception.into()], "")?.try_as_basic_value().basic();
    let object = object.map_or(any, BasicValueEnum::into_pointer_value);
    let wanted = b.build_call(runtime.type_id, &[runtime.std_exception.into()], "")?;
    let wanted = wanted.try_as_basic_value().basic().map(BasicValueEnum::into_int_value);
    let is_std = b.build_int_compare(IntPredicate::EQ, selector, wanted.unwrap_or(selector), "")?;
    b.build_conditional_branch(is_std, typed, untyped)?;

    b.position_at_end(typed);
    copy_what(module, &b, runtime, object, args, slots)?;
    b.build_unconditional_branch(untyped)?;
    b.position_at_end(untyped);
    b.build_call(runtime.end, &[], "")?;
    b.build_return(Some(&i32_type.const_int(status::EXCEPTION as u64, false)))?;
    Ok(())
}

/// `strncpy(args[slots], exception->what(), MESSAGE_BYTES - 1)`; `what` is the third virtual function
/// of `std::exception` in the Itanium C++ ABI.
fn copy_what<'ctx>(
    module: &Module<'ctx>,
    b: &Builder<'ctx>,
    runtime: &Runtime<'ctx>,
    object: PointerValue<'ctx>,
    args: PointerValue<'ctx>,
    slots: usize,
) -> std::result::Result<(), inkwell::builder::BuilderError> {
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let load_at = |base: PointerValue<'ctx>, index: usize| {
        let index = context.i64_type().const_int(index as u64, false);
        // SAFETY: virtual tables and the argument array both have the indexed pointer.
        let place = unsafe { b.build_in_bounds_gep(pointer, base, &[index], "") }?;
        b.build_load(pointer, place, "").map(BasicValueEnum::into_pointer_value)
    };
    let table = load_at(object, 0)?;
    let what = load_at(table, 2)?;
    let ty = pointer.fn_type(&[pointer.into()], false);
    let text = b.build_indirect_call(ty, what, &[object.into()], "")?.try_as_basic_value().basic();
    let text = text.map_or(object, BasicValueEnum::into_pointer_value);
    let room = context.i64_type().const_int(MESSAGE_BYTES as u64 - 1, false);
    let buffer = load_at(args, slots)?;
    b.build_call(runtime.copy, &[buffer.into(), text.into(), room.into()], "")?;
    Ok(())
}
