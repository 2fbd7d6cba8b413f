//! The table of the worker's passes around Enzyme: what each is for, where it runs, which program needs it.
//!
//! It is data, so that options can be checked and documents generated without LLVM. The worker attaches the functions
//! (`core-ad/llvm/src/pipeline.rs`) and runs the passes of a stage in the order of this table. `ffgrad show --passes`
//! prints it, `ARCHITECTURE.md` contains it ([`markdown`]), and `without=[..]` accepts every name in it ([`PassName`]).

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// When passes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Before LLVM's pipeline that prepares the function for Enzyme.
    Prepare,
    /// Between that pipeline and Enzyme.
    BeforeEnzyme,
    /// First on Enzyme's output; after it the undo functions of the earlier stages run.
    AfterEnzyme,
    /// On the derivative, before LLVM's pipeline.
    Optimize,
    /// For the target machine, just before LLVM's pipeline.
    Target,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Stage; 5] =
        [Stage::Prepare, Stage::BeforeEnzyme, Stage::AfterEnzyme, Stage::Optimize, Stage::Target];

    /// The stage in words.
    pub const fn text(self) -> &'static str {
        match self {
            Stage::Prepare => "before LLVM's pipeline for Enzyme",
            Stage::BeforeEnzyme => "just before Enzyme",
            Stage::AfterEnzyme => "just after Enzyme",
            Stage::Optimize => "on the derivative",
            Stage::Target => "before LLVM's last pipeline",
        }
    }
}

/// What a pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Without it a gradient is wrong, or refused.
    Workaround {
        /// The issue of the project with the bug, where it is reported.
        upstream: Option<&'static str>,
    },
    /// It makes derivatives faster.
    Optimization,
    /// A check of derivatives in use relies on it.
    Check,
}

/// One pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassInfo {
    /// Name in `without=[..]`, crash reports and documents.
    pub name: &'static str,
    /// Earlier names, still accepted.
    pub aliases: &'static [&'static str],
    /// Source file, below `core-ad/llvm/src/`.
    pub file: &'static str,
    /// What it does and why.
    pub why: &'static str,
    /// What it is for.
    pub kind: Kind,
    /// A program that is wrong, refused or slow without it, below `tests/`.
    pub test: &'static str,
    /// Under which condition it runs.
    pub when: &'static str,
    /// Passes that must run earlier, where they are in the same stage.
    pub after: &'static [&'static str],
    /// When it runs.
    pub stage: Stage,
}

const WORKAROUND: PassInfo = PassInfo {
    name: "",
    aliases: &[],
    file: "",
    why: "",
    kind: Kind::Workaround { upstream: None },
    test: "",
    when: "always",
    after: &[],
    stage: Stage::BeforeEnzyme,
};

const OPTIMIZATION: PassInfo = PassInfo {
    kind: Kind::Optimization,
    test: "front_torch/test_improvements.py",
    stage: Stage::Optimize,
    ..WORKAROUND
};

/// The pass that lets the operations that Enzyme adds be reassociated.
pub const DERIVATIVE_ARITHMETIC: &str = "derivative-arithmetic";

/// The pass that counts paths.
pub const PATH_MAP: &str = "path-map";

