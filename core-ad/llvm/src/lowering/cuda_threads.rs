//! Lowers CUDA threads for the CPU: an entry point that runs one thread becomes one that runs the whole grid.
//!
//! This happens after differentiation: what Enzyme reverses is one thread, as on a GPU, with its barriers in it. The loops
//! over threads are C (`compile-driver/runtime/launch.c`), compiled by the driver and linked in here. Where there are
//! barriers, the thread function becomes a coroutine that suspends at each of them: LLVM's coroutine passes split it there
//! and keep the values that are live across a barrier in a frame.

use crate::analysis::barriers::{BARRIERS, has_barriers, is_used};
use crate::ir::{Result, texts};
use crate::llvm::pipelines;
use core_ad::cuda::{DYNAMIC, NO_SECOND, SHARED, SHARED_SHADOW, UNSET_SECTION};
use core_ad::protocol::Entry;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue, GlobalValue};
use inkwell::{AddressSpace, ThreadLocalMode};
use llvm_sys::core::*;
use std::collections::HashSet;
use std::path::Path;

/// The special registers, in the order of `ffgrad_index` in launch.c.
const REGISTERS: [&str; 4] = ["tid", "ctaid", "ntid", "nctaid"];
/// Whether the kernel has shared memory.
pub fn has_shared_memory(module: &Module<'_>) -> bool {
    module.get_globals().any(|g| g.get_name().to_bytes().starts_with(SHARED.as_bytes()))
}

/// Makes each entry point run the whole grid. The launch's extents stand in the slot after the message buffer.
pub fn launch<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    runtime: &Path,
    entries: &[(Entry, usize)],
) -> Result<()> {
    // A barrier in code that is never reached is none, and a coroutine must stop somewhere.
    pipelines::infer_attributes(module)?;
    let barriers = has_barriers(module);
    for &(entry, slots) in entries {
        let name = entry.symbol();
        let thread = module.get_function(name).ok_or_else(|| format!("no entry point `{name}`"))?;
        thread.as_global_value().set_name(&format!("{name}.thread"));
        thread.set_linkage(Linkage::Internal);
        link_loops(context, module, runtime, name)?;
        if barriers {
            link_coroutine(module, name)?;
        }
        outer(module, name, slots, barriers)?;
    }
    bind_registers(module)?;
    if barriers {
        stop_at_barriers(context, module)?;
        pipelines::split_coroutines(module)?;
    }
    clear_shared(module)?;
    privatise_shared(module);
    Ok(())
}

/// Links the loops for one entry point, under names of its own.
fn link_loops<'ctx>(context: &'ctx Context, module: &Module<'ctx>, runtime: &Path, name: &str) -> Result<()> {
    let loops = Module::parse_bitcode_from_path(runtime, context).map_err(|e| e.to_string())?;
    let renamed = [
        ("ffgrad_thread", "thread"),
        ("ffgrad_begin", "begin"),
        ("ffgrad_launch_plain", "launch_plain"),
        ("ffgrad_launch_barriers", "launch_barriers"),
    ];
    for (old, new) in renamed {
        let function = loops.get_function(old).ok_or_else(|| format!("the launch runtime has no `{old}`"))?;
        function.as_global_value().set_name(&format!("{name}.{new}"));
    }
    // A declaration finds an internal definition only if that is external while linking.
    let thread = module.get_function(&format!("{name}.thread")).ok_or("the thread function is gone")?;
    thread.set_linkage(Linkage::External);
    module.link_in_module(loops).map_err(|e| e.to_string())
}

/// Adds `ptr <name>.begin(ptr buffer, ptr args)`: the thread function as a coroutine.
fn link_coroutine(module: &Module<'_>, name: &str) -> Result<()> {
    let text = format!(
        "declare token @llvm.coro.id.retcon(i32, i32, ptr, ptr, ptr, ptr)
         declare ptr @llvm.coro.begin(token, ptr)
         declare void @llvm.coro.end(ptr, i1, token)
         declare ptr @ffgrad.continuation(ptr, i1 zeroext)
         declare ptr @ffgrad_frame(i64)
         declare void @ffgrad_free_frame(ptr)
         declare i32 @{name}.thread(ptr)
         define ptr @{name}.begin(ptr %buffer, ptr %args) presplitcoroutine {{
           %id = call token @llvm.coro.id.retcon(i32 8, i32 8, ptr %buffer, ptr @ffgrad.continuation,
                                                 ptr @ffgrad_frame, ptr @ffgrad_free_frame)
           %handle = call ptr @llvm.coro.begin(token %id, ptr null)
           %status = call i32 @{name}.thread(ptr %args)
           call void @llvm.coro.end(ptr %handle, i1 false, token none)
           unreachable
         }}\n"
    );
    texts::link(module, &text, "threads")
}

