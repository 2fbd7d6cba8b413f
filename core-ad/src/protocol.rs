//! The protocol between the driver and the worker `ffgrad-llvm`: one JSON object a line.
//!
//! The driver writes a [`Request`] on the worker's standard input and reads one [`Response`] from its
//! standard output. Modules travel as files in the build's staging folder, so that a failed build
//! leaves every stage behind for a look.

use crate::diagnostics::{Diagnosis, Location};
use crate::manifest::Paths;
use crate::passes::PassName;
use crate::{CallPlan, Prototype};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An entry point of an artifact. All have the C ABI `int32_t entry(void *const *args)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// The function itself.
    Primal,
    /// Vector-Jacobian product; runs the function again. Shadows of inputs are added to.
    Vjp,
    /// Jacobian-vector product. Shadows of outputs are written.
    Jvp,
    /// Derivative of [`Entry::Vjp`] along a direction (forward over reverse).
    Hvp,
    /// Derivative of [`Entry::Jvp`] along a direction (forward over forward).
    Jvp2,
    /// The function itself, keeping on a tape what [`Entry::Reverse`] needs.
    Augmented,
    /// Vector-Jacobian product from a tape; uses it up.
    Reverse,
}

impl Entry {
    /// The exported symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            Entry::Primal => "ffgrad_primal",
            Entry::Vjp => "ffgrad_vjp",
            Entry::Jvp => "ffgrad_jvp",
            Entry::Hvp => "ffgrad_hvp",
            Entry::Jvp2 => "ffgrad_jvp2",
            Entry::Augmented => "ffgrad_augmented",
            Entry::Reverse => "ffgrad_reverse",
        }
    }
}

/// Result codes of an entry point.
pub mod status {
    /// All went well.
    pub const OK: i32 = 0;
    /// A C++ exception left the foreign function.
    pub const EXCEPTION: i32 = 1;
}

/// Releases a tape that [`Entry::Augmented`] made, used or not: `void ffgrad_tape_drop(void *tape)`.
pub const TAPE_DROP: &str = "ffgrad_tape_drop";

/// Bytes that a tape holds: `size_t ffgrad_tape_bytes(void *tape)`.
pub const TAPE_BYTES: &str = "ffgrad_tape_bytes";

/// A variable of a derivative that has checks of the function's: what it calls where one fails, `void (*)(void)`; null at first.
pub const FAILED_CHECK: &str = "ffgrad_on_failed_check";

/// Makes the calling thread's arena usable after an entry point crashed; not 0 where memory was short: `int32_t ffgrad_after_crash(void)`.
pub const AFTER_CRASH: &str = "ffgrad_after_crash";

/// What the last reverse sweep of a checkpointed loop did: `void ffgrad_checkpoint_report(int64_t to[7])`, with steps (0 before the
/// first one), snapshots, steps run forward, bytes of a state, bytes at peak, nanoseconds, and when it ended.
pub const CHECKPOINT_REPORT: &str = "ffgrad_checkpoint_report";

/// Where an artifact that notes lines keeps the last one before an access of memory: `struct { uint32_t line; char file[]; } const *`.
pub const ACCESS: &str = "ffgrad_access";

/// Where the calling thread's path map is, see `PathMap`: `uint32_t *ffgrad_path_map(uint64_t *length)`. The last counter is a flag: the call took an
/// edge that a single value takes.
pub const PATH_MAP: &str = "ffgrad_path_map";

/// What the program in a solver's place calls where the solver has not solved: `void ffgrad_unsolved(long solver, long unknown, double step,
/// double value)`.
pub const UNSOLVED: &str = "ffgrad_unsolved";

/// The number of a library's solver in such a report (`compile-driver/rules/include/ffgrad/rules/values.h`).
pub const SOLVER_OF_A_LIBRARY: i64 = -1;

/// Where that is kept, for the calling thread or for the threads of teams: `Unsolved *ffgrad_unsolved_note(int32_t of_others)`.
pub const UNSOLVED_NOTE: &str = "ffgrad_unsolved_note";

/// A report of a solver that has not solved.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unsolved {
    /// Not 0 while a call is under way on this thread; set by the caller.
    pub listening: i32,
    /// Reports since the caller set it to 0.
    pub reports: u32,
    /// The number of the solver, [`Equation::number`].
    pub solver: i64,
    /// The unknown, from 0; -1: the Jacobian is singular.
    pub unknown: i64,
    /// The Newton step from the solution; of a singular Jacobian its condition number.
    pub step: f64,
    /// The unknown's value.
    pub value: f64,
}

