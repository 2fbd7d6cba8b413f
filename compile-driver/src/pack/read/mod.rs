//! The format of packs: the index of a folder or archive of functions that were built ahead of time, and what a function
//! opened from it holds.
//!
//! ```text
//! model.ffpack/                       or the same in model.zip, model.tar
//!   pack.json                         the index, sealed: functions, what they need, digests of every other file
//!   NOTICES.md                        what is linked in, what is needed, under which licences
//!   entries/<key>/manifest.json       as in the cache
//!   entries/<key>/primal/             artifact.json and the shared object
//!   entries/<key>/d1-<mask>-<pipeline>/   the same with derivatives
//!   entries/<key>/ptx-<...>/          artifact.json and PTX, of a CUDA kernel
//!   lib/                              shared libraries from ffgrad's tool folder
//! ```
//!
//! A pack stands where a source file does: `enzyme("model.ffpack", "f")`. [`write::export`](crate::pack::write::export) writes one, `open` reads one: it checks
//! the machine, compares every digest and loads all of the function at once, so that whatever is missing is reported then.
//! Nothing is written, nothing is built, no process is started.

pub(crate) mod archive;
pub(crate) mod gpu;
pub(crate) mod open;

use crate::error::Error;
use crate::load::artifact::Artifact;
use crate::options::{Spec, Verify};
use crate::os::process;
pub use archive::Form;
use core_ad::DerivativeSet;
use core_ad::derivative_set::Order;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::CheckRecord;
use core_ad::path_set::PathSet;
use core_ad::protocol::Pipeline;
use core_ad::{CallPlan, Manifest};
pub use gpu::ForGpus;
use libloading::os::unix::Library;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

pub(crate) use open::open;
pub use open::read;

/// Name of the index.
pub const INDEX: &str = "pack.json";

/// Version of a pack's layout.
pub const VERSION: u32 = 1;

/// The index of a pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// [`VERSION`].
    pub version: u32,
    /// [`core_ad::manifest::FORMAT`] of its content.
    pub format: u32,
    /// ffgrad's version, for people.
    pub ffgrad: String,
    /// Operating system that it is for.
    pub os: String,
    /// Architecture that it is for.
    pub arch: String,
    /// By the names under which they are opened.
    pub functions: BTreeMap<String, Packed>,
}

/// A function of a pack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Packed {
    /// What it was made from; of the sources, their names.
    pub spec: Spec,
    /// The key of its entry.
    pub key: String,
    /// Features of a CPU that its code may use, in LLVM's names.
    pub features: Vec<String>,
    /// What can be differentiated.
    pub derivatives: Vec<Derivatives>,
    /// Shared libraries in `lib/` that it is linked to.
    pub libraries: Vec<String>,
    /// Shared libraries that the system must have.
    pub needs: Vec<String>,
    /// Code for GPUs, where it is a CUDA kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<ForGpus>,
    /// What `tune` and `specialize` chose where it was packed; the first that fits a call serves it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// BLAKE3 digests of all its files and its variants', by their place in the pack.
    pub files: BTreeMap<String, String>,
}

/// Code that was chosen by its times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The derivatives that it was chosen for.
    pub wanted: DerivativeSet,
    /// The sizes that it is for, by parameter name; none: all.
    pub sizes: BTreeMap<String, i64>,
    /// The function.
    pub function: Packed,
}

/// One set of derivative entry points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Derivatives {
    /// Which, and of what.
    pub wanted: DerivativeSet,
    /// The pipelines whose code it has: the verified one, or all.
    #[serde(alias = "rungs")]
    pub pipelines: Vec<Pipeline>,
    /// The check that has passed before it was packed. Without one the first call checks, from the pack.
    pub check: Option<CheckRecord>,
    /// A digest of each set of sizes at which verification failed before they were packed: calls at those are checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<u64>,
    /// The paths of calls that were verified before they were packed.
    #[serde(default, skip_serializing_if = "PathSet::is_empty")]
    pub paths: PathSet,
}

/// Where the source of a function is a pack: its place.
pub fn source(spec: &Spec) -> Option<&Path> {
    let [path] = spec.sources.as_slice() else { return None };
    is_pack(path).then_some(path)
}

/// Whether a path is that of a pack.
pub fn is_pack(path: &Path) -> bool {
    match Form::of(path) {
        Form::Folder => path.join(INDEX).is_file() || path.is_dir() && path.extension().is_some_and(|e| e == "ffpack"),
        _ => path.is_file(),
    }
}

/// A function that came from a pack: all of its code, loaded.
pub(crate) struct Loaded {
    path: PathBuf,
    spec: Spec,
    derivatives: Vec<Derivatives>,
    primal: Arc<Artifact>,
    code: HashMap<(DerivativeSet, Pipeline), Arc<Artifact>>,
    gpu: Option<gpu::Opened>,
    /// What the code is linked to stays as long as it does.
    _libraries: Vec<Library>,
}

/// What opening a function of a pack gives.
pub(crate) struct Opened {
    pub spec: Spec,
    pub manifest: Manifest,
    pub loaded: Loaded,
    /// What `tune` and `specialize` chose, opened too.
    pub variants: Vec<(Variant, Opened)>,
}

impl Loaded {
    /// Code with the primal.
    pub fn primal(&self) -> Arc<Artifact> {
        self.primal.clone()
    }

