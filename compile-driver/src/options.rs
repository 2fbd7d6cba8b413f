//! The options of `enzyme(...)`, the same in every front end. They arrive as JSON or are set field by
//! field; those that change the compiled code are part of the cache key.

use core_ad::checkpoint::Placement;
use core_ad::cuda::Extent;
use core_ad::implicit::Implicit;
use core_ad::passes::PassName;
use core_ad::protocol::{Math, Pipeline};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// When the gradient is checked against the forward mode and finite differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// At the first call after a build; the outcome is kept with the artifact.
    #[default]
    Once,
    /// At every call.
    Always,
    /// As `once`, and a disagreement with finite differences that holds at
    /// these arguments alone (a kink, noise) refuses too, where the others warn.
    Strict,
    /// Never. A wrong gradient goes unnoticed.
    Off,
}

/// When it is looked whether a function stays inside of its arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bounds {
    /// At the first call with each of the first sizes.
    #[default]
    Once,
    /// At every call, before it.
    Check,
}

/// What becomes of the forward sweep of a reverse mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It runs again for the gradient: no memory is held in between.
    #[default]
    Recompute,
    /// It runs once, and keeps on a tape what the gradient needs.
    Tape,
}

/// A derivative that the user gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GivenDerivative {
    /// By functions: forward, reverse and perhaps saving.
    Functions(Vec<String>),
    /// By what the function solves: `{"implicit": "residual"}`.
    Implicit(Implicit),
}

impl GivenDerivative {
    /// The functions that it names.
    pub fn functions(&self) -> Vec<&String> {
        match self {
            GivenDerivative::Functions(names) => names.iter().collect(),
            GivenDerivative::Implicit(rule) => vec![&rule.implicit],
        }
    }
}

/// How the files of a folder belong together that a function reaches. Positions are those of the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// Symbols that several of the sources define, and the source whose definition counts.
    pub chosen: BTreeMap<String, usize>,
    /// Folders of headers that are in none that the compiler searches, by source. The key has the headers that were read there.
    #[serde(skip)]
    pub folders: BTreeMap<usize, Vec<PathBuf>>,
}