/// A constant that an artifact exports where its derivatives may need a large stack: they recurse, or have large arrays in a frame.
pub const LARGE_STACK: &str = "ffgrad_large_stack";

/// Bytes of the message buffer whose address follows the last argument slot of every entry point. What a
/// C++ exception's message is written there, zero-terminated. [`Entry::Augmented`] and [`Entry::Reverse`] have one slot more after it, for the tape.
pub const MESSAGE_BYTES: usize = 512;

/// The LLVM passes before differentiation; pipelines are tried in order until one passes verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pipeline {
    /// Everything inlined that is worth it, then `-O1`, before differentiation.
    Inlined,
    /// `-O1` before differentiation.
    O1,
    /// `-O2` before differentiation.
    O2,
    /// `-O1`, then every loop outlined into a function that is not inlined again.
    Outlined,
    /// `-O1`, with element types from the debug information at every load and store of a parameter.
    Typed,
    /// A few passes that keep the types of memory, with all addresses in memory opaque to type analysis.
    Apart,
    /// As [`Pipeline::Inlined`]; roots and quotients that are not chosen are computed at an argument where they are finite. Tried where a
    /// derivative is not finite though the value is.
    Guarded,
    /// As [`Pipeline::Inlined`]; numbers that are tested for equality count as unequal. Tried where a derivative at a value that the function treats by
    /// itself is not the function's.
    Generic,
    /// [`Pipeline::Guarded`] for functions that only [`Pipeline::Apart`] prepares well.
    #[serde(rename = "guarded-apart")]
    GuardedApart,
    /// [`Pipeline::Generic`] for functions that only [`Pipeline::Apart`] prepares well.
    #[serde(rename = "generic-apart")]
    GenericApart,
    /// `-O1`, with one thread doing the work of all; for OpenMP programs only.
    Serial,
    /// `-O1`, with Enzyme guessing types; only together with a passed check and a warning.
    Loose,
}

impl Pipeline {
    /// Every pipeline, in the order in which they are tried.
    pub const ALL: [Pipeline; 12] = [
        Pipeline::Inlined,
        Pipeline::O1,
        Pipeline::O2,
        Pipeline::Outlined,
        Pipeline::Typed,
        Pipeline::Apart,
        Pipeline::Guarded,
        Pipeline::Generic,
        Pipeline::GuardedApart,
        Pipeline::GenericApart,
        Pipeline::Serial,
        Pipeline::Loose,
    ];

    /// Whether the operations that Enzyme adds keep their order: what other pipelines get wrong, or not finite, may be due to an order in which a
    /// product under- or overflows.
    pub const fn keeps_order(self) -> bool {
        self.is_guarded() || matches!(self, Pipeline::Typed)
    }

    /// Whether the types of memory are kept apart.
    pub const fn is_apart(self) -> bool {
        matches!(self, Pipeline::Apart | Pipeline::GuardedApart | Pipeline::GenericApart)
    }

    /// Whether roots and quotients that are not chosen are computed where they are finite.
    pub const fn is_guarded(self) -> bool {
        matches!(self, Pipeline::Guarded | Pipeline::GuardedApart)
    }

    /// Whether numbers that are tested for equality count as unequal.
    pub const fn is_generic(self) -> bool {
        matches!(self, Pipeline::Generic | Pipeline::GenericApart)
    }

    /// The guarded pipeline that otherwise prepares a function as this one does.
    pub const fn guarded(self) -> Pipeline {
        if self.is_apart() { Pipeline::GuardedApart } else { Pipeline::Guarded }
    }

