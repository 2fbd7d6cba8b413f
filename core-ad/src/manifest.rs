//! The manifest of a cache entry and of its artifacts. Every language binding reads it; none sees LLVM.

use crate::path_set::PathSet;
use crate::protocol::{Entry, Equation, GivenRule, Math, Pipeline, Solver};
use crate::{CallPlan, Prototype};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Version of the manifest and of everything else in a cache entry. Part of every key.
pub const FORMAT: u32 = 6;

/// The manifest of a function: one per cache entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// ffgrad's version, for people.
    pub ffgrad: String,
    /// The entry's key.
    pub key: String,
    /// Sources as given and the BLAKE3 digest of their content, headers and libraries included; of shared libraries of the system
    /// the name that they are loaded by.
    pub sources: Vec<Source>,
    /// Names, versions and identities of the tools.
    pub tools: Vec<ToolRecord>,
    /// Command lines of the front end.
    pub commands: Vec<String>,
    /// The CPU the code is for.
    pub cpu: String,
    /// The floating-point mode.
    pub math: Math,
    /// Whether a C++ exception can leave the function.
    pub exceptions: bool,
    /// Whether the code rounds intermediate values to single precision; checks are coarser then.
    pub single_precision: bool,
    /// The discovered prototype.
    pub prototype: Prototype,
    /// The call plan.
    pub plan: CallPlan,
    /// Bitcode files of the sources, relative to the entry.
    pub modules: Vec<String>,
    /// Bitcode files of the rules library that the sources need, relative to the entry.
    #[serde(default)]
    pub library: Vec<String>,
    /// BLAKE3 digests of the bitcode files, by name.
    pub digests: BTreeMap<String, String>,
    /// Functions that are called by another name: old and new.
    #[serde(default)]
    pub renamed: Vec<(String, String)>,
    /// Functions of libraries that are linked by another name: old and new.
    #[serde(default)]
    pub external: Vec<(String, String)>,
    /// Functions whose derivative the user gave, by option or in the source.
    #[serde(default)]
    pub rules: Vec<GivenRule>,
    /// Solvers with the implicit function theorem's derivative.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solvers: Vec<Solver>,
    /// Linker arguments for libraries that ffgrad's own rules need.
    pub link: Vec<String>,
}

/// A source or header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Absolute path when it was compiled.
    pub path: String,
    /// BLAKE3 digest of its content, in hexadecimal; `loaded as NAME` where only the name of a shared library counts.
    pub digest: String,
}

/// A tool that took part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// `clang`, `engine`, `worker`.
    pub name: String,
    /// Its own version line.
    pub version: String,
}

/// The record beside each shared object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRecord {
    /// [`FORMAT`].
    pub format: u32,
    /// File name of the shared object.
    pub file: String,
    /// `elf` or `ptx`.
    pub kind: String,
    /// BLAKE3 digest of the shared object, in hexadecimal.
    pub digest: String,
    /// BLAKE3 digest of the primal's object file beside it, of an artifact with the primal alone: derivatives are linked with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Entry points inside.
    pub entries: Vec<Entry>,
    /// Which inputs have derivatives (bit i: the i-th input).
    pub mask: u64,
    /// How the function was prepared; `None` for the primal alone.
    #[serde(alias = "rung")]
    pub pipeline: Option<Pipeline>,
    /// Enzyme's error stream, noise removed.
    pub diagnostics: Vec<String>,
    /// Functions that some passes skip because they are too large: the derivative is then checked at every new size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// What decides the paths through the derivatives; `None` for the primal alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// Whether the function tests numbers for equality, so that [`Pipeline::Generic`] may differ.
    #[serde(default)]
    pub tests_equality: bool,
    /// What starts threads in code that the derivative stops at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<String>,
    /// Whether memory has no type of its own in the derivative: it is then checked at every call. What a call leaves in memory as an integer may be taken for an adjoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untyped_memory: bool,
    /// What its solvers solve, where they have the implicit function theorem's derivative.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub equations: Vec<Equation>,
    /// Every command that was run for it.
    pub commands: Vec<String>,
}

/// What decides which path a call takes through a function: its branches, trip counts and addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paths {
    /// Sizes alone: two calls of one size take the same path.
    Sizes,
    /// Floating-point values too, on these lines, as far as they are known.
    Values(Vec<SourceLine>),
}