/// Options of a function. Doc comments are in Python's terms: `scripts/option_docs.py` makes the documentation of the Python
/// package and the README's table from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Further compiler flags: `["-std=c++20"]`; `["-fopenmp"]` for OpenMP (`docs/parallel.md`).
    pub flags: Vec<String>,
    /// Folders for `#include`.
    pub include_dirs: Vec<PathBuf>,
    /// Macros; `True` or `None` defines the name alone.
    pub defines: BTreeMap<String, Option<String>>,
    /// Libraries to link: names (`"m"`; `-L` in `flags` names folders for them) or paths.
    pub libraries: Vec<String>,
    /// Values of dimension symbols that no input shape gives.
    pub sizes: BTreeMap<String, i64>,
    /// Floating-point mode. `"strict"`: IEEE, operation by operation. `"contract"`: the source's operations keep their
    /// order, NaN and infinity are as in IEEE, but multiply-add may be fused, loops may call the C library's vector
    /// functions (4 units in the last place), and what only the derivative computes (its own operations, sums that it
    /// recomputes) may be reordered. `"fast"`: as `-ffast-math`.
    pub math: Math,
    /// The CPU to compile for: this machine's, or a level that many share: `"x86-64"`, `"x86-64-v2"`, `"x86-64-v3"`,
    /// `"x86-64-v4"`.
    pub cpu: String,
    /// Functions that carry no derivative.
    pub inactive: Vec<String>,
    /// Derivatives that are given: `{"lookup": ("lookup_fwd", "lookup_rev")}` names the forward and the reverse function,
    /// and a third one that saves, if needed. `{"solve": implicit("residual")}` differentiates a solver by the implicit
    /// function theorem (`docs/custom-derivatives.md`, which also lists the derivatives that BLAS, LAPACK and special
    /// functions have).
    pub derivatives: BTreeMap<String, GivenDerivative>,
    /// Functions whose given derivative is left aside: their own code is differentiated. Set by ffgrad itself, to find
    /// out which one is wrong.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub ignored_derivatives: Vec<String>,
    /// Where the sources were found in a folder, how they belong together. Set by ffgrad itself.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// When the gradient is checked against forward mode and finite differences. `"once"`: at the first call with each
    /// of the first eight sizes. `"always"`: at every call. `"strict"`: as `"once"`, and refuses where the others
    /// warn: at a disagreement with finite differences at these arguments alone (a kink, noise). `"off"`: never.
    pub verify: Verify,
    /// When the function runs once more, in another process, with pages without access around each array, so that an access outside of them is an
    /// error. `"once"`: at the first call with each of the first eight sizes. `"check"`: before every call and gradient, on the CPU, for
    /// CUDA kernels too, for as long as it takes; the error names the element (`docs/debugging.md`).
    pub bounds: Bounds,
    /// Let Enzyme guess types that it cannot deduce, from the first pipeline on; the result is checked like any other.
    /// A `memcpy` of memory whose type is unknown is still refused: Enzyme would take it for pointers, and lose derivatives.
    pub loose_types: bool,
    /// Let the derivative allocate from an arena, a block of memory of its thread that is released after each call, instead
    /// of by `malloc`.
    pub arena: bool,
    /// Build several variants at the first gradient (a few seconds), time them on those arguments and keep the fastest.
    /// One has the sizes of those arguments as constants, and serves calls with these sizes only.
    pub tune: bool,
    /// `"recompute"`: the gradient runs the function again. `"tape"`: the forward call keeps what the gradient needs, on a
    /// tape. Tapes exist in PyTorch's eager mode only; second gradients, batches and transforms recompute, with the same bits.
    /// A function without an arena, or with parallel regions, keeps no tape.
    pub mode: Mode,
    /// Build a variant for the sizes of each call (their dimensions as constants), kept where it is faster on those
    /// arguments; for at most 16 sets of sizes.
    pub specialize: bool,
    /// Passes of the worker to leave out, to measure an optimisation or to find a fault: optimisations (`ARCHITECTURE.md`
    /// describes them) or, for experts, workarounds. `ffgrad show --passes` lists all names.
    pub without: Vec<PassName>,
    /// The number of threads for a call over a batch (`vmap`, `...` in a signature): 1 if not given; 0 is one for each core.
    /// It is also the number of threads of OpenMP regions: the runtime's if not given; 1 overrides what the source asks for.
    pub threads: Option<usize>,
    /// The source uses MPI: flags of `mpicc`, and gradients checked by all ranks together (`docs/parallel.md`).
    pub mpi: bool,
    /// Further options of Enzyme, `["enzyme-max-cache=1"]`; for experts.
    pub engine_options: Vec<String>,
    /// The pipeline that is tried first, of those that prepare a function for Enzyme (`docs/understanding/how-it-works.md`).
    /// `"serial"` runs OpenMP's regions by one thread.
    pub pipeline: Option<Pipeline>,
    /// Sizes that are the same in every call, by parameter name; set by `specialize` for its variants.
    #[serde(skip_deserializing, skip_serializing_if = "BTreeMap::is_empty")]
    pub fixed_sizes: BTreeMap<String, i64>,
    /// The packaging of Enzyme: `"auto"`, `"catalyst"`, `"plugin"`, or the path of an `LLVMEnzyme-NN.so` (LLVM 22 or
    /// later).
    pub engine: String,
    /// Seconds of CPU time that each run of a compiler and of Enzyme may take. A run that takes longer ends, as an error. All
    /// pipelines of one derivative share the same time: once it is spent, no further pipeline is tried, and the error says so.
    #[serde(deserialize_with = "at_least_one")]
    pub timeout: u64,
    /// For CUDA kernels: blocks of the grid along x, y, z; numbers, or expressions over the dimensions, `"(n + 255) //
    /// 256"`. A callable takes a dict of the dimensions and returns one or several numbers. Without it there is one
    /// thread for each element of the first output (`docs/cuda.md`).
    #[serde(deserialize_with = "one_or_several")]
    pub grid: Vec<Extent>,
    /// For CUDA kernels: threads of a block along x, y, z; as `grid`.
    #[serde(deserialize_with = "one_or_several")]
    pub block: Vec<Extent>,
    /// For CUDA kernels: bytes of dynamic shared memory of a block.
    pub shared: Option<Extent>,
    /// The function is one step of a loop: the dimension of the signature over whose indices it is called,
    /// `"t"` (`docs/checkpointing.md`).
    pub repeat: Option<String>,
    /// With `repeat`: how many states the reverse mode keeps; it computes the others again. As many as `memory` holds
    /// where not given.
    pub snapshots: Option<usize>,
    /// With `repeat`: bytes for snapshots, `"2G"`; half of what is free where not given.
    pub memory: Option<String>,
    /// With `repeat`: how snapshots are placed. `"binomial"`: with the fewest steps computed again (revolve).
    /// `"periodic"`: at equal distances; refused where there are too few of them.
    pub schedule: Placement,
    /// With `repeat`: a folder for snapshots that do not fit `memory`. Nothing stays in it.
    pub snapshot_dir: Option<PathBuf>,
    /// With `snapshot_dir`: compress the snapshots there (LZ4). Pays where the disk is slower than a processor and states are smooth.
    pub compress: bool,
    /// With `repeat`: the name of an integer that is carried from step to step, `"done"`: the loop ends after the first step that sets it
    /// to a nonzero value, or when the dimension's steps are done.
    pub until: Option<String>,
    /// Loops inside the function whose gradient keeps the given number of states and computes the others again,
    /// `{"heat.c:42": 20}`: file and line where each begins, and the number of snapshots
    /// (`docs/checkpointing.md`). C and C++ sources can mark them with `FFGRAD_CHECKPOINT(20)`, Fortran with
    /// `!$ffgrad checkpoint(20)`.
    pub checkpoint: BTreeMap<String, usize>,
    /// With `repeat`: show on a terminal how far a reverse sweep is that takes longer than two seconds.
    pub progress: bool,
    /// For CUDA kernels: the values of `__constant__` memory that the source's host code would copy there, `{"name": array}`; no
    /// gradient is taken with respect to them.
    pub constants: BTreeMap<String, Value>,
}