    /// The pipeline for special values that otherwise prepares a function as this one does.
    pub const fn generic(self) -> Pipeline {
        if self.is_apart() { Pipeline::GenericApart } else { Pipeline::Generic }
    }

    /// Its name in manifests and file names.
    pub const fn name(self) -> &'static str {
        match self {
            Pipeline::Inlined => "inlined",
            Pipeline::O1 => "o1",
            Pipeline::O2 => "o2",
            Pipeline::Outlined => "outlined",
            Pipeline::Typed => "typed",
            Pipeline::Apart => "apart",
            Pipeline::Guarded => "guarded",
            Pipeline::Generic => "generic",
            Pipeline::GuardedApart => "guarded-apart",
            Pipeline::GenericApart => "generic-apart",
            Pipeline::Serial => "serial",
            Pipeline::Loose => "loose",
        }
    }
}

/// What floating-point transformations the compiled code may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Math {
    /// IEEE arithmetic, operation by operation.
    Strict,
    /// IEEE treatment of NaN and infinity and no reassociation, but multiply-add may be fused and loops may call
    /// the C library's vector functions (at most 4 units in the last place).
    #[default]
    Contract,
    /// Reassociation, no NaN or infinity, approximate functions.
    Fast,
}

/// Settings of code generation, the same for every module of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeGen {
    /// Floating-point mode.
    pub math: Math,
    /// The CPU as [`crate::cpu`] names it, `native` for the machine's own.
    pub cpu: String,
    /// The C++ exception boundary is needed.
    pub exceptions: bool,
    /// Bitcode that runs the threads of a CUDA kernel on the CPU, where the function is one.
    #[serde(default)]
    pub launch: Option<PathBuf>,
    /// Passes that do not run.
    pub without: Vec<PassName>,
    /// Sizes that are the same in every call: argument (index into `plan.args`) and value.
    pub constants: Vec<(usize, i64)>,
}

impl CodeGen {
    /// Whether a pass may run, by its name in [`crate::passes::PASSES`].
    pub fn runs(&self, pass: &str) -> bool {
        !self.without.iter().any(|name| name.as_str() == pass)
    }
}

/// A function with derivatives of its own, all named as the user does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derivative {
    /// The function.
    pub function: String,
    /// Does what it does and carries tangents along.
    pub forward: String,
    /// Adds to the adjoints of its arguments.
    pub reverse: String,
    /// Does what it does and keeps what the reverse one needs.
    pub save: Option<String>,
}

/// A function that a program of ffgrad's takes the place of in derivatives: symbols.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Solver {
    /// The user's function.
    pub symbol: String,
    /// Takes its place.
    pub replacement: String,
    /// The function that calls it all the same.
    pub inside: String,
    /// What it solves.
    #[serde(default)]
    pub equation: Equation,
}

/// What a solver solves, for messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equation {
    /// The solver's number among those of the function.
    pub number: u32,
    /// The solver, as the user names it.
    pub solver: String,
    /// The residual, likewise.
    pub residual: String,
    /// Where that is defined.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// The parameter with the unknowns; `None` where the solver returns the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// How exact a solution has to be, as written.
    pub tolerance: String,
}

/// A derivative that the user gave, as the worker found it in the sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRule {
    /// Symbol of the function.
    pub symbol: String,
    /// Where its forward derivative is defined.
    pub forward: Option<Location>,
    /// Where its reverse derivative is defined.
    pub reverse: Option<Location>,
}

/// A loop that is to be checkpointed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointPlace {
    /// The file, by its last components.
    pub file: String,
    /// The line where it begins.
    pub line: u32,
    /// How many snapshots may be held.
    pub snapshots: u64,
    /// Whether the source itself marks the loop, which may then be another function's.
    #[serde(default)]
    pub in_source: bool,
}

/// The three compilations of `compile-driver/runtime/openmp.c`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenMp {
    /// Before differentiation: one thread does everything.
    pub one: PathBuf,
    /// Before differentiation: sharing of work as arithmetic.
    pub many: PathBuf,
    /// After differentiation: locks, barriers, teams.
    pub team: PathBuf,
    /// Derivatives are for one thread.
    #[serde(default)]
    pub is_for_one: bool,
}

