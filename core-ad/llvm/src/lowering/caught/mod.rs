//! Lowers C++ exceptions to branches, so that Enzyme differentiates what catches them, and takes error paths out of its sight.
//!
//! ```text
//! try { y = checked(x); } catch (const std::domain_error &) { y = 0.5 * x; }
//! ```
//!
//! Enzyme has no derivative for `invoke`, `landingpad` and the functions behind `throw` and `catch`. So a function that may throw to a handler
//! of its callers gets the address of a variable, the *pending exception*, as its last parameter. To throw is to write there and to return;
//! behind a call stands a test of it, and what was a landing pad reads it:
//!
//! ```text
//! invoke @checked(%x) to %next unwind %pad         call @checked(%x, %pending); %p = load %pending; br (%p != 0), %pad, %next
//! ```
//!
//! An exception without numbers (text, integers) is built and really thrown by a function that Enzyme takes for inactive (`regions`); a function
//! around it catches it, and hands out the address of the thrown object. Which handler takes it, and what `throw;` throws, is decided
//! when the program runs, by the C++ library's own type information (`runtime.ll`). An object that may hold numbers is allocated where Enzyme
//! sees it. An exception that leaves the wrapper is thrown for real, for the guard of the entry point (`exceptions.rs`).
//!
//! Whatever inevitably throws out of the wrapper, or ends the program, becomes an inactive function that does not return: no
//! derivative is asked of what builds its message.
//!
//! Code without sources is not lowered: what it throws ends at the guard, except for the C++ library's own functions. Programs that
//! use `std::current_exception`, exception specifications, or thrown pointers to objects stay as they are.

mod branches;
pub mod build;
mod effects;
mod facts;
mod groups;
mod handlers;
mod regions;
mod thrown;

use crate::ir::{Op, Result, Value, all_instructions, functions};
use crate::llvm::pipelines;
use build::{Edit, raw};
use facts::{Facts, Pad, is_call};
use groups::Groups;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::values::FunctionValue;

/// The wrapper that all derivatives are of.
const ROOT: &str = "ffgrad.wrap";

/// What the functions of the runtime are called.
const RUNTIME: &str = "ffgrad.eh.";

/// Functions that throw, or end the program, and never come back.
const ERROR: &str = "ffgrad.error";

/// Lowers exceptions. To be called before LLVM's pipeline, when calls are direct.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    if module.get_function(ROOT).is_none() {
        return Ok(());
    }
    if all_instructions(module).into_iter().any(|i| i.is(Op::LLVMInvoke) || i.is(Op::LLVMLandingPad) || throws(i)) {
        pipelines::simplify_exceptions(module)?;
    }
    let Some(root) = module.get_function(ROOT) else { return Ok(()) };
    let mut facts = Facts::of(module, root);
    if facts.functions.iter().any(|f| is_unsupported(*f)) {
        return Ok(());
    }
    let edit = Edit::of(module);
    let groups = Groups::of(&facts);
    if groups.is_unclear(&facts) {
        return Ok(());
    }
    let dead_ends: Vec<FunctionValue<'_>> =
        facts.functions.iter().copied().filter(|f| *f != root && facts.is_dead_end(raw(*f))).collect();
    let lowered = branches::widen(&edit, &mut facts, groups.count);
    for function in facts.functions.clone() {
        if !dead_ends.contains(&function) {
            branches::lower(&edit, &facts, function, lowered.get(&raw(function)).copied(), &groups);
            regions::outline_ends(&edit, &facts, function);
        }
    }
    for function in dead_ends {
        regions::mark_end(&edit, raw(function));
    }
    handlers::mark_library(&edit, module);
    Ok(())
}

fn throws(i: Value) -> bool {
    i.is(Op::LLVMCall) && i.callee().is_some_and(|n| facts::always_throws(&n))
}

fn is_unsupported(function: FunctionValue<'_>) -> bool {
    let all: Vec<Value> = crate::ir::blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
    all.iter().any(|i| {
        thrown::is_unsupported(*i)
            || (i.is(Op::LLVMLandingPad) && facts::pad(i.parent()) == Pad::Filter)
            || (is_call(*i) && i.callee().is_some_and(|n| n == "llvm.coro.id"))
    })
}

/// Adds the runtime to a derivative that uses it, and lets exceptions pass through the functions of Enzyme.
///
/// # Errors
///
/// LLVM's own.
pub fn finish<'ctx>(module: &Module<'ctx>, context: &'ctx Context) -> Result<()> {
    let uses = |name: &[u8]| name.starts_with(RUNTIME.as_bytes()) || name.starts_with(ERROR.as_bytes());
    if !module.get_functions().any(|f| uses(f.get_name().to_bytes())) {
        return Ok(());
    }
    let buffer = MemoryBuffer::create_from_memory_range_copy(include_str!("runtime.ll").as_bytes(), "exceptions");
    let runtime = context.create_module_from_ir(buffer).map_err(|e| e.to_string())?;
    module.link_in_module(runtime).map_err(|e| e.to_string())?;
    let internal = inkwell::module::Linkage::Internal;
    for function in functions(module).into_iter().filter(|f| f.get_name().to_bytes().starts_with(RUNTIME.as_bytes())) {
        function.set_linkage(internal);
    }
    // Enzyme states that its functions do not throw.
    let nounwind = inkwell::attributes::Attribute::get_named_enum_kind_id("nounwind");
    for function in functions(module) {
        function.remove_enum_attribute(inkwell::attributes::AttributeLoc::Function, nounwind);
    }
    for call in all_instructions(module).into_iter().filter(|i| is_call(*i)) {
        // SAFETY: a live call.
        unsafe {
            if !llvm_sys::core::LLVMIsAFunction(facts::called(call)).is_null()
                && llvm_sys::core::LLVMCountBasicBlocks(facts::called(call)) > 0
            {
                llvm_sys::core::LLVMRemoveCallSiteEnumAttribute(call.0, u32::MAX, nounwind);
            }
        }
    }
    Ok(())
}