/// Adds the entry point proper.
fn outer(module: &Module<'_>, name: &str, slots: usize, barriers: bool) -> Result<()> {
    let text = |e: inkwell::builder::BuilderError| e.to_string();
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    let function = module.add_function(name, context.i32_type().fn_type(&[pointer.into()], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let args = function.get_first_param().ok_or("entry parameter")?.into_pointer_value();
    let index = context.i64_type().const_int(slots as u64 + 1, false);
    // SAFETY: the driver's array has the launch behind the message buffer, which is behind the slots.
    let place = unsafe { builder.build_in_bounds_gep(pointer, args, &[index], "") }.map_err(text)?;
    let geometry = builder.build_load(pointer, place, "geometry").map_err(text)?;
    let kind = if barriers { "launch_barriers" } else { "launch_plain" };
    let run = module.get_function(&format!("{name}.{kind}")).ok_or("the launch loop is gone")?;
    let call = builder.build_call(run, &[args.into(), geometry.into()], "").map_err(text)?;
    let status = call.try_as_basic_value().basic().ok_or("the launch loop returns no status")?;
    builder.build_return(Some(&status)).map_err(text)?;
    Ok(())
}

/// Makes barriers suspension points, and inlines every function that reaches one into the coroutine.
fn stop_at_barriers<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let mut stops = Vec::new();
    for (barrier, kind) in BARRIERS {
        let Some(old) = module.get_function(barrier).filter(|f| is_used(*f)) else { continue };
        let text = format!(
            "@ffgrad_kind = external thread_local global i32
             declare i1 @llvm.coro.suspend.retcon.i1(...)
             define void @ffgrad.stop.{kind}() {{
               store i32 {kind}, ptr @ffgrad_kind
               %unwind = call i1 (...) @llvm.coro.suspend.retcon.i1()
               ret void
             }}\n"
        );
        texts::link(module, &text, "threads")?;
        let stop = module.get_function(&format!("ffgrad.stop.{kind}")).ok_or("no suspension point")?;
        // SAFETY: both are functions of this module, of one type; nothing uses the old one afterwards.
        unsafe {
            LLVMReplaceAllUsesWith(old.as_value_ref(), stop.as_value_ref());
            LLVMDeleteFunction(old.as_value_ref());
        }
        stop.set_linkage(Linkage::Internal);
        stops.push(stop);
    }
    let mut inlined: HashSet<_> = stops.iter().map(AsValueRef::as_value_ref).collect();
    let mut open = stops;
    while let Some(function) = open.pop() {
        inline_always(context, function);
        for caller in callers(module, function) {
            let name = caller.get_name().to_string_lossy().into_owned();
            if name.ends_with(".begin") {
                continue;
            }
            if caller == function {
                return Err(
                    "a function that waits at a barrier calls itself, which cannot be split at the barrier".to_owned()
                );
            }
            if inlined.insert(caller.as_value_ref()) {
                open.push(caller);
            }
        }
    }
    Ok(())
}

fn inline_always(context: &Context, function: FunctionValue<'_>) {
    for name in ["noinline", "optnone"] {
        function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    }
    let kind = Attribute::get_named_enum_kind_id("alwaysinline");
    function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
}

/// Functions with a call of this one in them.
fn callers<'ctx>(module: &Module<'ctx>, function: FunctionValue<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let mut found = HashSet::new();
    // SAFETY: iterates over the uses of a live function; users that are instructions have a block and a function.
    unsafe {
        let mut next = LLVMGetFirstUse(function.as_value_ref());
        while !next.is_null() {
            let user = LLVMGetUser(next);
            if !LLVMIsAInstruction(user).is_null() {
                found.insert(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
            }
            next = LLVMGetNextUse(next);
        }
    }
    module.get_functions().filter(|f| found.contains(&f.as_value_ref())).collect()
}

/// Binds the special registers to `ffgrad_index`.
fn bind_registers(module: &Module<'_>) -> Result<()> {
    let text = |e: inkwell::builder::BuilderError| e.to_string();
    let context = module.get_context();
    let index = module.get_global("ffgrad_index").ok_or("the launch runtime has no index")?;
    let word = context.i32_type();
    for (group, register) in REGISTERS.iter().enumerate() {
        for (axis, letter) in ["x", "y", "z"].iter().enumerate() {
            let Some(old) = module.get_function(&format!("llvm.nvvm.read.ptx.sreg.{register}.{letter}")) else {
                continue;
            };
            let new = module.add_function(
                &format!("ffgrad.{register}.{letter}"),
                word.fn_type(&[], false),
                Some(Linkage::Internal),
            );
            let always = context.create_enum_attribute(Attribute::get_named_enum_kind_id("alwaysinline"), 0);
            new.add_attribute(AttributeLoc::Function, always);
            let builder = context.create_builder();
            builder.position_at_end(context.append_basic_block(new, ""));
            let offset = context.i64_type().const_int((3 * group + axis) as u64, false);
            // SAFETY: the index has twelve words.
            let place =
                unsafe { builder.build_in_bounds_gep(word, index.as_pointer_value(), &[offset], "") }.map_err(text)?;
            let value = builder.build_load(word, place, "").map_err(text)?;
            builder.build_return(Some(&value)).map_err(text)?;
            // SAFETY: both are functions of this module, of one type; nothing uses the old one afterwards.
            unsafe {
                LLVMReplaceAllUsesWith(old.as_value_ref(), new.as_value_ref());
                LLVMDeleteFunction(old.as_value_ref());
            }
        }
    }
    Ok(())
}

/// Gives `ffgrad_clear_shared(i64 dynamic_bytes)` its body: zeroes in every shadow of shared memory.
fn clear_shared(module: &Module<'_>) -> Result<()> {
    let text = |e: inkwell::builder::BuilderError| e.to_string();
    let Some(function) = module.get_function("ffgrad_clear_shared") else { return Ok(()) };
    let context = module.get_context();
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, ""));
    let dynamic = function.get_first_param().ok_or("clear_shared's parameter")?.into_int_value();
    let zero = context.i8_type().const_zero();
    for global in shared(module, SHARED_SHADOW) {
        let name = global.get_name().to_string_lossy().into_owned();
        let size = match name.ends_with(DYNAMIC) {
            true => dynamic,
            // SAFETY: the type of a live global of this module.
            false => context.i64_type().const_int(
                unsafe {
                    let layout = llvm_sys::target::LLVMGetModuleDataLayout(module.as_mut_ptr());
                    llvm_sys::target::LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global.as_value_ref()))
                },
                false,
            ),
        };
        builder.build_memset(global.as_pointer_value(), 1, zero, size).map_err(|e| e.to_string())?;
    }
    builder.build_return(None).map_err(text)?;
    Ok(())
}

