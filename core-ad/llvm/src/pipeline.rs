//! What runs around Enzyme, and in what order.

use crate::entry;
use crate::ir::{Result, crash_trace, markers};
use crate::llvm::{codegen as target, pipelines};
use crate::lowering::openmp;
use crate::optimize::{dead_stores, fast_math, inner_loops, keep_calls};
use crate::rules::lifetimes;
use crate::runtime::arena;
use crate::workarounds::{
    copy_types, cross_iteration, distinct_addresses, drop_attributes, exit_values, inactive_globals, lagged_phi,
    loop_carried, mixed_activity, opaque_latch, outline_memcpy, phi_pointers, split_select_loads, split_switch_edges,
    stack_array_cache, three_predecessors,
};
use core_ad::protocol::{CodeGen, Entry, Improvement, Math, Rung};
use inkwell::module::Module;

/// What the passes before Enzyme need to know of a job.
pub struct Marking<'a> {
    /// The entry points.
    pub entries: &'a [Entry],
    /// Some functions have derivatives of their own.
    pub has_rules: bool,
    /// Names of the functions of rules.
    pub parts_of_rules: &'a [String],
    /// Fortran's allocatables are copied.
    pub copies_allocatables: bool,
    /// Allocations may come from the tape arena.
    pub arena: bool,
    /// Floating-point mode.
    pub math: Math,
}

/// Before LLVM's pipeline that stands before Enzyme.
pub fn first(module: &Module<'_>, rung: Rung, codegen: &CodeGen) {
    if rung == Rung::Inlined && codegen.does(Improvement::HeldCalls) {
        crash_trace::step("holding back calls");
        keep_calls::defer_inlining(module);
    }
}

/// Last before Enzyme.
pub fn before_enzyme(module: &Module<'_>, job: &Marking<'_>) -> Result<()> {
    crash_trace::step("marking for Enzyme");
    openmp::expand_copies(module)?;
    // Enzyme makes memory anew that it has freed, and fills it wrongly where allocatables are copied, or where it is written
    // through pointers that may point elsewhere.
    let by_merges = || job.arena && phi_pointers::has_heap(module) && arena::may_serve(module);
    if job.has_rules || job.copies_allocatables || by_merges() {
        lifetimes::extend(module, &entry::roots(module, job.entries), job.parts_of_rules);
    }
    // Before copies of globals become calls.
    inactive_globals::run(module, &entry::roots(module, job.entries));
    mixed_activity::run(module);
    copy_types::run(module);
    stack_array_cache::run(module);
    phi_pointers::mark_active(module);
    split_select_loads::run(module);
    outline_memcpy::run(module);
    split_switch_edges::run(module);
    three_predecessors::run(module);
    opaque_latch::run(module);
    exit_values::run(module)?;
    loop_carried::run(module);
    lagged_phi::run(module)?;
    distinct_addresses::run(module);
    cross_iteration::run(module);
    phi_pointers::mark_captured(module);
    fast_math::mark_primal(module, job.math);
    Ok(())
}

/// First after Enzyme.
pub fn after_enzyme(module: &Module<'_>) -> Result<()> {
    crash_trace::step("mending what Enzyme returned");
    drop_attributes::run(module);
    markers::define_markers(module)?;
    split_select_loads::undo(module);
    lagged_phi::undo(module);
    outline_memcpy::undo(module);
    Ok(())
}

/// On what Enzyme returned: it does not know what is dropped, and LLVM does not know that it is a derivative.
pub fn optimize(module: &Module<'_>, codegen: &CodeGen) -> Result<()> {
    crash_trace::step("relaxing arithmetic");
    keep_calls::undo(module);
    if codegen.math == Math::Contract && codegen.does(Improvement::DerivativeArithmetic) {
        fast_math::relax_derivative(module);
    }
    if codegen.math == Math::Contract && codegen.does(Improvement::Sums) {
        fast_math::reorder_sums(module);
    }
    pipelines::clean_up(module)?;
    if codegen.does(Improvement::DeadMemory) {
        crash_trace::step("dropping memory that nobody reads");
        dead_stores::eliminate_dead_stores(module);
    }
    let layout = target::target_machine("generic")?.get_target_data();
    crash_trace::step("improving loops");
    inner_loops::improve(module, codegen, &layout);
    entry::undo(module);
    Ok(())
}
