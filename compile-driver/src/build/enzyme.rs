//! Runs Enzyme, as the `catalyst` driver or as a plugin of `opt`: a module with requests for derivatives in, their code out.

use crate::error::{CacheError, Error, Result};
use crate::os::process::{self, ProcessError};
use crate::os::size;
use crate::toolchain::{self, CudaTools, Tools};
use core_ad::diagnostics::messages::{KNOWN, Message};
use core_ad::diagnostics::{self, Diagnosis};
use core_ad::protocol::Math;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// One run of Enzyme: input, output and options.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The user's function, for messages.
    pub function: &'a str,
    /// Textual IR with `__enzyme_*` calls.
    pub input: &'a Path,
    /// Where textual IR without them goes.
    pub output: &'a Path,
    /// Floating-point mode.
    pub math: Math,
    /// Guess types that cannot be deduced.
    pub loose_types: bool,
    /// Whether another pipeline, in which type analysis is quick, is tried where it takes too long in this one.
    pub may_give_up: bool,
    /// Whether memory may lack a type of its own ([`ALIASING`]): such a derivative has to be checked at every call.
    pub may_be_untyped: bool,
    /// Whether no derivative is differentiated again.
    pub is_first_order: bool,
    /// Further options, without dashes.
    pub options: &'a [String],
    /// Time limit of this run.
    pub timeout: Duration,
    /// The time limit that the user set, for messages.
    pub limit: Duration,
}

/// The result of a run.
pub struct Done {
    /// The command line.
    pub command: String,
    /// Its error stream without noise.
    pub diagnostics: Vec<String>,
    /// Whether a copy of memory has no type that Enzyme could deduce.
    guessed_a_copy: bool,
    /// Whether memory has no type of its own, see [`ALIASING`].
    pub untyped_memory: bool,
}