impl Options {
    /// The option `timeout`.
    pub fn time_limit(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// Reads options from a JSON object.
    ///
    /// # Errors
    ///
    /// What is wrong with each option that is, in the words of somebody who wrote them in Python.
    pub fn read(text: &str) -> Result<Self, String> {
        let error = match serde_json::from_str(text) {
            Ok(options) => return Ok(options),
            Err(error) => error,
        };
        let Ok(Value::Object(given)) = serde_json::from_str(text) else { return Err(error.to_string()) };
        let problem = |(name, value): (String, Value)| {
            let error = of_one(&name, value.clone()).err()?;
            Some(match error.starts_with("unknown field") {
                true => unknown(&name, &error),
                false => implicit_problem(&name, &value).unwrap_or_else(|| wrong(&name, &value)),
            })
        };
        Err(given.into_iter().filter_map(problem).collect::<Vec<_>>().join("; "))
    }
}

fn of_one(name: &str, value: Value) -> Result<Options, String> {
    let one = Value::Object([(name.to_owned(), value)].into_iter().collect());
    serde_json::from_value(one).map_err(|error| error.to_string())
}

/// The words between backticks after "expected": what could have stood there.
fn expected(error: &str) -> Vec<&str> {
    let after = error.split_once("expected").map_or("", |(_, rest)| rest);
    after.split('`').skip(1).step_by(2).collect()
}

/// Options of other tools, and what is meant.
const OF_OTHERS: [(&str, &str); 10] = [
    ("compile_args", "flags"),
    ("extra_compile_args", "flags"),
    ("compiler_flags", "flags"),
    ("compile_flags", "flags"),
    ("extra_cflags", "flags"),
    ("cflags", "flags"),
    ("fflags", "flags"),
    ("include_paths", "include_dirs"),
    ("extra_include_paths", "include_dirs"),
    ("includes", "include_dirs"),
];

fn unknown(name: &str, error: &str) -> String {
    let known = expected(error);
    let of_another = OF_OTHERS.iter().find(|(other, _)| *other == name).map(|(_, meant)| *meant);
    let closest =
        of_another.map_or_else(|| core_ad::names::closest(name, known.iter().copied()), |meant| vec![meant.to_owned()]);
    let meant = closest.first().map(|closest| format!(": did you mean `{closest}`?")).unwrap_or_default();
    let all: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    format!("there is no option `{name}`{meant}\n  The options are {}.", all.join(", "))
}

/// What is wrong with a rule by the implicit function theorem among `derivatives`.
fn implicit_problem(name: &str, value: &Value) -> Option<String> {
    let rules = value.as_object().filter(|_| name == "derivatives")?;
    rules.iter().filter(|(_, rule)| rule.get("implicit").is_some()).find_map(|(solver, rule)| {
        let error = serde_json::from_value::<Implicit>(rule.clone()).err()?.to_string();
        let given = error.split('`').nth(1).unwrap_or_default();
        let known = expected(&error);
        let closest = core_ad::names::closest(given, known.iter().copied());
        let meant = closest.first().map(|closest| format!(": did you mean `{closest}`?")).unwrap_or_default();
        let all = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        Some(match error.split_whitespace().nth(1) {
            Some("field") => format!("the rule of `{solver}` has no member `{given}`{meant}\n  The members are {all}."),
            Some("variant") => format!("the rule of `{solver}` has no kind `{given}`{meant}\n  The kinds are {all}."),
            _ => format!("the rule of `{solver}`: {error}"),
        })
    })
}

/// What an option takes, in the words of somebody who writes Python; `None` where there is no such option.
pub fn takes(name: &str) -> Option<String> {
    let is_known = of_one(name, Value::Null).err().is_none_or(|error| !error.starts_with("unknown field"));
    is_known.then(|| takes_for(name, &Value::Null))
}

/// A value that an option cannot have, and what it takes.
fn wrong(name: &str, value: &Value) -> String {
    let takes = takes_for(name, value);
    let shown = match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    };
    format!("`{name}` is {shown}; it takes {takes}")
}