/// Every pass, in the order of running.
pub const PASSES: [PassInfo; 87] = [
    PassInfo {
        name: "stable-tanh",
        file: "workarounds/stable_tanh.rs",
        why: "Enzyme's second derivative of tanh overflows; replaces tanh by a form with bounded terms",
        kind: Kind::Workaround { upstream: Some("EnzymeAD/Enzyme#2836") },
        test: "cases/enzyme_bugs/limited_tanh_generated.c",
        when: "second derivatives",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "shared-counts",
        file: "optimize/shared_counts.rs",
        why: "each copy of a `shared_ptr` has branches for programs of one thread and for the last owner, which Enzyme's analyses go through; leaves one path",
        test: "cases/enzyme_bugs/shared_owners.cpp",
        stage: Stage::Prepare,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "own-blas",
        file: "workarounds/own_blas.rs",
        why: "Enzyme takes a function for a routine of BLAS or LAPACK by its name, also where it has a body; gives such functions another name",
        test: "cases/fortran/blas_from_source.f",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "closed-functions",
        file: "workarounds/closed_functions.rs",
        why: "Enzyme fails on memory that is read as numbers and as integers; makes functions inactive that keep such memory, of constants, to themselves",
        test: "cases/fortran/machine_constants.f",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "text-functions",
        file: "workarounds/text_functions.rs",
        why: "Enzyme refuses copies of text, of unknown type; makes Fortran procedures inactive that make or print text and hold no floating-point value",
        test: "cases/fortran/error_texts.f",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "static-locals",
        file: "lowering/static_locals.rs",
        why: "Enzyme fills the shadow of a static variable in the first call only, and later calls read memory that is gone; makes its initialisation inactive, or, where the function changes the variable, has it begin anew in each call",
        test: "cases/cpp/kept_objects.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "container-counts",
        file: "workarounds/container_counts.rs",
        why: "Enzyme refuses nodes of numbers in a list or tree whose header has a count at the same offset; hides the count from it",
        test: "cases/enzyme_bugs/linked_containers.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "union-members",
        file: "workarounds/union_members.rs",
        why: "Enzyme refuses nodes with a union of a structure of integers and one of numbers; hides these integers from it",
        test: "cases/enzyme_bugs/union_nodes.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "tagged-copies",
        file: "workarounds/tagged_copies.rs",
        why: "in the pipeline `apart`: Enzyme copies a union of a number and an address as one of them; copies words by what their bits say",
        test: "cases/enzyme_bugs/tagged_copies.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "tree-erase",
        file: "workarounds/tree_erase.rs",
        why: "Enzyme inserts a node into the shadow of a std::map or std::set too, but knows no erasing; has it take one for the other",
        test: "cases/enzyme_bugs/linked_containers.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "member-copies",
        file: "workarounds/member_copies.rs",
        why: "LLVM drops the types of copied structures, which Enzyme then takes for all numbers or for none; copies member by member",
        test: "cases/enzyme_bugs/record_members.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "copy-elements",
        file: "workarounds/copy_types.rs",
        why: "Enzyme refuses copies of unknown type that the C++ library makes; notes the type that the function's name has for copy-types",
        test: "cases/enzyme_bugs/merged_indices.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "lower-exceptions",
        file: "lowering/caught/mod.rs",
        why: "Enzyme drops the handlers of exceptions, and asks for derivatives of error messages; makes branches and inactive functions",
        test: "cases/exceptions/caught_number.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "written-globals",
        file: "workarounds/written_globals.rs",
        why: "Enzyme keeps shadows of globals from call to call, and takes functions that only read them for constant; makes them local",
        test: "cases/enzyme_bugs/callback_parameter.c",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "variable-types",
        file: "workarounds/variable_types.rs",
        why: "Enzyme refuses memset of unknown type, which LLVM makes of loops over Fortran arrays: flang's tags name variables; adds their types",
        test: "cases/fortran/cleared_rows.f",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "copy-sizes",
        file: "workarounds/struct_copies.rs",
        why: "LLVM makes a difference of addresses of `n * sizeof(structure)`, the length of a copy: notes the size for struct-copies",
        test: "cases/enzyme_bugs/records.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "zero-stores",
        file: "workarounds/zero_stores.rs",
        why: "Enzyme refuses a memset that LLVM made of stores of integers and pointers which nothing reads; keeps them stores",
        test: "cases/enzyme_bugs/zeroed_members.cpp",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "keep-loops",
        file: "workarounds/keep_loops.rs",
        why: "Enzyme refuses memset and memcpy of unknown type, which LLVM makes of loops over Fortran arrays; keeps the loops",
        test: "cases/fortran/work_array.f",
        when: "Fortran, pipeline `apart`",
        stage: Stage::Prepare,
        ..WORKAROUND
    },
    PassInfo {
        name: "defer-inlining",
        aliases: &["held-calls"],
        file: "optimize/keep_calls.rs",
        why: "keeps small functions that call exp and its like as calls: Enzyme caches their results instead of recomputing",
        when: "pipeline `inlined`",
        stage: Stage::Prepare,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "sole-calls",
        file: "optimize/sole_calls.rs",
        why: "has a large function inlined where its only call is: as a function of its own it hands thousands of values to the reverse sweep in one structure",
        when: "the call is in no loop",
        stage: Stage::Prepare,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "borders",
        file: "optimize/borders.rs",
        why: "takes the cases at the borders out of the loops of stencils, so that their derivatives vectorise",
        when: "pipeline `inlined`, reverse and forward mode; not for kernels, MPI, and parallel regions that threads share",
        stage: Stage::BeforeEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "sweeps",
        file: "lowering/sweeps/mod.rs",
        why: "keeps what a loop nest in a time loop reads, instead of what it computes, and runs it again just before its reverse",
        when: "pipeline `inlined`, reverse and forward mode; not for kernels, MPI, and parallel regions that threads share",
        stage: Stage::BeforeEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "container-headers",
        file: "workarounds/container_headers.rs",
        why: "Enzyme refuses an object of a list or tree and another member, for nodes lead to it; hides the header's address in a call",
        test: "cases/enzyme_bugs/tree_and_vector.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "cleared-members",
        file: "workarounds/cleared_members.rs",
        why: "Enzyme refuses a memset that LLVM made of the zeros in a copied structure which nothing reads; stores them",
        test: "real/programs/eigen_attention.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "two-entries",
        file: "workarounds/two_entries.rs",
        why: "Enzyme's reverse pass of a loop with several entries never ends; leads them through one block",
        test: "cases/enzyme_bugs/jump_into_loop.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "recursive-destructors",
        file: "workarounds/recursive_destructors.rs",
        why: "Enzyme crashes on destructors that call one another in a circle; leaves the memory to the arena",
        test: "cases/enzyme_bugs/nested_owners.cpp",
        when: "with the arena",
        ..WORKAROUND
    },
    PassInfo {
        name: "dynamic-arrays",
        file: "workarounds/dynamic_arrays.rs",
        why: "Enzyme crashes on loads from local arrays in loops whose length is not known; allocates them on the heap",
        test: "cases/enzyme_bugs/scratch_of_rows.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "large-arrays",
        file: "workarounds/large_arrays.rs",
        why: "Enzyme's type analysis takes minutes for large local arrays, of which it knows each element; allocates them on the heap, of a size that it does not know",
        test: "front_numpy/test_numpy_large_locals.py",
        after: &["dynamic-arrays"],
        ..WORKAROUND
    },
    PassInfo {
        name: "wide-counters",
        file: "workarounds/wide_counters.rs",
        why: "Enzyme crashes on loops that integers of more than 64 bits count; hides their comparisons",
        test: "cases/enzyme_bugs/wide_counters.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "nan-roots",
        file: "workarounds/nan_roots.rs",
        why: "Enzyme's derivative of sqrt is 0 where the argument is NaN; makes its comparison with zero an ordered one",
        test: "front_numpy/test_numpy_nan.py",
        ..WORKAROUND
    },
    PassInfo {
        name: "bit-tests",
        file: "workarounds/bit_tests.rs",
        why: "Enzyme refuses integer arithmetic with the bits of numbers that are only compared (signs); makes taking them inactive",
        test: "cases/enzyme_bugs/sign_bits.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "pointer-counts",
        file: "workarounds/pointer_counts.rs",
        why: "Enzyme makes invalid phis of trip counts that LLVM computes from addresses; gives such loops a counter",
        when: "second derivatives, in all pipelines but `inlined`",
        test: "cases/enzyme_bugs/address_loop.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "pointer-differences",
        file: "workarounds/pointer_differences.rs",
        why: "Enzyme refuses sums of addresses, which LLVM makes of distances; takes distances by a function",
        test: "cases/enzyme_bugs/resized_views.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "integer-arithmetic",
        file: "workarounds/integer_arithmetic.rs",
        why: "Enzyme refuses sums of integers that come from constants through memory, which may be bits of numbers, words with bit-fields, and compare-and-exchange; says that they are integers, and exchanges in a function",
        test: "cases/fortran/status_sums.f90",
        ..WORKAROUND
    },
    PassInfo {
        name: "reallocations",
        file: "workarounds/reallocations.rs",
        why: "in the pipeline `apart`: Enzyme refuses `realloc` of a block whose address comes from memory; allocates, copies and releases",
        test: "real/programs/eigen_groundwater.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "mixed-words",
        file: "workarounds/mixed_words.rs",
        why: "in the pipeline `apart`: Enzyme has one type for a word of memory that holds a number, then an address; hides the addresses of its numbers",
        test: "cases/enzyme_bugs/tagged_values.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "opaque-addresses",
        file: "workarounds/opaque_addresses.rs",
        why: "in the pipeline `apart`: Enzyme has one type for all memory that an address may lead to; passes addresses in memory through a function",
        test: "cases/enzyme_bugs/list_sort.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "opaque-objects",
        file: "workarounds/opaque_objects.rs",
        why: "Enzyme has one type for the objects of all classes that a pointer may lead to; passes their addresses through a function",
        test: "cases/enzyme_bugs/classes.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "struct-copies",
        file: "workarounds/struct_copies.rs",
        why: "Enzyme takes a copy of structures whose length is not constant for one of the first member's type; copies one by one",
        test: "cases/enzyme_bugs/records.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "overlapping-moves",
        file: "workarounds/overlapping_moves.rs",
        why: "Enzyme takes the adjoint of memcpy for that of memmove, which is wrong where the destination overlaps from below; defines one that is right",
        test: "cases/enzyme_bugs/queue_front.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "expand-shared-memcpy",
        file: "lowering/openmp/shared_memcpy.rs",
        why: "Enzyme's adjoint of memcpy from memory that threads share is not atomic; expands it into a loop",
        test: "cases/openmp/openmp_firstlast.c",
        when: "parallel regions that threads share",
        ..WORKAROUND
    },
    PassInfo {
        name: "extend-lifetimes",
        file: "rules/lifetimes.rs",
        why: "Enzyme frees memory that the reverse sweep needs, or refills it wrongly; frees it when the entry point returns",
        test: "cases/rules/rule_recursion.c",
        when: "custom derivatives, copied allocatables, or heap memory written through phis of pointers (with the arena)",
        ..WORKAROUND
    },
    PassInfo {
        name: "inactive-globals",
        file: "workarounds/inactive_globals.rs",
        why: "Enzyme gives globals that are never written a shadow of zeros, a null pointer where they own memory; marks them inactive",
        test: "cases/enzyme_bugs/shared_tables.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "mixed-activity",
        file: "workarounds/mixed_activity.rs",
        why: "Enzyme makes a constant its own shadow in memory with derivatives, and adds adjoints to it; asks for runtime activity",
        test: "cases/enzyme_bugs/mixed_struct.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "opaque-tables",
        file: "workarounds/opaque_tables.rs",
        why: "Enzyme's type analysis does not end on a tree or list whose header is in a global; passes the global's address through a function",
        test: "cases/enzyme_bugs/named_rates.cpp",
        // What is inactive stays so; what asks for runtime activity looks at the address itself.
        after: &["inactive-globals", "mixed-activity"],
        ..WORKAROUND
    },
    PassInfo {
        name: "copy-types",
        file: "workarounds/copy_types.rs",
        why: "Enzyme takes copies of unknown type for copies of pointers, and drops adjoints; marks copies with their type",
        test: "cases/enzyme_bugs/vector_stack.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "wrap-stack-arrays",
        file: "workarounds/stack_array_cache.rs",
        why: "Enzyme uses one cached copy of a stack array for several loops with writes in between; wraps it in a structure",
        test: "cases/enzyme_bugs/rows_on_stack_generated.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "moving-addresses",
        file: "workarounds/moving_addresses.rs",
        why: "Enzyme crashes on the shadow of an address that a loop moves on some paths by steps it reads; makes the steps an offset",
        test: "cases/enzyme_bugs/strided_iterator.cpp",
        ..WORKAROUND
    },
    PassInfo {
        name: "activate-phi-memory",
        file: "workarounds/phi_pointers.rs",
        why: "Enzyme takes local memory that is written through a phi of pointers for its own shadow; marks it active",
        test: "cases/enzyme_bugs/merged_stores_generated.c",
        // The wrapped array is a new instruction without the mark.
        after: &["wrap-stack-arrays"],
        ..WORKAROUND
    },
    PassInfo {
        name: "split-select-loads",
        file: "workarounds/split_select_loads.rs",
        why: "Enzyme mishandles loads through a select of an active and an inactive pointer; makes them guarded loads",
        test: "cases/enzyme_bugs/chosen_array.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "outline-memcpy",
        file: "workarounds/outline_memcpy.rs",
        why: "Enzyme moves memcpy of what a call has written past its uses; outlines it",
        test: "cases/enzyme_bugs/copied_results_generated.c",
        // In a call the address of a global counts as written.
        after: &["inactive-globals"],
        ..WORKAROUND
    },
    PassInfo {
        name: "compared-arguments",
        file: "workarounds/compared_arguments.rs",
        why: "Enzyme passes an undefined address for what is only written, and runtime activity compares it with its shadow; adds a read",
        test: "cases/enzyme_bugs/status_outputs.c",
        // Copies are functions by then, which have arguments, too.
        after: &["mixed-activity", "outline-memcpy"],
        ..WORKAROUND
    },
    PassInfo {
        name: "undefined-phis",
        file: "workarounds/undefined_phis.rs",
        why: "Enzyme ignores undefined operands of phis, and takes a value of an earlier iteration for that of the present one; makes them zero",
        test: "cases/enzyme_bugs/interval_splits.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "split-switch-edges",
        file: "workarounds/split_switch_edges.rs",
        why: "Enzyme adds an adjoint once for each switch edge between two blocks; splits the edges",
        test: "cases/enzyme_bugs/empty_switch_cases_generated.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "pair-predecessors",
        file: "workarounds/three_predecessors.rs",
        why: "Enzyme reads an uninitialised branch condition to distinguish three predecessors; merges two of them",
        test: "cases/enzyme_bugs/skipped_break_generated.c",
        after: &["split-switch-edges"],
        ..WORKAROUND
    },
    PassInfo {
        name: "opaque-latch",
        file: "workarounds/opaque_latch.rs",
        why: "Enzyme does not store the trip count of an inner loop whose `break` alone ends the outer loop; adds a switch",
        test: "cases/enzyme_bugs/last_break.c",
        after: &["pair-predecessors"],
        ..WORKAROUND
    },
    PassInfo {
        name: "exit-values",
        file: "workarounds/exit_values.rs",
        why: "Enzyme recomputes values behind nested loops with the trip count of iteration 0; hides them in a call, where values decide the path",
        test: "cases/enzyme_bugs/quick_one_recursion.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "loop-carried",
        file: "workarounds/loop_carried.rs",
        why: "Enzyme differentiates only the last update of a loop-carried select or quotient; subtracts an opaque zero",
        test: "cases/enzyme_bugs/loop_carried.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "lagged-phi",
        file: "workarounds/lagged_phi.rs",
        why: "Enzyme recomputes first-order recurrences of inner loops with an undefined outer iteration; hides them in a call",
        test: "cases/enzyme_bugs/lagged_phi.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "merged-values",
        file: "workarounds/merged_values.rs",
        why: "Enzyme recomputes values of branches one after another in exponential time; passes some through an identity function",
        test: "cases/enzyme_bugs/many_branches.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "keep-results",
        file: "optimize/keep_results.rs",
        why: "keeps what exp and its like return where deeper loops use it: Enzyme would call them again in the reverse pass of each of these",
        when: "pipeline `inlined`",
        stage: Stage::BeforeEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "keep-rolled",
        file: "workarounds/keep_rolled.rs",
        why: "Enzyme shares caches of loads with equal SCEVs, which unrolled inner loops of two nests leave; keeps them from being unrolled before it",
        test: "cases/enzyme_bugs/sums_of_nests.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "distinct-addresses",
        file: "workarounds/distinct_addresses.rs",
        why: "Enzyme shares caches of loads with equal SCEVs in different loops, and misses later writes; adds opaque offsets",
        test: "cases/enzyme_bugs/equal_addresses_generated.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "cross-iteration",
        file: "workarounds/cross_iteration.rs",
        why: "Enzyme takes alias answers for one iteration for all, and does not cache loads; adds opaque offsets",
        test: "cases/enzyme_bugs/slots.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "sibling-addresses",
        file: "workarounds/sibling_addresses.rs",
        why: "Enzyme subtracts recurrences of loops of which none dominates the other, an assertion of LLVM; hides their addresses from scalar evolution",
        kind: Kind::Workaround { upstream: Some("EnzymeAD/Enzyme#3043") },
        test: "cases/enzyme_bugs/loops_of_branches.c",
        // These read addresses as they are.
        after: &["distinct-addresses", "cross-iteration"],
        ..WORKAROUND
    },
    PassInfo {
        name: "distant-exits",
        file: "workarounds/distant_exits.rs",
        why: "Enzyme follows every path from a `break` to the loop's header, exponentially many; leads the exit through the latch",
        test: "cases/enzyme_bugs/early_break.c",
        ..WORKAROUND
    },
    PassInfo {
        name: "capture-phi-memory",
        file: "workarounds/phi_pointers.rs",
        why: "Enzyme takes a phi of pointers for an object of its own and misses writes; marks its objects as captured",
        test: "cases/enzyme_bugs/phi_pointer_generated.c",
        // Captured memory escapes: `distinct-addresses` would see more clashes.
        after: &["distinct-addresses"],
        ..WORKAROUND
    },
    PassInfo {
        name: "mark-contract",
        file: "optimize/fast_math.rs",
        why: "marks the user's operations `contract`, which distinguishes them from those that Enzyme adds",
        when: "math is not `strict`",
        stage: Stage::BeforeEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: PATH_MAP,
        file: "lowering/path_map.rs",
        why: "counts the branches that the forward sweep takes where values decide, so that a gradient on a path without a check is verified",
        kind: Kind::Check,
        test: "front_torch/test_paths.py",
        when: "values decide the path; not for kernels, MPI, and parallel regions that threads share",
        // What the others find in the code stays as it was.
        after: &["capture-phi-memory", "mark-contract"],
        ..WORKAROUND
    },
    PassInfo {
        name: "iterations",
        file: "optimize/iterations.rs",
        why: "reverses independent iterations one by one where Enzyme would keep much of each: they are functions that are run again just before their reverse",
        when: "pipeline `inlined`, reverse and forward mode; not for kernels, MPI, and parallel regions that threads share",
        // The last one: Enzyme has to see all accesses of the function marked.
        after: &[PATH_MAP],
        stage: Stage::BeforeEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "path-slots",
        file: "optimize/path_slots.rs",
        why: "has the markers of paths be volatile stores for Enzyme, which spends up to half of its time on calls that may write memory",
        when: "where values decide paths",
        after: &[PATH_MAP, "iterations"],
        stage: Stage::BeforeEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "exit-slots",
        file: "optimize/exit_slots.rs",
        why: "what a large derivative keeps for its end becomes a phi at each merge of the paths there, thousands in a block; leaves it in memory, and promotes the rest",
        test: "cases/memory/large_tape.c",
        stage: Stage::AfterEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "drop-attributes",
        file: "workarounds/drop_attributes.rs",
        why: "Enzyme claims too much of its caches (align, nonnull, invariant.group); drops the claims",
        test: "cases/enzyme_bugs/null_cache_generated.c",
        stage: Stage::AfterEnzyme,
        ..WORKAROUND
    },
    PassInfo {
        name: "large-structs",
        file: "optimize/large_structs.rs",
        why: "a tape of hundreds of numbers that is returned as a value becomes as many instructions each time; keeps it in memory",
        test: "cases/memory/large_tape.c",
        stage: Stage::AfterEnzyme,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "quotient-tangents",
        file: "workarounds/quotient_tangents.rs",
        why: "Enzyme's tangent of a quotient has the square of the denominator, which underflows; divides twice instead",
        test: "cases/enzyme_bugs/backward_recurrence.c",
        when: "math is not `strict`, after mark-contract",
        stage: Stage::AfterEnzyme,
        ..WORKAROUND
    },
    PassInfo {
        name: DERIVATIVE_ARITHMETIC,
        file: "optimize/fast_math.rs",
        why: "lets the operations that Enzyme adds be reassociated and use reciprocals, so `x + 0.0` goes and sums vectorise",
        when: "math is `contract`, after mark-contract",
        ..OPTIMIZATION
    },
    PassInfo {
        name: "sums",
        file: "optimize/fast_math.rs",
        why: "lets plain sums of innermost loops, recomputed by the derivative, be added in any order",
        when: "math is `contract`",
        ..OPTIMIZATION
    },
    PassInfo {
        name: "byte-flags",
        file: "optimize/byte_flags.rs",
        why: "conditions that Enzyme keeps are stored as bytes: LLVM does not vectorise loops with accesses of single bits",
        ..OPTIMIZATION
    },
    PassInfo {
        name: "dead-stores",
        aliases: &["dead-memory"],
        file: "optimize/dead_stores.rs",
        why: "drops the forward sweep's stores to memory that the caller drops, where only further such stores depend on them",
        when: "reverse mode",
        ..OPTIMIZATION
    },
    PassInfo {
        name: "split-scatters",
        file: "optimize/split_scatters.rs",
        why: "an adjoint loop that adds to several rows of an array becomes one for each row, which vectorise",
        ..OPTIMIZATION
    },
    PassInfo {
        name: "reverse-loops",
        aliases: &["forward-loops"],
        file: "optimize/reverse_loop.rs",
        why: "inner adjoint loops that count down count up, where iterations may run in any order",
        ..OPTIMIZATION
    },
    PassInfo {
        name: "scatter-to-gather",
        aliases: &["stencil"],
        file: "optimize/scatter_to_gather.rs",
        why: "scattering adjoint loops of stencils gather with loop-carried values, and vectorise",
        after: &["reverse-loops"],
        ..OPTIMIZATION
    },
    PassInfo {
        name: "fuse-loops",
        file: "optimize/fuse_loops/mod.rs",
        why: "the adjoint loops of a step and of the copy back of its result become one, without the memory between them",
        after: &["scatter-to-gather"],
        ..OPTIMIZATION
    },
    PassInfo {
        name: "zero-memory",
        file: "optimize/zero_memory.rs",
        why: "memory that only zeros are stored to reads as zero: shadows that are zero again whenever they are read",
        after: &["fuse-loops"],
        ..OPTIMIZATION
    },
    PassInfo {
        name: "vector-math",
        aliases: &["vector-maths"],
        file: "optimize/libmvec.rs",
        why: "loops call glibc's vector functions (libmvec)",
        when: "math is not `strict`",
        stage: Stage::Target,
        ..OPTIMIZATION
    },
    PassInfo {
        name: "no-gathers",
        file: "workarounds/no_gathers.rs",
        why: "LLVM 22 reorders vector gathers with stores, and gathers from poison; forbids them",
        test: "cases/enzyme_bugs/stores_below_gather_generated.c",
        when: "x86-64; needed with AVX-512",
        stage: Stage::Target,
        ..WORKAROUND
    },
    PassInfo {
        name: "thread-addresses",
        file: "workarounds/thread_addresses.rs",
        why: "LLVM 22 believes that the address of a thread-local variable is found without the vector registers 16 to 31; finds it in a function of its own",
        test: "cases/enzyme_bugs/first_use_of_thread_local.c",
        when: "with AVX-512",
        stage: Stage::Target,
        ..WORKAROUND
    },
];