/// An Enzyme, however it is packaged.
pub trait Engine {
    /// One run, as the job says.
    ///
    /// # Errors
    ///
    /// As [`Engine::differentiate`].
    fn run(&self, job: &Job<'_>) -> Result<Done>;

    /// Replaces every `__enzyme_*` call.
    ///
    /// Where it may guess types, Enzyme takes a copy of memory without a type for a copy of pointers, and drops the adjoints
    /// (`visitMemTransferCommon` in AdjointGenerator.h). That guess is no derivative: without guesses Enzyme refuses the copy, and says
    /// where it stands. Copies that are inactive are not asked for a type.
    ///
    /// # Errors
    ///
    /// A differentiation error that explains Enzyme's message.
    fn differentiate(&self, job: &Job<'_>) -> Result<Done> {
        let done = match self.run_in_time(job) {
            Err(Error::Differentiation(d)) if d.code == TYPE_CONFLICT && job.may_be_untyped => {
                self.without_aliasing(job, d)?
            }
            outcome => outcome?,
        };
        match done.guessed_a_copy {
            true => self.run(&Job { loose_types: false, ..*job }),
            false => Ok(done),
        }
    }

    /// A run in which memory has no type of its own ([`ALIASING`]). Where that is refused too, the first refusal says why.
    ///
    /// # Errors
    ///
    /// The first refusal.
    fn without_aliasing(&self, job: &Job<'_>, refusal: Box<Diagnosis>) -> Result<Done> {
        if job.options.iter().any(|option| option.contains(ALIASING)) {
            return Err(Error::Differentiation(refusal));
        }
        let options = [job.options, &[format!("{ALIASING}=0")]].concat();
        self.run_in_time(&Job { options: &options, ..*job }).map_err(|_| Error::Differentiation(refusal))
    }

    /// One run, within parts of the time limit: type analysis of large structures (the blocks of `std::deque`, 512 bytes; the fields of a
    /// mesh) can go on for ever, and code of many branches grows beyond measure. So a run that takes its part of the limit is ended;
    /// another one splits blocks ([`PAIRED_EDGES`]), and the next looks at the first bytes of each structure only. Of a large module that is
    /// the first run: a template library's views of matrices have few fields, and type analysis takes half of the time, and often all of
    /// it, otherwise. Where it is refused, all the rest is for a run that looks at everything, or for another pipeline.
    ///
    /// # Errors
    ///
    /// As [`Engine::differentiate`].
    fn run_in_time(&self, job: &Job<'_>) -> Result<Done> {
        if job.timeout < SHARED_LIMIT || job.options.iter().any(|option| option.contains(OFFSET)) {
            return self.run(job);
        }
        let is_late = |d: &Diagnosis| d.code == TIMED_OUT;
        let bytes = std::fs::metadata(job.input).map_or(0, |m| m.len());
        let narrow = [job.options, &[format!("{OFFSET}={FIRST_BYTES}")]].concat();
        let narrow = Job { options: &narrow, ..*job };
        if bytes >= LARGE {
            let tenths = u32::try_from(10 * bytes / LARGE).unwrap_or(u32::MAX);
            let share = job.timeout / 100 * tenths.min(30);
            let limit = if job.may_give_up { share } else { job.limit };
            // A run at full width takes several times as long, and crashes again as a rule: another pipeline does not.
            let is_final = |d: &Diagnosis| {
                AT_ANY_WIDTH.contains(&d.code.as_str()) || job.may_give_up && (is_late(d) || d.code == CRASH)
            };
            match self.run(&Job { timeout: share, limit, ..narrow }) {
                Err(Error::Differentiation(d)) if is_final(&d) => return Err(Error::Differentiation(d)),
                // Where a look at all of each structure takes long, another pipeline needs none.
                Err(Error::Differentiation(_)) if job.may_give_up => {
                    let short = job.timeout / 20;
                    return self.run(&Job { timeout: short, limit: short, ..*job });
                }
                Err(Error::Differentiation(_)) => return self.run(&Job { timeout: job.timeout / 10 * 7, ..*job }),
                outcome => return outcome,
            }
        }
        let first = job.timeout / 20;
        let limit = if job.may_give_up { first } else { job.limit };
        match self.run(&Job { timeout: first, limit, ..*job }) {
            Err(Error::Differentiation(d)) if is_late(&d) && job.may_give_up => return Err(Error::Differentiation(d)),
            Err(Error::Differentiation(d)) if is_late(&d) => {}
            outcome => return outcome,
        }
        let paired = [job.options, &[format!("{PAIRED_EDGES}=1")]].concat();
        match self.run(&Job { timeout: job.timeout / 10, options: &paired, ..*job }) {
            Err(Error::Differentiation(_)) => {}
            outcome => return outcome,
        }
        match self.run(&Job { timeout: job.timeout / 5, ..narrow }) {
            Err(Error::Differentiation(_)) => self.run(&Job { timeout: job.timeout / 20 * 13, ..*job }),
            outcome => outcome,
        }
    }
}

/// Code of the refusal of memory that has two types.
const TYPE_CONFLICT: &str = "type-conflict";

/// Option of Enzyme: an access tells the type of the memory for all code that can come to it, as the rules of aliasing of C and C++ have it.
/// Memory that holds a number, then an integer (a union, `std::align`, what an allocator hands out twice), contradicts itself then. Without
/// that rule Enzyme knows fewer types, so it is for such functions alone, whose derivatives are checked at every call.
const ALIASING: &str = "enzyme-strict-aliasing";

/// Time limits below this are not shared among several runs.
const SHARED_LIMIT: Duration = Duration::from_secs(40);

/// Option of Enzyme: how many bytes of a structure type analysis looks at; and how many where it takes too long.
const OFFSET: &str = "enzyme-max-type-offset";
const FIRST_BYTES: u32 = 64;

/// Option of Enzyme: blocks of three edges or more are split. What the reverse sweep computes again then has code for each edge, not for each
/// path to the block, of which there are many in a long function of many branches.
const PAIRED_EDGES: &str = "enzyme-phi-restructure";

/// Refusals that do not depend on how much of a structure type analysis looks at: a second run would take as long, and say the same.
const AT_ANY_WIDTH: [&str; 4] = ["realloc", "missing-derivative", diagnostics::callees::THREADS, "inline-assembly"];

/// Bytes of IR from which a module counts as large: some three thousand lines.
const LARGE: u64 = 250_000;

/// Code of the refusal where Enzyme crashed, and nothing explains it.
pub const CRASH: &str = "engine-crash";

/// Code of the refusal where Enzyme exceeded the time limit.
pub const TIMED_OUT: &str = "engine-timeout";

/// Code of the refusal where Enzyme wrote more than it may.
pub const TOO_LARGE: &str = "engine-size";

/// Code of the error where Enzyme could not be started.
const FAILED: &str = "engine-failed";

/// Whether Enzyme was given a module and did not make a derivative of it.
pub fn has_run(refusal: &Diagnosis) -> bool {
    let known = |m: &Message| m.code == refusal.code;
    // What flang calls, and threads, are refused by Enzyme as any function without a body, under codes of their own.
    let others = [TIMED_OUT, TOO_LARGE, diagnostics::enzyme::UNKNOWN, "fortran-runtime", diagnostics::callees::THREADS];
    others.contains(&refusal.code.as_str()) || KNOWN.iter().any(known)
}

/// Whether a user, or a developer of ffgrad, needs the files of the build to find out why.
pub fn is_unexplained(refusal: &Diagnosis) -> bool {
    let bugs = [CRASH, "engine-call", "invalid-derivative", TIMED_OUT, diagnostics::enzyme::UNKNOWN];
    bugs.contains(&refusal.code.as_str())
}

/// Whether to run Enzyme once more, on a part of the module, could take as long or as much memory as it did.
pub fn is_costly(refusal: &Diagnosis) -> bool {
    [TIMED_OUT, TOO_LARGE, "engine-memory"].contains(&refusal.code.as_str())
}

/// LLVM version of the worker's textual IR: an older `opt` does not read it.
const WORKERS_LLVM: u32 = 22;

/// Enzyme among the tools.
///
/// # Errors
///
/// A differentiation error for a plugin whose LLVM is older than the worker's.
pub fn of(tools: &Tools, function: &str) -> Result<Box<dyn Engine>> {
    match &tools.engine {
        toolchain::Engine::Catalyst(tool) => Ok(Box::new(Catalyst { path: tool.path.clone() })),
        toolchain::Engine::Plugin { plugin, llvm_major, .. } if *llvm_major < WORKERS_LLVM => {
            let headline = format!("the Enzyme plugin `{}` was built for LLVM {llvm_major}", plugin.display());
            Err(Error::Differentiation(Box::new(
                Diagnosis::new("engine-version", function, headline)
                    .mismatch(format!("LLVM {WORKERS_LLVM} or later"), format!("LLVM {llvm_major}"))
                    .advise("Build Enzyme against LLVM 22, or use engine=\"catalyst\"."),
            )))
        }
        toolchain::Engine::Plugin { opt, plugin, .. } => {
            Ok(Box::new(Plugin { opt: opt.path.clone(), plugin: plugin.clone() }))
        }
    }
}

/// LLVM options for the passes that run around Enzyme, where the user gives no other value. The worker's own pipeline does what is
/// disabled here, before or after.
///
/// `enable-load-pre`, `max-dependences`: PRE replaces a load by a loop-carried phi, which becomes a loop-carried value of the reverse
/// loop; that loop can then neither be vectorised nor recognised as a stencil. `jump-threading-threshold`: jump threading through the
/// iterations of an unrolled loop leaves phis of equal pointers, whose object Enzyme does not find (the worker's `phi_pointers.rs`).
///
/// The next three keep loads separate. Enzyme marks each load that it could repeat in the reverse sweep as invariant
/// (`!invariant.group`). LLVM applies that to all loads of the address, and reuses the value of one load for another that follows a
/// store (`tests/cases/enzyme_bugs/repeated_lookup.c`). The worker drops the metadata (`drop_attributes.rs`), but by then LLVM has run
/// inside Enzyme. (A load that is hoisted because it comes first in each iteration is not covered; Enzyme has not been seen to mark
/// such a load.)
///
/// `licm-mssa-max-acc-promotion` leaves stores in their loops. LICM sinks a store of which only the last iteration of two nested loops
/// counts behind both, and with it the use of their loop-carried value: Enzyme then looks that value up with an undefined outer
/// induction variable (`tests/cases/enzyme_bugs/last_iteration.c`).
///
/// `sink-common-insts` leaves loads where they are. Sinking merges equal instructions of two branches, and their loads into one load
/// through a phi of the two pointers. Enzyme repeats that load in the reverse sweep, though one of the two objects has been written
/// to since (`tests/cases/enzyme_bugs/alike_branches.c`).
///
/// `disable-loop-idiom-all` leaves loops that store zeros, or copy, what they are: a `memset` or copy of what has two members in each
/// element (complex numbers) has no type, and is refused (`tests/cases/enzyme_bugs/grown_spectrum.cpp`).
const PIPELINE: [(&str, u32); 9] = [
    ("enable-load-pre", 0),
    ("max-dependences", 0),
    ("jump-threading-threshold", 0),
    ("enable-gvn-memdep", 0),
    ("licm-mssa-optimization-cap", 0),
    ("earlycse-mssa-optimization-cap", 0),
    ("licm-mssa-max-acc-promotion", 0),
    ("sink-common-insts", 0),
    ("disable-loop-idiom-all", 1),
];

/// Enzyme's options for a CPU, where the user gives no other value. Enzyme can fill memory that is local to an iteration again in the
/// reverse sweep, by repeating the stores with the current values of their operands: where those were loaded from memory that has
/// been overwritten since, the gradient is wrong (`tests/cases/enzyme_bugs/loop_local_memory_generated.c`). So the values that the
/// reverse sweep needs are cached. On a GPU memory for that cache is scarce, and such kernels are rare.
///
/// Enzyme can also take a loop without anything active in it to have one iteration in the reverse sweep. It then frees what a loop in it has cached in the
/// first iteration, which that loop may not have run in: the search for an interval in bspline-fortran crashed (`tests/cases/fortran/interval_search.f90` is like it).
const ON_CPU: [(&str, u32); 2] = [("enzyme-rematerialize", 0), ("enzyme-inactive-dynamic", 0)];

/// Option of Enzyme for large modules: derivatives are not optimised inside of Enzyme, where LLVM takes as long for them as Enzyme does, and three
/// times as long where a tape has thousands of members. The worker optimises them in any case. In small modules both rounds make
/// faster code than one: the gradient of a linear stencil has a tape only without the first.
const UNOPTIMISED: (&str, u32) = ("enzyme-postopt", 0);

/// Option of LLVM for large modules, if no derivative is differentiated again: variables of a derivative stay variables inside of Enzyme. Promoted to
/// values, those that are kept for the end of a sweep become phis at each merge of the paths there, 8,034 in one block for Boost's incomplete beta function,
/// and LLVM compares each with each. The worker promotes those that are no such case (its `exit_slots.rs`).
const UNPROMOTED: (&str, u32) = ("sroa-skip-mem2reg", 1);

/// The option by which Enzyme prints what it guessed.
const REMARKS: &str = "enzyme-print-perf";

/// How a remark about a copy without a type begins.
const GUESSED_COPY: &str = "failed to deduce type of copy";

/// Enzyme's default options, for keys.
pub fn defaults() -> String {
    format!("{PIPELINE:?} {ON_CPU:?} {LARGE} {UNOPTIMISED:?} {UNPROMOTED:?} {GUESSED_COPY}")
}

/// Enzyme's own options, with one dash. The defaults of Enzyme allow fast arithmetic in derivatives;
/// ours follow the primal's mode.
fn enzyme_options(job: &Job<'_>, more: &[(&str, u32)]) -> Vec<String> {
    let mut options = vec![format!("-enzyme-fast-math={}", u8::from(job.math == Math::Fast))];
    // LLVM takes an option once.
    let given = |name: &str| job.options.iter().any(|o| o.trim_start_matches('-').starts_with(name));
    let ours = PIPELINE.iter().chain(more).filter(|(name, _)| !given(name));
    options.extend(ours.map(|(name, value)| format!("-{name}={value}")));
    if job.loose_types {
        options.push("-enzyme-loose-types=1".to_owned());
        // Its guesses are among these remarks.
        if !given(REMARKS) {
            options.push(format!("-{REMARKS}=1"));
        }
    }
    options.extend(job.options.iter().map(|o| format!("-{}", o.trim_start_matches('-'))));
    options
}

/// The `catalyst` driver: a filter on textual IR, with LLVM 22 and Enzyme inside.
struct Catalyst {
    path: PathBuf,
}

impl Catalyst {
    /// The error for a driver that does not differentiate x² either; else the given one.
    fn or_damaged(&self, error: Error) -> Error {
        let may_be = |d: &Diagnosis| d.code != TIMED_OUT && is_unexplained(d) || d.code == FAILED;
        let damage = matches!(&error, Error::Differentiation(d) if may_be(d)).then(|| toolchain::of_engine(&self.path));
        damage.flatten().map_or(error, Error::from)
    }
}

impl Engine for Catalyst {
    fn run(&self, job: &Job<'_>) -> Result<Done> {
        let input = std::fs::read(job.input).map_err(|e| unusable(job, e))?;
        let mut ours = ON_CPU.to_vec();
        if input.len() as u64 >= LARGE {
            ours.push(UNOPTIMISED);
            ours.extend(job.is_first_order.then_some(UNPROMOTED));
        }
        let mut command = Command::new(&self.path);
        process::memory::reuse_small_blocks(&mut command);
        command.args(["--tool=llc", "-", "-o", "-"]);
        command.args(enzyme_options(job, &ours).iter().map(|o| format!("-{o}")));
        let output = execute(job, command, Some(&input)).map_err(|error| self.or_damaged(error))?;
        if !output.stdout.starts_with(b"; ModuleID") {
            return Err(self.or_damaged(refused(job, "1", &output.stderr)));
        }
        std::fs::write(job.output, &output.stdout).map_err(|e| unusable(job, e))?;
        Ok(output.done)
    }
}

/// An Enzyme pass plugin and the `opt` it was built for.
struct Plugin {
    opt: PathBuf,
    plugin: PathBuf,
}

impl Engine for Plugin {
    fn run(&self, job: &Job<'_>) -> Result<Done> {
        let plugin = self.plugin.display();
        let mut command = Command::new(&self.opt);
        command.arg(format!("-load-pass-plugin={plugin}")).arg("-load").arg(&self.plugin);
        command.args(enzyme_options(job, &ON_CPU)).arg("-passes=enzyme,default<O2>").arg("-S");
        command.arg(job.input).arg("-o").arg(job.output);
        Ok(execute(job, command, None)?.done)
    }
}

/// The plugin of LLVM 15, for a GPU's code: derivatives there are added up by atomics.
struct DevicePlugin<'t> {
    tools: &'t CudaTools,
    /// What stands before differentiation.
    before: &'static str,
}