fn shared<'ctx>(module: &Module<'ctx>, prefix: &str) -> Vec<GlobalValue<'ctx>> {
    module.get_globals().filter(|g| g.get_name().to_bytes().starts_with(prefix.as_bytes())).collect()
}

/// Makes shared memory one of each CPU thread, so that calls from several do not meet there.
fn privatise_shared(module: &Module<'_>) {
    for prefix in [SHARED, SHARED_SHADOW] {
        for global in shared(module, prefix) {
            let name = global.get_name().to_string_lossy().replace("enzyme_", "ffgrad_");
            global.set_name(&name);
            global.set_thread_local_mode(Some(ThreadLocalMode::GeneralDynamicTLSModel));
            global.set_linkage(Linkage::Internal);
        }
    }
}

/// Constant memory that is read but has no value in the source, if there is any (see `core_ad::cuda::host`).
pub fn unset_constant(module: &Module<'_>) -> Option<String> {
    let marked = |g: &GlobalValue<'_>| g.get_section().is_some_and(|s| s.to_bytes() == UNSET_SECTION.as_bytes());
    // SAFETY: reads live globals.
    let used = |g: &GlobalValue<'_>| unsafe { !LLVMGetFirstUse(g.as_value_ref()).is_null() };
    module.get_globals().filter(marked).find(used).map(|g| g.get_name().to_string_lossy().into_owned())
}

/// What must hold before derivatives of a kernel are asked for.
///
/// # Errors
///
/// A sentence for what Enzyme cannot do.
pub fn check_entries(module: &Module<'_>, entries: &[Entry]) -> Result<()> {
    if entries.contains(&Entry::Hvp) && has_shared_memory(module) {
        return Err(NO_SECOND.to_owned());
    }
    Ok(())
}