    /// The derivatives in the pack that serve those wanted at the least cost; the same where there are none.
    pub fn served_by(&self, wanted: DerivativeSet) -> DerivativeSet {
        let candidates = self.derivatives.iter().map(|d| d.wanted).filter(|w| wanted.mask != 0 && w.serves(wanted));
        candidates.min_by_key(|w| (w.entries().len(), w.mask.count_ones())).unwrap_or(wanted)
    }

    /// Whether there are such derivatives.
    pub fn has(&self, wanted: DerivativeSet) -> bool {
        self.derivatives.iter().any(|d| d.wanted == wanted)
    }

    /// The pipelines that can be tried.
    pub fn pipelines(&self, wanted: DerivativeSet) -> Vec<Pipeline> {
        self.derivatives.iter().find(|d| d.wanted == wanted).map(|d| d.pipelines.clone()).unwrap_or_default()
    }

    /// The derivative whose check before packing counts here.
    pub fn proven(&self, wanted: DerivativeSet, verify: Verify) -> Option<Arc<Artifact>> {
        let derivatives = self.derivatives.iter().find(|d| d.wanted == wanted)?;
        let verified = derivatives.check.is_some() && verify == Verify::Once || verify == Verify::Off;
        let pipeline = derivatives.pipelines.first().filter(|_| verified)?;
        self.code(wanted, *pipeline)
    }

    /// Digests of the sizes at which verification failed before they were packed.
    pub fn refused(&self, wanted: DerivativeSet) -> Vec<u64> {
        self.derivatives.iter().find(|d| d.wanted == wanted).map(|d| d.refused.clone()).unwrap_or_default()
    }

    /// The paths of calls that were verified before they were packed.
    pub fn paths(&self, wanted: DerivativeSet) -> PathSet {
        self.derivatives.iter().find(|d| d.wanted == wanted).map(|d| d.paths.clone()).unwrap_or_default()
    }

    /// Code of one pipeline.
    pub fn code(&self, wanted: DerivativeSet, pipeline: Pipeline) -> Option<Arc<Artifact>> {
        self.code.get(&(wanted, pipeline)).cloned()
    }

    /// The refusal of derivatives that are not there: what there is, and the command that adds them.
    pub fn lacks(&self, wanted: DerivativeSet, plan: &CallPlan) -> Error {
        let (pack, function) = (self.path.display(), &self.spec.function);
        let of = |w: DerivativeSet| format!("{} of `{function}` by {}", order(w.order), inputs(plan, w.mask));
        let headline = format!("the pack `{pack}` has no {}", of(wanted));
        let diagnosis = Diagnosis::new("pack-lacks", function, headline);
        let has: Vec<String> = self.derivatives.iter().map(|d| of(d.wanted)).collect();
        let has = if has.is_empty() { format!("`{function}` without derivatives") } else { has.join("; ") };
        let more = [format!("--derivatives={}", name(wanted.order))];
        Error::Pack(Box::new(
            diagnosis
                .advise(format!("It has: {has}."))
                .advise(format!("Where there is a compiler: {}", command(&self.path, &self.spec, &more))),
        ))
    }

    /// The refusal of what only a compiler could give.
    pub fn needs_compiler(&self) -> Error {
        let headline = format!(
            "`{}` comes from the pack `{}`, which nothing can be built from",
            self.spec.function,
            self.path.display()
        );
        Error::Pack(Box::new(
            Diagnosis::new("pack-build", &self.spec.function, headline).advise("Open it from its source for that."),
        ))
    }
}

/// A set of derivatives, in words.
pub(crate) fn order(order: Order) -> &'static str {
    match order {
        Order::First => "first derivatives",
        Order::Second => "second derivatives",
        Order::Forward => "second derivatives forward over forward",
        Order::Taped => "first derivatives with a tape",
    }
}

/// Its name in `--derivatives`.
pub fn name(order: Order) -> &'static str {
    match order {
        Order::First => "first",
        Order::Second => "second",
        Order::Forward => "forward",
        Order::Taped => "taped",
    }
}

/// Names of the inputs in a mask.
pub fn inputs(plan: &CallPlan, mask: u64) -> String {
    let named = plan.inputs.iter().enumerate().filter(|(p, _)| mask >> p & 1 == 1);
    named.map(|(_, &arg)| plan.args[arg].name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The command that puts a function into a pack.
pub(crate) fn command(pack: &Path, spec: &Spec, more: &[String]) -> String {
    let mut command = Command::new("ffgrad");
    command.arg("export").arg(pack).args(&spec.sources).arg(&spec.function);
    if let Some(signature) = &spec.signature {
        command.arg("-s").arg(signature);
    }
    command.args(spec.options.flags.iter().map(|flag| format!("--flag={flag}")));
    for (macro_name, value) in &spec.options.defines {
        command.arg(format!("-D{macro_name}{}", value.as_ref().map(|v| format!("={v}")).unwrap_or_default()));
    }
    if spec.options.cpu != core_ad::cpu::NATIVE && !more.iter().any(|m| m.starts_with("--cpu")) {
        command.arg(format!("--cpu={}", spec.options.cpu));
    }
    process::command_line(command.args(more).arg("--add"))
}

/// A refusal that concerns a pack as a whole.
pub(crate) fn refusal(code: &str, function: &str, headline: String) -> Diagnosis {
    Diagnosis::new(code, function, headline)
}

/// Something in a pack has changed since it was written.
pub(crate) fn damaged(pack: &Path, what: &str, function: &str) -> Error {
    let headline = format!("the pack `{}` is damaged: {what}", pack.display());
    Error::Pack(Box::new(refusal("pack-damaged", function, headline).advise("Copy it again from where it was made.")))
}