fn takes_for(name: &str, value: &Value) -> String {
    match name {
        "flags" if value.is_string() => format!("a list of texts: flags=[{value}]"),
        "flags" | "include_dirs" | "libraries" | "inactive" | "engine_options" => "a list of texts".to_owned(),
        "defines" => "a dict of macros: {\"NAME\": value}".to_owned(),
        "sizes" => "a dict of whole numbers: {\"n\": 8}".to_owned(),
        "constants" => "a dict of arrays: {\"name\": array}".to_owned(),
        "derivatives" => {
            "a dict of names: {\"f\": (\"f_fwd\", \"f_rev\")}, or {\"f\": implicit(\"residual\")}".to_owned()
        }
        "loose_types" | "arena" | "tune" | "specialize" | "mpi" | "progress" | "compress" => "True or False".to_owned(),
        "threads" => "a whole number, 0 or more".to_owned(),
        "timeout" => "a whole number of seconds, 1 or more".to_owned(),
        "without" => "a list of passes' names; `ffgrad show --passes` lists them".to_owned(),
        "grid" | "block" => "a number, an expression over the dimensions, or a list of up to three of them".to_owned(),
        "repeat" => "the name of a dimension: \"t\"".to_owned(),
        "checkpoint" => "a dict of places and numbers of snapshots: {\"heat.c:42\": 20}".to_owned(),
        "snapshot_dir" => "a folder".to_owned(),
        "until" => "the name of a carried integer: \"done\"".to_owned(),
        "snapshots" => "a whole number, 1 or more".to_owned(),
        "memory" => "a size as text: \"500M\", \"2G\"".to_owned(),
        "shared" => "a number, or an expression over the dimensions".to_owned(),
        // Those with a few values name them where they are given another one.
        _ => {
            let error = of_one(name, Value::from("?")).err().unwrap_or_default();
            let values: Vec<String> = expected(&error).iter().map(|value| format!("\"{value}\"")).collect();
            match values.split_last() {
                Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                _ => "a text".to_owned(),
            }
        }
    }
}

fn at_least_one<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    NonZeroU64::deserialize(deserializer).map(NonZeroU64::get)
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Extent>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a number, an expression over the dimensions, or a list of up to three of them")]
    enum Given {
        One(Extent),
        Several(Vec<Extent>),
    }
    Ok(match Given::deserialize(deserializer)? {
        Given::One(extent) => vec![extent],
        Given::Several(extents) => extents,
    })
}

impl Options {
    /// Whether some option may mean one thing in one working folder and another elsewhere.
    pub fn are_relative(&self) -> bool {
        self.include_dirs.iter().any(|folder| folder.is_relative())
            || self.libraries.iter().filter_map(|library| as_path(library)).any(Path::is_relative)
            || !self.flags.iter().all(|flag| is_switch(flag))
    }
}

/// The path that a library is given by; `None` for a name, which the linker looks for.
pub fn as_path(library: &str) -> Option<&Path> {
    let path = Path::new(library);
    (path.components().count() > 1 || path.extension().is_some()).then_some(path)
}

