//! The pass table: which rewrites run around Enzyme, in what order, under which condition, and how they are undone.
//!
//! What each is for is data (`core_ad::passes`); here the functions are attached, in the same order (a test compares).

use crate::analysis::cfg::MAX_BLOCKS;
use crate::entry;
use crate::ir::{Result, crash_trace, markers};
use crate::llvm::{codegen as target, pipelines};
use crate::lowering::{call_objects, caught, dead_ends, openmp, path_map, static_locals, sweeps};
use crate::optimize::{
    borders, byte_flags, dead_stores, exit_slots, fast_math, fuse_loops, iterations, keep_calls, keep_results,
    large_structs, libmvec, path_slots, reverse_loop, scatter_to_gather, shared_counts, sole_calls, split_scatters,
    zero_memory,
};
use crate::rules::lifetimes;
use crate::runtime::arena;
use crate::workarounds::{
    bit_tests, cleared_members, closed_functions, compared_arguments, container_counts, container_headers, copy_types,
    cross_iteration, distant_exits, distinct_addresses, drop_attributes, dynamic_arrays, exit_values, inactive_globals,
    integer_arithmetic, keep_loops, keep_rolled, lagged_phi, large_arrays, loop_carried, member_copies, merged_values,
    mixed_activity, mixed_words, moving_addresses, nan_roots, no_gathers, opaque_addresses, opaque_latch,
    opaque_objects, opaque_tables, outline_memcpy, overlapping_moves, own_blas, phi_pointers, pointer_counts,
    pointer_differences, quotient_tangents, reallocations, recursive_destructors, sibling_addresses,
    split_select_loads, split_switch_edges, stable_tanh, stack_array_cache, struct_copies, tagged_copies,
    text_functions, thread_addresses, three_predecessors, tree_erase, two_entries, undefined_phis, union_members,
    variable_types, wide_counters, written_globals, zero_stores,
};
use core_ad::CallPlan;
use core_ad::protocol::{CodeGen, Entry, Math, Pipeline};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// What a pass that cannot fail returns.
macro_rules! infallible {
    ($run:expr) => {{
        $run;
        Ok(())
    }};
}

/// What a pass may ask about the job.
pub struct Job<'a> {
    /// The entry points.
    pub entries: &'a [Entry],
    /// What the arguments are, and the inputs that have a shadow; none after differentiation.
    pub plan: Option<(&'a CallPlan, u64)>,
    /// The pipeline variant before differentiation; none after it.
    pub pipeline: Option<Pipeline>,
    /// Names of the functions of custom derivatives, the differentiated ones among them.
    pub parts_of_rules: &'a [String],
    /// Fortran allocatables are copied.
    pub copies_allocatables: bool,
    /// Allocations may come from the tape arena.
    pub arena: bool,
    /// Paths can be counted: one thread runs all of a call, and its ranks need not agree on checks.
    pub counts_paths: bool,
    /// One thread runs all of a call.
    pub one_thread: bool,
    /// Code generation, with the passes that are left out.
    pub codegen: &'a CodeGen,
    /// What [`Pass::limited`] passes have skipped.
    pub skipped: Skipped,
}

