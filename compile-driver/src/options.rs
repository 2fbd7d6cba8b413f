//! The options of `enzyme(...)`, the same in every front end. They arrive as JSON or are set field by
//! field; those that change the compiled code are part of the cache key.

use core_ad::cuda::Extent;
use core_ad::passes::PassName;
use core_ad::protocol::{Math, Rung};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// When the gradient is checked against the forward mode and finite differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// At the first call after a build; the outcome is kept with the artifact.
    #[default]
    Once,
    /// At every call.
    Always,
    /// As `once`, and a disagreement with finite differences alone refuses too.
    Strict,
    /// Never. A wrong gradient goes unnoticed.
    Off,
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

/// Options of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Further compiler flags, `-std=c++20` for instance.
    pub flags: Vec<String>,
    /// Folders for `#include`.
    pub include_dirs: Vec<PathBuf>,
    /// Macros; `None` defines the name alone.
    pub defines: BTreeMap<String, Option<String>>,
    /// Libraries to link: names (`m`) or paths of shared or static libraries.
    pub libraries: Vec<String>,
    /// Values of dimension symbols that no input shape gives.
    pub sizes: BTreeMap<String, i64>,
    /// Floating-point mode.
    pub math: Math,
    /// The CPU that code is compiled for: `native`, or one of [`core_ad::cpu::LEVELS`].
    pub cpu: String,
    /// Functions that carry no derivative.
    pub inactive: Vec<String>,
    /// Derivatives of functions in the user's own source: names of the forward and the reverse one and, where that
    /// needs more than the arguments, of one that saves (`docs/custom-derivatives.md`).
    pub derivatives: BTreeMap<String, Vec<String>>,
    /// Functions whose given derivative is left aside: their own code is differentiated. Set by ffgrad itself, to find
    /// out which one is wrong.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub ignored_derivatives: Vec<String>,
    /// Checking of gradients.
    pub verify: Verify,
    /// Let the engine guess types it cannot deduce, from the first rung on.
    pub loose_types: bool,
    /// Let the derivative allocate from a per-thread arena instead of malloc.
    pub arena: bool,
    /// Build several variants at the first gradient, time them on those arguments, keep the fastest.
    pub tune: bool,
    /// Whether the forward sweep runs again for the gradient.
    pub mode: Mode,
    /// Build a variant for the sizes of each call's shapes, kept where it is faster.
    pub specialize: bool,
    /// Passes of the worker to leave out ([`core_ad::passes`]); to see what an optimisation brings, or to narrow a fault down.
    pub without: Vec<PassName>,
    /// Threads that a call over a batch runs on, 1 where nothing is said, and those of OpenMP regions, for which the runtime
    /// decides where nothing is said; 0 is one a core.
    pub threads: Option<usize>,
    /// The source uses MPI: flags of MPI's wrapper, and checks made by all ranks together.
    pub mpi: bool,
    /// Further options of the engine, `enzyme-max-cache=1` for instance; for experts and for tuning.
    pub engine_options: Vec<String>,
    /// The rung of the ladder to begin with: `inlined`, `o1`, `o2`, `outlined`, `typed` or `loose`.
    pub pipeline: Option<Rung>,
    /// Sizes that are the same in every call, by parameter name; set by `specialize` for its variants.
    #[serde(skip_deserializing, skip_serializing_if = "BTreeMap::is_empty")]
    pub constants: BTreeMap<String, i64>,
    /// `auto`, `catalyst`, or the path of an Enzyme plugin.
    pub engine: String,
    /// Seconds that each compiler and engine run may take.
    pub timeout: u64,
    /// Blocks of a CUDA kernel's grid along x, y, z; one extent alone may stand without a list.
    #[serde(deserialize_with = "one_or_several")]
    pub grid: Vec<Extent>,
    /// Threads of a block along x, y, z.
    #[serde(deserialize_with = "one_or_several")]
    pub block: Vec<Extent>,
    /// Bytes of dynamic shared memory of a block.
    pub shared: Option<Extent>,
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
        let looks_for_files = |flag: &String| {
            !flag.starts_with('-')
                || ["-I", "-L", "-i", "--sysroot", "-B", "-f"].iter().any(|start| flag.starts_with(start))
        };
        self.include_dirs.iter().any(|folder| folder.is_relative())
            || self.libraries.iter().filter_map(|library| as_path(library)).any(Path::is_relative)
            || self.flags.iter().any(|flag| looks_for_files(flag) && !is_switch(flag))
    }
}

/// The path that a library is given by; `None` for a name, which the linker looks for.
pub fn as_path(library: &str) -> Option<&Path> {
    let path = Path::new(library);
    (path.components().count() > 1 || path.extension().is_some()).then_some(path)
}

/// A flag of the family `-f...` without a file.
fn is_switch(flag: &str) -> bool {
    flag.starts_with("-f") && !flag.contains('=')
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
            verify: Verify::default(),
            loose_types: false,
            arena: true,
            tune: false,
            mode: Mode::default(),
            specialize: false,
            without: Vec::new(),
            constants: BTreeMap::new(),
            threads: None,
            mpi: false,
            engine_options: Vec::new(),
            pipeline: None,
            engine: "auto".to_owned(),
            timeout: 120,
            grid: Vec::new(),
            block: Vec::new(),
            shared: None,
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
    /// Signature, where the defaults do not do.
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