/// The pass with a name, or with an alias.
pub fn find(name: &str) -> Option<&'static PassInfo> {
    static ALL: [PassInfo; PASSES.len()] = PASSES;
    ALL.iter().find(|pass| pass.name == name || pass.aliases.contains(&name))
}

/// The name of a pass of the table. Read from text, aliases become the name that holds today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassName(&'static str);

impl PassName {
    /// The pass with this name or alias.
    pub fn of(name: &str) -> Option<PassName> {
        find(name).map(|pass| PassName(pass.name))
    }

    /// As text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for PassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for PassName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for PassName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        PassName::of(&name).ok_or_else(|| {
            let names: Vec<String> = PASSES.iter().map(|pass| format!("`{}`", pass.name)).collect();
            D::Error::custom(format!("unknown variant `{name}`, expected one of {}", names.join(", ")))
        })
    }
}

/// The tables of `ARCHITECTURE.md`, by name.
pub const TABLES: [&str; 3] = ["workarounds", "optimizations", "checks"];

/// A table as `ARCHITECTURE.md` has it: the passes of one kind.
pub fn markdown(table: &str) -> String {
    let mut text = match table {
        "workarounds" => "| pass | file | why | upstream | program | when |\n|---|---|---|---|---|---|\n".to_owned(),
        _ => "| pass | file | what it does | when |\n|---|---|---|---|\n".to_owned(),
    };
    for pass in &PASSES {
        let (name, file, why, test, when) = (pass.name, pass.file, pass.why, pass.test, pass.when);
        text += &match (pass.kind, table) {
            (Kind::Workaround { upstream }, "workarounds") => {
                format!(
                    "| `{name}` | `{file}` | {why} | {} | `{test}` | {when} |\n",
                    upstream.unwrap_or("not reported")
                )
            }
            (Kind::Optimization, "optimizations") | (Kind::Check, "checks") => {
                format!("| `{name}` | `{file}` | {why} | {when} |\n")
            }
            _ => continue,
        };
    }
    text
}