/// The symbol of the table of OpenMP functions that an object with these entry points calls.
pub fn openmp_table(entries: &[Entry]) -> &'static str {
    if entries.contains(&Entry::Primal) { OPENMP_TABLES[0] } else { OPENMP_TABLES[1] }
}

/// The tables that an artifact may have: of the primal's object and of the derivatives'.
pub const OPENMP_TABLES: [&str; 2] = ["ffgrad_openmp_primal", "ffgrad_openmp_derivative"];

/// A job for the worker. Jobs share the module that `Load` read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "job")]
pub enum Request {
    /// Read and link bitcode files; later jobs work on the result.
    Load {
        /// Bitcode files, unoptimised, with debug information.
        modules: Vec<PathBuf>,
        /// Functions without a body that are called by another name from here on: old and new.
        renamed: Vec<(String, String)>,
        /// Bitcode files that are linked after that, with what has the new names.
        library: Vec<PathBuf>,
        /// Bitcode of what takes the place of OpenMP's runtime, where the source may use OpenMP.
        openmp: Option<OpenMp>,
        /// Functions without a body that are called by another name once all is linked.
        external: Vec<(String, String)>,
        /// Loops that are to be checkpointed, beside those that the source marks.
        #[serde(default)]
        checkpoint: Vec<CheckpointPlace>,
    },
    /// What a bitcode file defines and uses; works on no loaded module.
    Symbols {
        /// The file.
        module: PathBuf,
    },
    /// Write a bitcode file in which some definitions give way to those of other files.
    Weaken {
        /// The file.
        module: PathBuf,
        /// The definitions.
        symbols: Vec<String>,
        /// Where it goes.
        output: PathBuf,
    },
    /// Check the derivatives given by the user.
    CheckRules {
        /// Those of the options.
        derivatives: Vec<Derivative>,
        /// Functions without derivative, of the options.
        inactive: Vec<String>,
    },
    /// Discover the prototype of one of the functions.
    Describe {
        /// Symbol in the module.
        symbol: String,
        /// The user's name for it.
        function: String,
    },
    /// Emit an object file with the primal entry point.
    Primal {
        /// Symbol of the foreign function.
        symbol: String,
        /// What its arguments mean.
        plan: CallPlan,
        /// Code generation.
        codegen: CodeGen,
        /// Note the source's lines before accesses of memory, see [`ACCESS`].
        lines: bool,
        /// Where the object goes.
        output: PathBuf,
    },
    /// Write textual IR with calls for Enzyme to replace.
    Derive {
        /// Symbol of the foreign function.
        symbol: String,
        /// What its arguments mean.
        plan: CallPlan,
        /// Bit i set: `plan.inputs[i]` gets a derivative.
        mask: u64,
        /// Arguments (indices into `plan.args`) that the function writes and never reads: the derivative need not
        /// compute them again.
        write_only: Vec<usize>,
        /// Entry points wanted, without the primal.
        entries: Vec<Entry>,
        /// Preparation before differentiation.
        pipeline: Pipeline,
        /// Functions whose value does not depend on active data.
        inactive: Vec<String>,
        /// Functions with derivatives of their own.
        derivatives: Vec<Derivative>,
        /// Symbols of functions whose derivatives are left aside.
        ignored: Vec<String>,
        /// Solvers in whose place others are differentiated.
        #[serde(default)]
        solvers: Vec<Solver>,
        /// Allocations may come from the tape arena.
        arena: bool,
        /// Code generation.
        codegen: CodeGen,
        /// With the source's lines, to locate a refusal. The first job without them drops them for all later jobs.
        #[serde(default)]
        lines: bool,
        /// Where the IR goes.
        output: PathBuf,
    },
    /// Optimise what Enzyme returned and emit an object file.
    Finish {
        /// Enzyme's output.
        input: PathBuf,
        /// Entry points it holds, with the number of argument slots of each.
        entries: Vec<(Entry, usize)>,
        /// Code generation.
        codegen: CodeGen,
        /// Bitcode of the tape arena, if allocations are to come from it.
        arena: Option<PathBuf>,
        /// Bitcode of what runs checkpointed loops, where there are any.
        #[serde(default)]
        checkpoint: Option<PathBuf>,
        /// Where the object goes.
        output: PathBuf,
        /// Where the final IR goes, for a look, if wanted.
        ir: Option<PathBuf>,
    },
    /// List the places of a module that `Derive` wrote.
    Places {
        /// The module.
        input: PathBuf,
    },
    /// Write the module with something simple in the place of some instructions.
    Without {
        /// The module.
        input: PathBuf,
        /// Those instructions, as `Places` numbers them.
        places: Vec<usize>,
        /// Where the IR goes.
        output: PathBuf,
    },
}

