//! The LLVM pass pipelines before and after differentiation.
//!
//! Before: scalar optimisation only. A vectorised or unrolled loop costs Enzyme more to reverse and hides structure that it
//! could use. After: everything LLVM has, for the real target.

use crate::ir::{self, Result, crash_trace};
use crate::llvm::{codegen, linkage};
use core_ad::protocol::Pipeline;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::error::{LLVMConsumeError, LLVMErrorRef};
use llvm_sys::transforms::pass_builder::*;
use std::collections::HashSet;
use std::ffi::CStr;

/// Sets what holds in the whole process.
///
/// LLVM does not sink the last stores of two branches. Sunk they go through a phi of pointers, for which Enzyme's derivatives are wrong: see
/// `workarounds/phi_pointers.rs`.
///
/// Nor does it compare the memory of a vectorised loop once, before the loop around it. The adjoint of a stencil adds to several rows of an array: in
/// one iteration of the outer loop they are apart, in all of them they are the same memory, so the comparison would always fail.
///
/// Nor does it duplicate blocks with more than a few phis for the sake of a jump. Where a large function leaves early in many places, as MINPACK's do,
/// its adjoint has phis for hundreds of values there, and each copy adds a value to each: half of the time of all that is done after Enzyme.
pub fn set_options() {
    let arguments = [
        c"ffgrad-llvm",
        c"-simplifycfg-sink-common=false",
        c"-hoist-runtime-checks=false",
        c"-jump-threading-phi-threshold=8",
    ]
    .map(|text| text.as_ptr());
    let count = arguments.len() as i32;
    // SAFETY: so many C strings; the overview may be null. Called once, before anything else of LLVM.
    unsafe { llvm_sys::support::LLVMParseCommandLineOptions(count, arguments.as_ptr(), std::ptr::null()) };
}

/// Optimises just enough for LLVM to infer `readonly` and `writeonly` on parameters.
pub fn infer_attributes(module: &Module<'_>) -> Result<()> {
    run(module, "default<O1>", &codegen::generic_machine()?, scalar_only())
}

/// Drops functions and variables that nothing visible uses.
pub fn drop_unused(module: &Module<'_>) -> Result<()> {
    run(module, "globaldce", &codegen::generic_machine()?, scalar_only())
}

/// Brings functions into the form in which exceptions are lowered: values instead of variables, and no records about variables, which would
/// refer to another function where blocks move.
pub fn simplify_exceptions(module: &Module<'_>) -> Result<()> {
    let line_tables = module.get_context().get_kind_id("dbg");
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        // LLVM's pass adds a second record to a declaration that has one.
        // SAFETY: a live function.
        unsafe { llvm_sys::core::LLVMGlobalEraseMetadata(function.as_value_ref(), line_tables) };
    }
    let passes = "strip-nonlinetable-debuginfo,globaldce,function(sroa,early-cse,simplifycfg)";
    run(module, passes, &codegen::generic_machine()?, scalar_only())
}

/// Drops what a function and the parts of rules do not reach, before anything else is spent on it. Returns the names of inactive
/// functions that are left, and of those that never were there, which are refused later in their own words.
pub fn drop_unreachable(
    module: &Module<'_>,
    symbol: &str,
    parts_of_rules: &[String],
    inactive: Vec<String>,
) -> Result<Vec<String>> {
    let is_there = |name: &String| module.get_function(name).is_some();
    let (known, unknown): (Vec<String>, Vec<String>) = inactive.into_iter().partition(is_there);
    let kept: Vec<&str> = parts_of_rules.iter().map(String::as_str).chain([symbol]).collect();
    linkage::keep_only_named(module, &kept);
    drop_unused(module)?;
    Ok(known.into_iter().filter(is_there).chain(unknown).collect())
}

/// Drops debug information but for lines.
pub fn keep_lines(module: &Module<'_>) -> Result<()> {
    run(module, "strip-nonlinetable-debuginfo", &codegen::generic_machine()?, scalar_only())
}

/// Splits coroutines at their suspension points. Before anything else sees them: a coroutine that is not split yet
/// looks to other passes as if it never returned.
pub fn split_coroutines(module: &Module<'_>) -> Result<()> {
    let passes = "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg),\
                  coro-early,cgscc(coro-split),coro-cleanup,globaldce";
    run(module, passes, &codegen::generic_machine()?, scalar_only())
}

/// `-O1` inlines next to nothing, and what Enzyme differentiates as a function of its own it treats worse: it
/// keeps more for the reverse sweep and nothing is moved across the call. So inlining, bottom up over simplified
/// functions, stands before it.
const INLINE: &str = "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>),\
    cgscc(inline,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>))";

/// The inlining of that pipeline variant; nothing for the others.
pub fn inline(module: &Module<'_>, variant: Pipeline) -> Result<()> {
    let inlines = variant == Pipeline::Inlined || variant.is_guarded() || variant.is_generic() || variant.is_apart();
    if !inlines {
        return Ok(());
    }
    run(module, INLINE, &codegen::generic_machine()?, scalar_only())
}

/// Brings loops that are to be checkpointed into the form in which they are outlined: variables as values, one entry and one latch each, and
/// phis for what is used behind them.
pub fn before_checkpoints(module: &Module<'_>) -> Result<()> {
    let passes = "globaldce,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,\
                  loop-mssa(loop-rotate,licm),early-cse<memssa>,sroa,simplifycfg,loop-simplify,lcssa)";
    run(module, passes, &codegen::generic_machine()?, scalar_only())
}

/// Passes that join no stores and copies: what they make has no type.
const KEEP_TYPES: &str = "function(loop-simplify,loop-mssa(loop-rotate,licm),early-cse<memssa>,simplifycfg,\
    instcombine<no-verify-fixpoint>,loop(indvars,loop-deletion),sroa,adce,simplifycfg),\
    ipsccp,deadargelim,globalopt,globaldce";