/// Enzyme for a GPU's code; `before` is the optimisation that stands before it (`default<O1>`).
pub fn for_device<'t>(tools: &'t CudaTools, before: &'static str) -> Box<dyn Engine + 't> {
    Box::new(DevicePlugin { tools, before })
}

impl Engine for DevicePlugin<'_> {
    fn run(&self, job: &Job<'_>) -> Result<Done> {
        let plugin = &self.tools.plugin;
        let mut command = self.tools.command(&self.tools.opt);
        command.arg(format!("-load-pass-plugin={}", plugin.display())).arg("-load").arg(plugin);
        command.args(["-vectorize-loops=false", "-vectorize-slp=false"]).args(enzyme_options(job, &[]));
        command.arg(format!("-passes={},enzyme,default<O1>", self.before)).arg("-S");
        command.arg(job.input).arg("-o").arg(job.output);
        Ok(execute(job, command, None)?.done)
    }
}

struct Executed {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    done: Done,
}

fn execute(job: &Job<'_>, mut command: Command, input: Option<&[u8]>) -> Result<Executed> {
    let line = process::command_line(&command);
    // The names of Enzyme's own functions on the stack do not help a user, and finding them takes seconds.
    command.env("LLVM_DISABLE_SYMBOLIZATION", "1");
    let output = process::run_to_last_words(&mut command, input, job.timeout, Some(DUMP)).map_err(|mut e| {
        explain_dump(&mut e);
        keep_log(job, &line, e.stderr());
        Error::of_child(e, job.function, |e| failed(job, e))
    })?;
    if !output.status.success() {
        keep_log(job, &line, &String::from_utf8_lossy(&output.stderr));
        let status = output.status.code().map_or_else(|| output.status.to_string(), |c| c.to_string());
        return Err(refused(job, &status, &output.stderr));
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let guessed_a_copy = job.loose_types && printed.lines().any(|l| l.trim_start().starts_with(GUESSED_COPY));
    let asked = job.options.iter().any(|option| option.contains(REMARKS));
    let diagnostics = match job.loose_types && !asked {
        true => diagnostics::without_remarks(&printed),
        false => diagnostics::without_noise(&printed),
    };
    let untyped_memory = job.options.iter().any(|option| option.contains(ALIASING));
    let done = Done { command: line, diagnostics, guessed_a_copy, untyped_memory };
    Ok(Executed { stdout: output.stdout, stderr: output.stderr, done })
}

/// How Enzyme's last words begin where its assertion on placeholders of shadows fails: the whole module follows, of a C++ library 200 MB in calls of
/// a few bytes each, which took 50 s and more.
const DUMP: &str = "mod:; ModuleID";

/// Says which assertion would have followed.
fn explain_dump(error: &mut ProcessError) {
    if let ProcessError::Signal { stderr, .. } = error
        && stderr.ends_with(DUMP)
    {
        stderr.push_str("\nGradientUtils::eraseFictiousPHIs(): Assertion `pp->getNumUses() == 0' failed.\n");
    }
}

/// Leaves Enzyme's words whole beside its input, for a folder that is kept.
fn keep_log(job: &Job<'_>, command: &str, stderr: &str) {
    const MOST: usize = 8 << 20;
    let text = format!("{command}\n{stderr}");
    // A log that cannot be written is no reason to fail otherwise than Enzyme did.
    let _ = std::fs::write(log_of(job), &text.as_bytes()[..text.len().min(MOST)]);
}

/// The file with the output of Enzyme where it failed.
pub fn log_of(job: &Job<'_>) -> PathBuf {
    job.output.with_file_name("engine.log")
}

fn refused(job: &Job<'_>, status: &str, stderr: &[u8]) -> Error {
    let text = String::from_utf8_lossy(stderr);
    Error::Differentiation(Box::new(diagnostics::enzyme::failure(job.function, status, &text)))
}

fn failed(job: &Job<'_>, error: ProcessError) -> Error {
    let diagnosis = match error {
        ProcessError::TimedOut { .. } => {
            let seconds = job.limit.as_secs();
            let headline = format!("differentiating `{}` took longer than {seconds} s", job.function);
            Diagnosis::new(TIMED_OUT, job.function, headline)
                .advise(format!(
                    "Raise the limit, as with timeout={}, where the function is large;",
                    4 * seconds.max(1)
                ))
                .advise("else type analysis may not end on a large constant table or struct: pass it as a parameter,")
                .advise(
                    "one array for each type, or analyse less of it: engine_options=[\"enzyme-max-type-offset=64\"].",
                )
        }
        ProcessError::Signal { signal, stderr, .. } => {
            diagnostics::enzyme::failure(job.function, &format!("signal {signal}"), &stderr)
        }
        ProcessError::TooMuch { limit, .. } => {
            let size = size::written(limit as u64);
            let headline = format!("the derivative of `{}` is larger than {size}", job.function);
            Diagnosis::new(TOO_LARGE, job.function, headline)
                .advise("Enzyme writes down each value that it keeps, with the types of all others that the function keeps. Have fewer:")
                .advise("differentiate a part, register derivatives for functions that are called often (`ffgrad explain custom-derivatives`),")
                .advise("or mark what no derivative flows through inactive=[...].")
        }
        other => {
            Diagnosis::new(FAILED, job.function, format!("Enzyme did not run: {other}")).advise("Run `ffgrad doctor`.")
        }
    };
    Error::Differentiation(Box::new(diagnosis))
}

/// The files around Enzyme are in the cache's staging folder: a full disk is the cache's error, not Enzyme's.
fn unusable(job: &Job<'_>, source: std::io::Error) -> Error {
    let path = job.output.parent().unwrap_or(job.output).to_owned();
    CacheError::Io { action: "use the staging folder", path, source }.into()
}