/// A flag that names no file.
fn is_switch(flag: &str) -> bool {
    let of = |starts: &[&str]| starts.iter().any(|start| flag.starts_with(start));
    // Words for the assembler, the linker and the preprocessor may name any.
    let passed_on = ["-Wa,", "-Wl,", "-Wp,"].iter().any(|start| flag.starts_with(start));
    match of(&["-f"]) {
        true => !flag.contains('='),
        false => of(&["-D", "-U", "-O", "-W", "-m", "-g", "-std=", "-pedantic", "-w"]) && !passed_on,
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            flags: Vec::new(),
            include_dirs: Vec::new(),
            defines: BTreeMap::new(),
            libraries: Vec::new(),
            sizes: BTreeMap::new(),
            math: Math::default(),
            cpu: core_ad::cpu::NATIVE.to_owned(),
            inactive: Vec::new(),
            derivatives: BTreeMap::new(),
            ignored_derivatives: Vec::new(),
            reach: None,
            verify: Verify::default(),
            bounds: Bounds::default(),
            loose_types: false,
            arena: true,
            tune: false,
            mode: Mode::default(),
            specialize: false,
            without: Vec::new(),
            fixed_sizes: BTreeMap::new(),
            threads: None,
            mpi: false,
            engine_options: Vec::new(),
            pipeline: None,
            engine: "auto".to_owned(),
            timeout: 120,
            grid: Vec::new(),
            block: Vec::new(),
            shared: None,
            repeat: None,
            snapshots: None,
            memory: None,
            schedule: Placement::default(),
            snapshot_dir: None,
            compress: false,
            until: None,
            checkpoint: BTreeMap::new(),
            progress: false,
            constants: BTreeMap::new(),
        }
    }
}

/// A function to open: what the user gave to `enzyme(...)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Source files.
    pub sources: Vec<PathBuf>,
    /// Function name: C name, mangled symbol, demangled C++ name or template instance.
    pub function: String,
    /// Signature, where the defaults do not fit.
    #[serde(default)]
    pub signature: Option<String>,
    /// Options.
    #[serde(default)]
    pub options: Options,
}

/// Whether a source file is CUDA C++.
pub fn is_cuda(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "cu" || e == "cuh")
}

/// Whether the function is a CUDA kernel.
pub fn is_kernel(spec: &Spec) -> bool {
    spec.sources.first().is_some_and(|s| is_cuda(s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Options::read(text).expect_err("refuses")
    }

    #[test]
    fn a_wrong_value_is_named_with_what_the_option_takes() {
        assert_eq!(refused(r#"{"math": "fst"}"#), r#"`math` is "fst"; it takes "strict", "contract" or "fast""#);
        assert_eq!(refused(r#"{"mode": 3}"#), r#"`mode` is 3; it takes "recompute" or "tape""#);
        assert_eq!(refused(r#"{"timeout": 0}"#), "`timeout` is 0; it takes a whole number of seconds, 1 or more");
        assert_eq!(refused(r#"{"threads": -1}"#), "`threads` is -1; it takes a whole number, 0 or more");
        assert_eq!(refused(r#"{"verify": true}"#), r#"`verify` is True; it takes "once", "always", "strict" or "off""#);
        assert_eq!(refused(r#"{"flags": "-O2"}"#), r#"`flags` is "-O2"; it takes a list of texts: flags=["-O2"]"#);
        assert!(refused(r#"{"arena": "no", "tune": 1}"#).contains("; `tune` is 1"), "all at once");
    }

    #[test]
    fn an_option_that_does_not_exist_is_told_from_those_that_do() {
        let text = refused(r#"{"verfy": "off"}"#);
        assert!(
            text.starts_with("there is no option `verfy`: did you mean `verify`?\n  The options are `flags`"),
            "{text}"
        );
        assert!(!text.contains("ignored_derivatives"), "{text}");
    }

    #[test]
    fn every_option_says_what_it_takes_in_words_of_its_own() {
        let all = refused(r#"{"nonesuch": 1}"#);
        for name in expected(&of_one("nonesuch", Value::from(1)).unwrap_err()) {
            let text = wrong(name, &Value::Null);
            let is_plain_text = ["cpu", "engine"].contains(&name);
            assert!(is_plain_text || !text.ends_with("it takes a text"), "{text}");
            assert!(!["usize", "u64", "sequence", "map", "variant"].iter().any(|word| text.contains(word)), "{text}");
        }
        assert!(all.contains("`shared`"));
    }
}