/// A line of the user's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// The file, as the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl Paths {
    /// The answer of two modules that serve one artifact.
    #[must_use]
    pub fn and(self, other: Paths) -> Paths {
        match (self, other) {
            (Paths::Sizes, only) | (only, Paths::Sizes) => only,
            (Paths::Values(mut lines), Paths::Values(more)) => {
                lines.extend(more);
                lines.sort();
                lines.dedup();
                Paths::Values(lines)
            }
        }
    }
}

/// Which pipeline serves a set of inputs, and the result of its check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// [`FORMAT`].
    pub format: u32,
    /// The pipeline.
    #[serde(alias = "rung")]
    pub pipeline: Pipeline,
    /// What was checked; `None` with `verify="off"`.
    pub check: Option<CheckRecord>,
    /// Pipelines that were tried before, and why they were rejected.
    #[serde(alias = "passed_over")]
    pub rejected: Vec<String>,
    /// What stands for each of the sizes that were checked.
    #[serde(default)]
    pub sizes: Vec<u64>,
    /// The same for sizes at which this pipeline, and every one after it, failed verification.
    #[serde(default)]
    pub refused: Vec<u64>,
    /// The paths of verified calls, where values decide them.
    #[serde(default, skip_serializing_if = "PathSet::is_empty")]
    pub paths: PathSet,
}

/// The values of a passed check. Those that are not finite are `null` in a file, for JSON has no word for them, and come back as
/// NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// The forward mode's ⟨v, J t⟩.
    #[serde(deserialize_with = "number")]
    pub forward: f64,
    /// The reverse mode's ⟨Jᵀ v, t⟩.
    #[serde(deserialize_with = "number")]
    pub reverse: f64,
    /// The same from central finite differences.
    #[serde(deserialize_with = "number")]
    pub differences: f64,
    /// What both may differ by.
    #[serde(deserialize_with = "number")]
    pub tolerance: f64,
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// What a variant for fixed sizes was worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Specialization {
    /// [`FORMAT`].
    pub format: u32,
    /// The sizes, by parameter name.
    pub sizes: BTreeMap<String, i64>,
    /// Shortest time of one vjp of the code for any sizes.
    pub general_microseconds: f64,
    /// Shortest time of one vjp of the variant.
    pub special_microseconds: f64,
}

/// What tuning found for a set of inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// [`FORMAT`].
    pub format: u32,
    /// The fastest candidate's preparation.
    pub pipeline: Pipeline,
    /// The fastest candidate's options of Enzyme.
    pub engine_options: Vec<String>,
    /// A candidate that has the sizes of the tuned call as constants, where it is faster still.
    #[serde(default)]
    pub special: Option<Trial>,
    /// Everything that was tried.
    pub trials: Vec<Trial>,
}

/// One candidate of tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What stood before differentiation.
    pub pipeline: Pipeline,
    /// Options of Enzyme.
    pub engine_options: Vec<String>,
    /// Sizes that were constants, by parameter name.
    #[serde(default)]
    pub sizes: Option<BTreeMap<String, i64>>,
    /// Shortest time of one vjp; `None` where it could not be built or failed verification.
    pub microseconds: Option<f64>,
    /// Why it has no time.
    pub refused: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_whose_numbers_are_not_finite_can_be_read_again() {
        let check = CheckRecord { forward: 0.1, reverse: f64::INFINITY, differences: f64::NAN, tolerance: 1e-7 };
        let (check, pipeline) = (Some(check), Pipeline::Inlined);
        let choice = Choice {
            format: FORMAT,
            pipeline,
            check,
            rejected: Vec::new(),
            sizes: vec![1],
            refused: vec![2],
            paths: PathSet::default(),
        };
        let text = serde_json::to_string(&choice).expect("numbers can be written");
        let read: Choice = serde_json::from_str(&text).expect("what was written can be read");
        let numbers = read.check.expect("there was a check");
        assert_eq!((numbers.forward, numbers.tolerance), (0.1, 1e-7));
        assert!(numbers.reverse.is_nan() && numbers.differences.is_nan());
    }

    #[test]
    fn a_choice_of_an_older_program_has_refused_no_size() {
        let text = format!(r#"{{"format": {FORMAT}, "rung": "inlined", "check": null, "passed_over": []}}"#);
        let read: Choice = serde_json::from_str(&text).expect("what was written can be read");
        assert!(read.sizes.is_empty() && read.refused.is_empty());
    }
}
