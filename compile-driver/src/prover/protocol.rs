//! What goes between the caller's process and the prover: a request is a line of JSON followed by the values, a reply a line.

use crate::call::arguments::Call;
use crate::load::artifact::Artifact;
use crate::load::openmp_runtime;
use crate::verify::sample::Point;
use crate::verify::stage::{Access, Stage};
use crate::verify::{Allowed, Checked};
use core_ad::CallPlan;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::ArtifactRecord;
use core_ad::shapes::Resolved;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The prover's first line. Another version's differs.
pub const HELLO: &str = concat!("ffgrad prover 5 ", env!("CARGO_PKG_VERSION"));

/// One check, or one timing.
#[derive(Serialize, Deserialize)]
pub struct Request {
    pub library: PathBuf,
    pub record: ArtifactRecord,
    pub plan: CallPlan,
    pub resolved: Resolved,
    pub function: String,
    pub threads: usize,
    pub single: bool,
    pub seed: u64,
    pub allowed: Allowed,
    /// Not a check: the time of one vjp, measured for about so long.
    pub budget: Option<Duration>,
    /// Not a check: one run of the function, to see whether it stays inside of its arrays.
    pub bounds: Option<Watch>,
    /// Words of each argument's values.
    pub words: Vec<usize>,
    /// The caller's working folder and environment, now.
    pub folder: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
}

/// Its end, or what is evaluated for long.
#[derive(Serialize, Deserialize)]
pub enum Reply {
    /// This has been evaluated for so long, without an end so far. The reply comes later.
    Running(Stage, Duration),
    Checked(Checked),
    Timed(Duration),
    /// The function stayed inside of its arrays. For each argument how many of its first words it wrote, where it wrote no others.
    Inside(Vec<Option<usize>>),
    Foreign(Box<Diagnosis>),
    Differentiation(Box<Diagnosis>),
    Memory(Box<Diagnosis>),
    /// The artifact cannot be checked there, and why.
    Unable(String),
    /// The process ended.
    Died {
        stage: Stage,
        /// `crashed (segmentation fault)`.
        how: String,
        /// The last line that it wrote to standard error.
        printed: String,
        /// The access of memory that it died of, where it ran between pages without access.
        access: Option<Access>,
    },
}

/// How closely a run between pages without access is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Watch {
    /// For a short time; below the first elements of arrays only where the function is fast.
    Briefly,
    /// As long as it takes, on both sides of the arrays, by one thread.
    Fully,
}

impl Request {
    /// A check of everything.
    pub fn new(call: &Call<'_>, artifact: &Artifact, values: &Point, single: bool, seed: u64) -> Request {
        let text = |value: std::ffi::OsString| value.into_string().ok();
        let mut environment: Vec<(String, String)> =
            std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect();
        if let Some(path) = openmp_runtime::in_use() {
            environment.push(("FFGRAD_OPENMP".to_owned(), path.to_string_lossy().into_owned()));
        }
        Request {
            library: artifact.path.clone(),
            record: artifact.record.clone(),
            plan: call.plan.clone(),
            resolved: call.resolved.clone(),
            function: call.function.to_owned(),
            threads: call.threads,
            single,
            seed,
            allowed: Allowed::ALL,
            budget: None,
            bounds: None,
            words: values.iter().map(Vec::len).collect(),
            folder: std::env::current_dir().ok(),
            environment,
        }
    }
}