impl Request {
    /// Its name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Request::Load { .. } => "load",
            Request::Symbols { .. } => "symbols",
            Request::Weaken { .. } => "weaken",
            Request::CheckRules { .. } => "checkrules",
            Request::Describe { .. } => "describe",
            Request::Primal { .. } => "primal",
            Request::Derive { .. } => "derive",
            Request::Finish { .. } => "finish",
            Request::Places { .. } => "places",
            Request::Without { .. } => "without",
        }
    }
}

/// A place in a module that Enzyme was given: an instruction, and the lines of the user's that it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The function of the module that it stands in.
    pub function: String,
    /// Lines, the one where the instruction stands first, then those where that is called: file (index into `files` of the
    /// answer), line, column.
    pub lines: Vec<(usize, u32, u32)>,
    /// The function that it calls, `asm` for inline assembly.
    pub callee: Option<String>,
    /// `Without` can put something simple in its place.
    pub removable: bool,
}

/// A symbol that a bitcode file defines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name; empty for what is needed wherever the file is: constructors, marks of derivatives.
    pub name: String,
    /// Whether two files may define it (`inline`, templates, COMMON).
    pub shared: bool,
    /// Names of other files' or shared symbols that its code mentions, by way of the file's own static functions too.
    pub uses: Vec<String>,
}

/// The worker's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "answer")]
pub enum Response {
    /// After `Load`: the symbols defined.
    Loaded {
        /// Symbols with external or internal linkage.
        functions: Vec<String>,
        /// Symbols that are used and not defined, LLVM's intrinsics among them.
        undefined: Vec<String>,
        /// LAPACK's drivers among the functions, by name and body.
        #[serde(default)]
        drivers: Vec<String>,
    },
    /// After `Symbols`.
    Symbols {
        /// Every symbol that other files can see.
        symbols: Vec<Symbol>,
    },
    /// After `CheckRules`: the functions that have a derivative of their own.
    Checked {
        /// In the order given.
        rules: Vec<GivenRule>,
    },
    /// After `Describe`.
    Described {
        /// What was discovered.
        prototype: Prototype,
        /// Whether the function rounds to single precision anywhere.
        single_precision: bool,
    },
    /// After the jobs that write a file.
    Written {
        /// Remarks on how it was built, for the artifact's record.
        notes: Vec<String>,
        /// Functions that some passes skip because they are too large: the derivative is then checked at every new size.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        /// What decides the paths through the derivatives, after `Derive`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths: Option<Paths>,
        /// The function tests numbers for equality, after `Derive`.
        #[serde(default)]
        tests_equality: bool,
        /// What starts threads in code that the derivative stops at, after `Derive`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threads: Option<String>,
        /// Some loops are checkpointed, after `Derive`.
        #[serde(default)]
        checkpoints: bool,
    },
    /// After `Places`.
    Places {
        /// The files that they are in, with their folders.
        files: Vec<String>,
        /// In the order of the module.
        places: Vec<Place>,
    },
    /// The job failed.
    Failed {
        /// What happened.
        message: String,
        /// The same for the user, where it is their doing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diagnosis: Option<Box<Diagnosis>>,
    },
}