impl<'a> Job<'a> {
    /// A job on the derivative, after Enzyme.
    pub fn after_enzyme(codegen: &'a CodeGen) -> Job<'a> {
        Job {
            entries: &[],
            plan: None,
            pipeline: None,
            parts_of_rules: &[],
            copies_allocatables: false,
            arena: false,
            counts_paths: true,
            one_thread: true,
            codegen,
            skipped: Skipped::default(),
        }
    }
}

/// Functions that are too large for some passes, with the number of blocks and the names of the passes.
#[derive(Default)]
pub struct Skipped(RefCell<BTreeMap<String, (u32, Vec<&'static str>)>>);

impl Skipped {
    fn add(&self, pass: &'static str, module: &Module<'_>) {
        for function in module.get_functions() {
            let blocks = function.count_basic_blocks();
            if blocks as usize > MAX_BLOCKS {
                let name = function.get_name().to_string_lossy().into_owned();
                self.0.borrow_mut().entry(name).or_insert((blocks, Vec::new())).1.push(pass);
            }
        }
    }

    /// A sentence for each function.
    pub fn notes(self) -> Vec<String> {
        let note = |(name, (blocks, passes)): (String, (u32, Vec<&str>))| {
            let passes = passes.join(", ");
            format!("`{name}` has {blocks} basic blocks; above {MAX_BLOCKS} these passes skip a function: {passes}")
        };
        self.0.into_inner().into_iter().map(note).collect()
    }
}

/// A rewrite around Enzyme.
pub struct Pass {
    /// Its name in `core_ad::passes`: for crash traces and `without=[..]`.
    pub name: &'static str,
    /// Whether it is needed.
    pub when: fn(&Module<'_>, &Job<'_>) -> bool,
    /// Skips functions with more than [`MAX_BLOCKS`] basic blocks.
    pub limited: bool,
    /// Rewrites the module.
    pub run: fn(&Module<'_>, &Job<'_>) -> Result<()>,
    /// Undoes on the derivative what was for Enzyme only; does nothing where the pass did not run.
    pub undo: Option<fn(&Module<'_>)>,
}

/// A pass that always runs and needs no undo.
const ALWAYS: Pass = Pass { name: "", when: |_, _| true, limited: false, run: |_, _| Ok(()), undo: None };

/// Before LLVM's pipeline that prepares the function for Enzyme.
pub const PREPARE: &[Pass] = &[
    Pass { name: "stable-tanh", when: second_order, run: |m, _| stable_tanh::run(m), ..ALWAYS },
    Pass { name: "shared-counts", run: |m, _| infallible!(shared_counts::run(m)), ..ALWAYS },
    Pass { name: "own-blas", run: |m, job| infallible!(own_blas::run(m, job.parts_of_rules)), ..ALWAYS },
    // Before what stops the program, or prints, becomes more than a call.
    Pass { name: "closed-functions", run: |m, _| infallible!(closed_functions::run(m)), ..ALWAYS },
    Pass { name: "text-functions", run: |m, _| infallible!(text_functions::run(m)), ..ALWAYS },
    Pass { name: "static-locals", run: begin_statics, ..ALWAYS },
    Pass { name: "container-counts", run: |m, _| infallible!(container_counts::run(m)), ..ALWAYS },
    Pass { name: "union-members", run: |m, _| infallible!(union_members::run(m)), ..ALWAYS },
    Pass { name: "tagged-copies", when: apart, run: |m, _| tagged_copies::run(m), ..ALWAYS },
    Pass { name: "tree-erase", run: |m, _| infallible!(tree_erase::run(m)), undo: Some(tree_erase::undo), ..ALWAYS },
    // Before variables become values, as they do where exceptions are caught: their types name members and elements.
    Pass { name: "member-copies", run: |m, job| infallible!(member_copies::run(m, apart(m, job))), ..ALWAYS },
    Pass { name: "copy-elements", run: |m, _| infallible!(copy_types::note(m)), ..ALWAYS },
    Pass { name: "lower-exceptions", run: |m, _| caught::run(m), ..ALWAYS },
    Pass { name: "written-globals", run: |m, job| written_globals::run(m, job.one_thread), ..ALWAYS },
    Pass { name: "variable-types", run: |m, _| infallible!(variable_types::run(m)), ..ALWAYS },
    Pass { name: "copy-sizes", run: |m, _| infallible!(struct_copies::note_sizes(m)), ..ALWAYS },
    // The marks go right behind LLVM's pipeline.
    Pass { name: "zero-stores", run: |m, _| infallible!(zero_stores::mark(m)), ..ALWAYS },
    Pass {
        name: "keep-loops",
        when: |module, job| apart(module, job) && keep_loops::is_needed(module),
        run: |m, _| infallible!(keep_loops::run(m)),
        undo: Some(keep_loops::undo),
        ..ALWAYS
    },
    Pass {
        name: "defer-inlining",
        when: |_, job| job.pipeline == Some(Pipeline::Inlined),
        run: |m, _| infallible!(keep_calls::defer_inlining(m)),
        undo: Some(keep_calls::undo),
        ..ALWAYS
    },
    Pass { name: "sole-calls", run: |m, _| sole_calls::run(m), ..ALWAYS },
];

/// Between that pipeline and Enzyme.
pub const BEFORE_ENZYME: &[Pass] = &[
    Pass { name: "borders", when: reverses_once, limited: true, run: |m, _| borders::run(m), ..ALWAYS },
    // Before the others, so that they see its functions.
    Pass { name: "sweeps", when: reverses_once, limited: true, run: run_sweeps, ..ALWAYS },
    Pass { name: "container-headers", run: |m, _| container_headers::run(m), undo: Some(lagged_phi::undo), ..ALWAYS },
    Pass { name: "cleared-members", run: |m, _| infallible!(cleared_members::run(m)), ..ALWAYS },
    // Before what looks at loops.
    Pass { name: "two-entries", limited: true, run: |m, _| two_entries::run(m), ..ALWAYS },
    Pass {
        name: "recursive-destructors",
        when: |module, job| job.arena && arena::may_serve(module),
        run: |m, _| infallible!(recursive_destructors::run(m)),
        ..ALWAYS
    },
    Pass {
        name: "dynamic-arrays",
        run: |m, job| infallible!(dynamic_arrays::run(m, job.arena && arena::may_serve(m))),
        ..ALWAYS
    },
    Pass { name: "large-arrays", run: |m, _| infallible!(large_arrays::run(m)), ..ALWAYS },
    Pass { name: "wide-counters", limited: true, run: |m, _| infallible!(wide_counters::run(m)), ..ALWAYS },
    Pass { name: "nan-roots", run: |m, _| infallible!(nan_roots::run(m)), undo: Some(nan_roots::undo), ..ALWAYS },
    Pass { name: "bit-tests", run: |m, _| infallible!(bit_tests::run(m)), ..ALWAYS },
    Pass {
        name: "pointer-counts",
        when: |module, job| second_order(module, job) && job.pipeline != Some(Pipeline::Inlined),
        limited: true,
        run: |m, _| infallible!(pointer_counts::run(m)),
        ..ALWAYS
    },
    Pass { name: "pointer-differences", run: |m, _| infallible!(pointer_differences::run(m)), ..ALWAYS },
    Pass { name: "integer-arithmetic", run: |m, _| infallible!(integer_arithmetic::run(m)), ..ALWAYS },
    Pass {
        name: "reallocations",
        when: |module, job| apart(module, job) && job.arena && arena::may_serve(module),
        run: |m, _| reallocations::run(m),
        ..ALWAYS
    },
    Pass { name: "mixed-words", when: apart, run: |m, _| infallible!(mixed_words::run(m)), ..ALWAYS },
    Pass { name: "opaque-addresses", when: apart, run: |m, _| infallible!(opaque_addresses::run(m)), ..ALWAYS },
    Pass {
        name: "opaque-objects",
        run: |m, job| infallible!(opaque_objects::run(m, apart(m, job))),
        undo: Some(opaque_objects::undo),
        ..ALWAYS
    },
    Pass { name: "struct-copies", run: |m, _| struct_copies::run(m), undo: Some(struct_copies::undo), ..ALWAYS },
    Pass { name: "overlapping-moves", run: |m, _| overlapping_moves::run(m), ..ALWAYS },
    Pass { name: "expand-shared-memcpy", run: |m, _| openmp::expand_copies(m), ..ALWAYS },
    Pass { name: "extend-lifetimes", when: needs_longer_lifetimes, run: extend_lifetimes, ..ALWAYS },
    Pass {
        name: "inactive-globals",
        run: |m, job| infallible!(inactive_globals::run(m, &entry::roots(m, job.entries))),
        ..ALWAYS
    },
    Pass { name: "mixed-activity", run: |m, _| infallible!(mixed_activity::run(m)), ..ALWAYS },
    Pass { name: "opaque-tables", run: |m, _| infallible!(opaque_tables::run(m)), ..ALWAYS },
    Pass { name: "copy-types", run: |m, _| infallible!(copy_types::run(m)), ..ALWAYS },
    Pass { name: "wrap-stack-arrays", run: |m, _| infallible!(stack_array_cache::run(m)), ..ALWAYS },
    Pass { name: "moving-addresses", run: |m, _| infallible!(moving_addresses::run(m)), ..ALWAYS },
    Pass { name: "activate-phi-memory", run: |m, _| infallible!(phi_pointers::mark_active(m)), ..ALWAYS },
    Pass {
        name: "split-select-loads",
        run: |m, _| infallible!(split_select_loads::run(m)),
        undo: Some(split_select_loads::undo),
        ..ALWAYS
    },
    Pass {
        name: "outline-memcpy",
        run: |m, _| infallible!(outline_memcpy::run(m)),
        undo: Some(outline_memcpy::undo),
        ..ALWAYS
    },
    Pass { name: "compared-arguments", run: |m, _| infallible!(compared_arguments::run(m)), ..ALWAYS },
    Pass { name: "undefined-phis", run: |m, _| infallible!(undefined_phis::run(m)), ..ALWAYS },
    Pass { name: "split-switch-edges", run: |m, _| infallible!(split_switch_edges::run(m)), ..ALWAYS },
    Pass { name: "pair-predecessors", limited: true, run: |m, _| infallible!(three_predecessors::run(m)), ..ALWAYS },
    Pass { name: "opaque-latch", limited: true, run: |m, _| infallible!(opaque_latch::run(m)), ..ALWAYS },
    Pass {
        name: "exit-values",
        limited: true,
        run: |m, _| exit_values::run(m),
        undo: Some(lagged_phi::undo),
        ..ALWAYS
    },
    Pass { name: "loop-carried", limited: true, run: |m, _| infallible!(loop_carried::run(m)), ..ALWAYS },
    Pass { name: "lagged-phi", limited: true, run: |m, _| lagged_phi::run(m), undo: Some(lagged_phi::undo), ..ALWAYS },
    Pass { name: "merged-values", run: |m, _| merged_values::run(m), undo: Some(lagged_phi::undo), ..ALWAYS },
    Pass {
        name: "keep-results",
        when: |_, job| job.pipeline == Some(Pipeline::Inlined),
        limited: true,
        run: |m, _| keep_results::run(m),
        undo: Some(lagged_phi::undo),
    },
    Pass {
        name: "keep-rolled",
        limited: true,
        run: |m, job| infallible!(keep_rolled::run(m, job.pipeline != Some(Pipeline::Inlined))),
        undo: Some(keep_rolled::undo),
        ..ALWAYS
    },
    Pass { name: "distinct-addresses", limited: true, run: |m, _| infallible!(distinct_addresses::run(m)), ..ALWAYS },
    Pass { name: "cross-iteration", limited: true, run: |m, _| infallible!(cross_iteration::run(m)), ..ALWAYS },
    // Behind what reads addresses.
    Pass { name: "sibling-addresses", limited: true, run: |m, _| infallible!(sibling_addresses::run(m)), ..ALWAYS },
    Pass { name: "distant-exits", run: |m, _| distant_exits::run(m), ..ALWAYS },
    Pass { name: "capture-phi-memory", run: |m, _| infallible!(phi_pointers::mark_captured(m)), ..ALWAYS },
    Pass { name: "mark-contract", when: not_strict, run: |m, _| infallible!(fast_math::mark_contract(m)), ..ALWAYS },
    Pass {
        name: "path-map",
        when: |_, job| job.counts_paths,
        run: |m, job| path_map::mark(m, job.parts_of_rules, second_order(m, job)),
        undo: Some(dead_ends::drop_assumptions),
        ..ALWAYS
    },
    Pass { name: "iterations", when: reverses_once, run: run_iterations, ..ALWAYS },
    Pass {
        name: "path-slots",
        when: |_, job| job.counts_paths,
        run: |m, _| infallible!(path_slots::run(m)),
        undo: Some(path_slots::undo),
        ..ALWAYS
    },
];

/// First on Enzyme's output.
pub const AFTER_ENZYME: &[Pass] = &[
    Pass { name: "exit-slots", run: |m, _| exit_slots::run(m), ..ALWAYS },
    Pass { name: "drop-attributes", run: |m, _| infallible!(drop_attributes::run(m)), ..ALWAYS },
    Pass { name: "large-structs", run: |m, _| infallible!(large_structs::run(m)), ..ALWAYS },
    Pass {
        name: "quotient-tangents",
        // Without the marks the user's own quotients would be rewritten, too.
        when: |m, job| not_strict(m, job) && job.codegen.runs("mark-contract"),
        run: |m, _| quotient_tangents::run(m),
        ..ALWAYS
    },
];

/// On the derivative, before LLVM's pipeline.
pub const OPTIMIZE: &[Pass] = &[
    Pass {
        name: "derivative-arithmetic",
        // Without the marks the user's own operations would be reassociated, too.
        when: |_, job| contracts(job) && job.codegen.runs("mark-contract"),
        run: |m, _| infallible!(fast_math::relax_derivative(m)),
        ..ALWAYS
    },
    Pass { name: "sums", when: |_, job| contracts(job), run: |m, _| infallible!(fast_math::reorder_sums(m)), ..ALWAYS },
    Pass { name: "byte-flags", run: |m, _| infallible!(byte_flags::run(m)), ..ALWAYS },
    Pass { name: "dead-stores", run: |m, _| infallible!(dead_stores::eliminate_dead_stores(m)), ..ALWAYS },
    Pass { name: "split-scatters", run: |m, _| split_scatters::run(m), ..ALWAYS },
    Pass { name: "reverse-loops", run: |m, _| reverse_loop::run(m), ..ALWAYS },
    Pass { name: "scatter-to-gather", run: |m, _| scatter_to_gather::run(m), ..ALWAYS },
    Pass { name: "fuse-loops", run: |m, _| fuse_loops::run(m), ..ALWAYS },
    Pass { name: "zero-memory", run: |m, _| infallible!(zero_memory::run(m)), ..ALWAYS },
];

/// For the target machine, just before LLVM's pipeline; undone after it.
pub const TARGET: &[Pass] = &[
    Pass { name: "vector-math", when: not_strict, run: attach_vector_math, undo: Some(libmvec::undo), ..ALWAYS },
    Pass { name: "no-gathers", run: |m, _| infallible!(no_gathers::run(m)), ..ALWAYS },
    THREAD_ADDRESSES,
];

/// Also once more, when the arena's own variables are there.
pub const THREAD_ADDRESSES: Pass =
    Pass { name: "thread-addresses", run: |m, _| infallible!(thread_addresses::run(m)), ..ALWAYS };

/// The tables, in the order of running.
pub const STAGES: [&[Pass]; 5] = [PREPARE, BEFORE_ENZYME, AFTER_ENZYME, OPTIMIZE, TARGET];

/// Runs the passes of a stage.
pub fn run(passes: &[Pass], module: &Module<'_>, job: &Job<'_>) -> Result<()> {
    for pass in passes.iter().filter(|pass| job.codegen.runs(pass.name) && (pass.when)(module, job)) {
        crash_trace::step(pass.name);
        if pass.limited {
            job.skipped.add(pass.name, module);
        }
        (pass.run)(module, job)?;
    }
    Ok(())
}

/// Runs the undo functions of a stage, last pass first. On the derivative it is not known which passes have run.
pub fn undo(passes: &[Pass], module: &Module<'_>) {
    for pass in passes.iter().rev() {
        if let Some(undo) = pass.undo {
            crash_trace::step(pass.name);
            undo(module);
        }
    }
}

/// What comes first after Enzyme: [`AFTER_ENZYME`], then its markers and what was for it only disappear.
pub fn after_enzyme(module: &Module<'_>, job: &Job<'_>) -> Result<()> {
    run(AFTER_ENZYME, module, job)?;
    crash_trace::step("defining markers");
    markers::define_markers(module)?;
    undo(BEFORE_ENZYME, module);
    undo(PREPARE, module);
    sweeps::forget_paths(module);
    if iterations::any(module) {
        crash_trace::step("resolving iterations");
        iterations::resolve(module)?;
        pipelines::inline_marked(module)?;
    }
    Ok(())
}

/// Optimises the derivative: Enzyme does not know which results are dropped, and LLVM does not know that it is a derivative.
pub fn optimize(module: &Module<'_>, job: &Job<'_>) -> Result<()> {
    let (on_flags, on_code) = OPTIMIZE.split_at(2);
    run(on_flags, module, job)?;
    pipelines::clean_up(module)?;
    run(on_code, module, job)?;
    entry::undo(module);
    Ok(())
}

/// Runs one pass by its name, whatever its condition, on a file of textual IR; returns the result as text.
pub fn run_alone(name: &str, context: &Context, path: &Path) -> Result<String> {
    let pass = STAGES.into_iter().flatten().find(|pass| pass.name == name);
    let pass = pass.ok_or_else(|| format!("there is no pass `{name}`"))?;
    let text = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let buffer = MemoryBuffer::create_from_memory_range_copy(&text, name);
    let module = context.create_module_from_ir(buffer).map_err(|e| e.to_string())?;
    let codegen = CodeGen {
        math: Math::Contract,
        cpu: "x86-64".to_owned(),
        exceptions: false,
        launch: None,
        without: Vec::new(),
        constants: Vec::new(),
    };
    let entries = [Entry::Vjp, Entry::Jvp, Entry::Hvp];
    (pass.run)(&module, &Job { entries: &entries, ..Job::after_enzyme(&codegen) })?;
    module.verify().map_err(|e| format!("invalid IR after `{name}`: {}", e.to_string()))?;
    Ok(module.print_to_string().to_string())
}

/// Variables that a call changes begin anew in each, where no other thread knows them; others are filled once, without a derivative.
fn begin_statics(module: &Module<'_>, job: &Job<'_>) -> Result<()> {
    if job.one_thread {
        call_objects::run(module)?;
    }
    static_locals::run(module);
    Ok(())
}

/// Whether second derivatives are wanted.
pub fn second_order(_: &Module<'_>, job: &Job<'_>) -> bool {
    job.entries.iter().any(|e| matches!(e, Entry::Hvp | Entry::Jvp2))
}

/// Whether the types of memory are kept apart.
fn apart(_: &Module<'_>, job: &Job<'_>) -> bool {
    job.pipeline.is_some_and(Pipeline::is_apart)
}

fn not_strict(_: &Module<'_>, job: &Job<'_>) -> bool {
    job.codegen.math != Math::Strict
}

fn contracts(job: &Job<'_>) -> bool {
    job.codegen.math == Math::Contract
}

/// Enzyme reallocates in the reverse sweep memory that was freed, and refills it wrongly where allocatables are copied, or
/// where it is written through phis of pointers. Of an opaque address it does not know where the memory came from.
fn needs_longer_lifetimes(module: &Module<'_>, job: &Job<'_>) -> bool {
    let unseen = || phi_pointers::has_heap(module) || apart(module, job);
    let has_sweeps = !sweeps::functions(module).is_empty();
    has_sweeps
        || !job.parts_of_rules.is_empty()
        || job.copies_allocatables
        || job.arena && unseen() && arena::may_serve(module)
}

fn extend_lifetimes(module: &Module<'_>, job: &Job<'_>) -> Result<()> {
    let mut keeps = entry::roots(module, job.entries);
    if job.entries.iter().any(|e| matches!(e, Entry::Augmented | Entry::Reverse)) {
        // The two halves are two calls: the stack of the first one is gone in the second.
        keeps.retain(|f| f.get_name().to_bytes() != entry::WRAPPER.as_bytes());
    }
    let parts = [job.parts_of_rules, &sweeps::parts(module)].concat();
    lifetimes::extend(module, &keeps, &parts);
    Ok(())
}

/// Whether the derivatives are of the first order, and forward and reverse sweep are one function, run by one thread.
fn reverses_once(_: &Module<'_>, job: &Job<'_>) -> bool {
    let simple = job.entries.iter().all(|e| matches!(e, Entry::Vjp | Entry::Jvp | Entry::Primal));
    simple && job.entries.contains(&Entry::Vjp) && job.one_thread && job.pipeline == Some(Pipeline::Inlined)
}

fn run_sweeps(module: &Module<'_>, job: &Job<'_>) -> Result<()> {
    let none = CallPlan::default();
    let (plan, mask) = job.plan.unwrap_or((&none, 0));
    sweeps::run(module, entry::WRAPPER, plan, mask)
}

fn run_iterations(module: &Module<'_>, _: &Job<'_>) -> Result<()> {
    let wrapper = module.get_function(entry::WRAPPER).filter(|f| f.count_basic_blocks() > 0);
    let others = sweeps::functions(module).into_iter().map(|f| (f, true));
    iterations::run(module, &wrapper.into_iter().map(|f| (f, false)).chain(others).collect::<Vec<_>>())
}

fn attach_vector_math(module: &Module<'_>, job: &Job<'_>) -> Result<()> {
    let machine = target::target_machine(&job.codegen.cpu)?;
    libmvec::attach(module, &machine.get_feature_string().to_string_lossy());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::STAGES;
    use core_ad::passes::{PASSES, Stage};

    #[test]
    fn each_stage_runs_the_passes_of_the_table_in_its_order() {
        for (stage, passes) in Stage::ALL.into_iter().zip(STAGES) {
            let expected: Vec<&str> = PASSES.iter().filter(|p| p.stage == stage).map(|p| p.name).collect();
            let attached: Vec<&str> = passes.iter().map(|p| p.name).collect();
            assert_eq!(attached, expected, "{}", stage.text());
        }
    }
}