/// The table for a terminal, by stage.
pub fn text() -> String {
    let mut text = String::new();
    for stage in Stage::ALL {
        text += &format!("{}:\n", stage.text());
        for pass in PASSES.iter().filter(|pass| pass.stage == stage) {
            text += &format!("  {}\n      {}\n      runs: {}\n", pass.name, pass.why, pass.when);
            if let Kind::Workaround { upstream } = pass.kind {
                text += &format!("      upstream: {}\n", upstream.unwrap_or("not reported"));
            }
            text += &format!("      file: core-ad/llvm/src/{}, test: tests/{}\n", pass.file, pass.test);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::path::Path;

    #[test]
    fn names_and_aliases_are_unique_and_in_kebab_case() {
        let mut seen = HashSet::new();
        for name in PASSES.iter().flat_map(|p| std::iter::once(&p.name).chain(p.aliases)) {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            assert!(seen.insert(name), "two passes are named {name}");
        }
    }

    #[test]
    fn stages_come_in_order_and_passes_after_those_that_they_need() {
        assert!(PASSES.is_sorted_by_key(|p| p.stage));
        for (i, pass) in PASSES.iter().enumerate() {
            for earlier in pass.after {
                let place = PASSES.iter().position(|p| p.name == *earlier);
                assert!(place.is_some_and(|place| place < i), "{} is not after {earlier}", pass.name);
            }
        }
    }

    #[test]
    fn files_and_programs_of_the_table_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for pass in &PASSES {
            assert!(root.join("llvm/src").join(pass.file).is_file(), "{}: no {}", pass.name, pass.file);
            assert!(root.join("../tests").join(pass.test).is_file(), "{}: no {}", pass.name, pass.test);
        }
    }

    #[test]
    fn old_names_mean_the_same_pass() {
        let read = |text: &str| serde_json::from_str::<PassName>(text).map(PassName::as_str).map_err(|e| e.to_string());
        for (old, new) in [
            ("held-calls", "defer-inlining"),
            ("dead-memory", "dead-stores"),
            ("stencil", "scatter-to-gather"),
            ("forward-loops", "reverse-loops"),
            ("vector-maths", "vector-math"),
        ] {
            assert_eq!(read(&format!("\"{old}\"")), Ok(new));
            assert_eq!(read(&format!("\"{new}\"")), Ok(new));
        }
        assert!(
            read("\"inlining\"")
                .is_err_and(|e| e.contains("unknown variant `inlining`, expected one of `stable-tanh`"))
        );
    }

    /// `FFGRAD_BLESS=1 cargo test -p core-ad passes` writes the tables into `ARCHITECTURE.md`.
    #[test]
    fn the_architecture_has_these_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
        let there = std::fs::read_to_string(&path).expect("the document can be read");
        let mut made = there.clone();
        for name in TABLES {
            let (begin, end) = (format!("<!-- passes: {name} -->\n"), format!("<!-- end of passes: {name} -->"));
            let start = made.find(&begin).expect("the document marks the beginning of the table") + begin.len();
            let stop = start + made[start..].find(&end).expect("the document marks the end of the table");
            made.replace_range(start..stop, &markdown(name));
        }
        if std::env::var_os("FFGRAD_BLESS").is_some() {
            std::fs::write(&path, &made).expect("the document can be written");
        } else {
            assert!(there == made, "ARCHITECTURE.md is not up to date: run this test with FFGRAD_BLESS=1");
        }
    }
}
