//! Data types for the PTX of a kernel: the request (entry points, mask, architecture), and the built text.

use core_ad::protocol::{Entry, Pipeline};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Name of the file in an artifact's folder.
pub const FILE: &str = "kernels.ptx";

/// Which code is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PtxRequest {
    /// The kernels.
    pub entries: Vec<Entry>,
    /// Inputs with a derivative.
    pub mask: u64,
    /// The oldest GPU it runs on, `sm_80`.
    pub arch: String,
    /// Bytes of dynamic shared memory.
    pub shared: i64,
    /// Blocks along z of one element's grid, for kernels over a batch.
    pub batched: Option<i64>,
    /// Preparation before differentiation.
    #[serde(alias = "rung")]
    pub pipeline: Pipeline,
}

impl PtxRequest {
    /// Name of its folder in a pack.
    pub fn folder(&self) -> String {
        format!("ptx-{}", self.name())
    }

    /// Its part of file names.
    pub fn name(&self) -> String {
        let entries: Vec<&str> = self.entries.iter().map(|e| e.symbol().trim_start_matches("ffgrad_")).collect();
        let batched = self.batched.map_or_else(String::new, |layers| format!("-over{layers}"));
        let (mask, arch, pipeline) = (self.mask, &self.arch, self.pipeline.name());
        format!("{}-{mask:x}-{arch}-{}{batched}-{pipeline}", entries.join("-"), self.shared)
    }
}

/// A finished artifact.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// Its folder, which has the IR of each stage too.
    pub folder: PathBuf,
    /// The PTX.
    pub text: String,
    /// ptxas's report of registers, shared and local memory.
    pub needs: Vec<String>,
}