/// LLVM passes before differentiation, for each pipeline variant, behind [`inline`].
pub fn before_differentiation(module: &Module<'_>, variant: Pipeline) -> Result<()> {
    let machine = codegen::generic_machine()?;
    let pipeline = match variant {
        Pipeline::O2 => "default<O2>",
        Pipeline::Apart | Pipeline::GuardedApart | Pipeline::GenericApart => KEEP_TYPES,
        Pipeline::Inlined
        | Pipeline::O1
        | Pipeline::Outlined
        | Pipeline::Typed
        | Pipeline::Guarded
        | Pipeline::Generic
        | Pipeline::Serial
        | Pipeline::Loose => "default<O1>",
    };
    run(module, pipeline, &machine, scalar_only())?;
    if variant == Pipeline::Outlined {
        outline_loops(module, &machine)?;
    }
    Ok(())
}

/// Inlines the rules for a Fortran runtime and finds out what its descriptors hold, so that of each rule one case is left.
pub fn resolve_descriptors(module: &Module<'_>) -> Result<()> {
    // Unrolled loops over dimensions have constant subscripts; only then is a descriptor's type code seen to stay.
    let unroll = "function(sroa,early-cse<memssa>,simplifycfg,loop-simplify,lcssa,loop(loop-rotate,loop-unroll-full))";
    let fold = "function(sroa,early-cse<memssa>,gvn,sccp,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)";
    let passes = format!("always-inline,{unroll},{fold},{fold},globaldce");
    run(module, &passes, &codegen::generic_machine()?, scalar_only())
}

/// Simplifies Enzyme's output (`x + 0.0`), so that the loop passes recognise loops.
pub fn clean_up(module: &Module<'_>) -> Result<()> {
    let passes = "function(instcombine<no-verify-fixpoint>,simplifycfg,early-cse,loop-simplify)";
    run(module, passes, &codegen::generic_machine()?, scalar_only())
}

/// Makes values of the variables that Enzyme left.
pub fn promote(module: &Module<'_>) -> Result<()> {
    run(module, "function(sroa)", &codegen::generic_machine()?, scalar_only())
}

/// Inlines what is marked so.
pub fn inline_marked(module: &Module<'_>) -> Result<()> {
    run(module, "always-inline", &codegen::generic_machine()?, scalar_only())
}

/// Instructions from which on `-O3` takes many seconds: derivatives of solvers with many branches and hardly a loop over numbers.
const MANY_INSTRUCTIONS: usize = 100_000;

/// For such modules: a quarter of the time of `-O3`, for gradients that take four to eighteen per cent longer. Loops over numbers are vectorised all the same.
const QUICK: &str = "default<O1>,function(loop-vectorize,instcombine<no-verify-fixpoint>,simplifycfg)";

/// The pipeline for the real target: the full one, unless that would take longer than it is worth.
pub fn after_differentiation(module: &Module<'_>, machine: &TargetMachine) -> Result<()> {
    let is_large = ir::all_instructions(module).len() > MANY_INSTRUCTIONS;
    run(module, if is_large { QUICK } else { "default<O3>" }, machine, everything())
}

fn everything() -> PassBuilderOptions {
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(true);
    options.set_loop_slp_vectorization(true);
    options.set_loop_interleaving(true);
    options.set_loop_unrolling(true);
    options
}

/// Inlines the arena's short paths into code that is otherwise done.
pub fn after_arena(module: &Module<'_>, machine: &TargetMachine) -> Result<()> {
    let passes = "always-inline,cgscc(inline),globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,gvn,dse)";
    run(module, passes, machine, scalar_only())
}

/// Extracts each outermost loop into a function that stays one: this separates the values that live
/// across loops from those inside, which makes gradients of buffers that are swapped by pointer right.
fn outline_loops(module: &Module<'_>, machine: &TargetMachine) -> Result<()> {
    let before: HashSet<_> = module.get_functions().map(|f| f.get_name().to_owned()).collect();
    run(module, "function(loop-simplify),loop-extract<single>", machine, scalar_only())?;
    let noinline = Attribute::get_named_enum_kind_id("noinline");
    for function in module.get_functions().filter(|f| !before.contains(f.get_name())) {
        let attribute = module.get_context().create_enum_attribute(noinline, 0);
        function.add_attribute(AttributeLoc::Function, attribute);
    }
    Ok(())
}

/// Runs passes on one function.
pub fn on_function(function: FunctionValue<'_>, passes: &CStr) -> Result<()> {
    let machine = codegen::generic_machine()?;
    // SAFETY: a live function, and options that live as long as the call.
    let error: LLVMErrorRef = unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPassesOnFunction(function.as_value_ref(), passes.as_ptr(), machine.as_mut_ptr(), options);
        LLVMDisposePassBuilderOptions(options);
        error
    };
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: an error that is owned here.
    unsafe { LLVMConsumeError(error) };
    Err(format!("`{}` failed", passes.to_string_lossy()))
}

fn scalar_only() -> PassBuilderOptions {
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(false);
    options.set_loop_slp_vectorization(false);
    options.set_loop_interleaving(false);
    options.set_loop_unrolling(false);
    options
}

fn run(module: &Module<'_>, passes: &str, machine: &TargetMachine, options: PassBuilderOptions) -> Result<()> {
    crash_trace::step(passes);
    module.verify().map_err(|e| format!("invalid IR before `{passes}`: {}", e.to_string()))?;
    module.run_passes(passes, machine, options).map_err(|e| format!("`{passes}`: {}", e.to_string()))
}
