//! Selects PTX from an opened pack: code for an architecture runs on every later GPU, whose driver compiles it.

use crate::build::ptx;
use crate::error::{Error, Result};
use crate::gpu::ptx::{Ptx, PtxRequest};
use crate::pack::read::{Loaded, Packed, command, inputs, name, order, refusal};
use core_ad::CallPlan;
use core_ad::derivative_set::Order;
use core_ad::protocol::Entry;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Code for GPUs, of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForGpus {
    /// What can be launched.
    pub kernels: Vec<PtxRequest>,
    /// Why there is none, where none was asked for and none could be built.
    pub missing: Option<String>,
}

/// Code for GPUs that was opened.
pub(crate) struct Opened {
    kernels: Vec<(PtxRequest, Ptx)>,
    missing: Option<String>,
}

/// `sm_80`: 80.
pub(crate) fn number(arch: &str) -> u32 {
    arch.strip_prefix("sm_").and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// Reads the code of a function; `None` for one that is no kernel, or where a file is damaged.
pub(crate) fn read(packed: &Packed, entry: &Path) -> Option<Opened> {
    let gpu = packed.gpu.as_ref()?;
    let of = |wanted: &PtxRequest| Some((wanted.clone(), ptx::read(&entry.join(wanted.folder()))?));
    let kernels = gpu.kernels.iter().map(of).collect::<Option<_>>()?;
    Some(Opened { kernels, missing: gpu.missing.clone() })
}

impl Opened {
    /// The code for a GPU of the architecture wanted or an older one.
    fn find(&self, wanted: &PtxRequest) -> Option<Ptx> {
        let serves = |have: &PtxRequest| {
            number(&have.arch) <= number(&wanted.arch)
                && PtxRequest { arch: wanted.arch.clone(), ..have.clone() } == *wanted
        };
        let fitting = self.kernels.iter().filter(|(have, _)| serves(have));
        fitting.max_by_key(|(have, _)| number(&have.arch)).map(|(_, ptx)| ptx.clone())
    }
}

impl Loaded {
    /// The inputs by which code for GPUs is differentiated that serves those in `mask`; the same where there is none.
    pub fn mask_on_gpu(&self, entry: Entry, mask: u64) -> u64 {
        let kernels = self.gpu.iter().flat_map(|gpu| &gpu.kernels).map(|(have, _)| have);
        let candidates = kernels.filter(|have| have.entries.contains(&entry) && have.mask & mask == mask);
        candidates.map(|have| have.mask).min_by_key(|mask| mask.count_ones()).unwrap_or(mask)
    }

    /// The code for a GPU.
    ///
    /// # Errors
    ///
    /// A pack error that lists what there is, and the command that adds it.
    pub fn ptx(&self, wanted: &PtxRequest, plan: &CallPlan) -> Result<Ptx> {
        self.gpu.as_ref().and_then(|gpu| gpu.find(wanted)).ok_or_else(|| self.lacks_ptx(wanted, plan))
    }

    fn lacks_ptx(&self, wanted: &PtxRequest, plan: &CallPlan) -> Error {
        let (pack, function) = (self.path.display(), &self.spec.function);
        let headline = format!("the pack `{pack}` has no {}", described(function, wanted, plan));
        let mut diagnosis = refusal("pack-lacks", function, headline);
        if let Some(reason) = self.gpu.as_ref().and_then(|gpu| gpu.missing.as_ref()) {
            diagnosis = diagnosis.advise(format!("Where it was made there could be none: {reason}."));
        }
        let derivatives = match wanted.entries.first() {
            Some(Entry::Hvp) => name(Order::Second),
            Some(Entry::Jvp2) => name(Order::Forward),
            _ => name(Order::First),
        };
        let more = [format!("--derivatives={derivatives}"), format!("--gpu={}", wanted.arch)];
        let again = command(&self.path, &self.spec, &more);
        Error::Pack(Box::new(diagnosis.advise(format!("Where there is a compiler: {again}"))))
    }
}

/// Code for a GPU, in words.
fn described(function: &str, wanted: &PtxRequest, plan: &CallPlan) -> String {
    let what = match wanted.entries.first() {
        Some(Entry::Hvp) => order(Order::Second),
        Some(Entry::Jvp2) => order(Order::Forward),
        Some(Entry::Vjp | Entry::Jvp) => order(Order::First),
        _ => "values",
    };
    let by = if wanted.mask == 0 { String::new() } else { format!(" by {}", inputs(plan, wanted.mask)) };
    let shared = if wanted.shared == 0 { String::new() } else { format!(", {} bytes of shared memory", wanted.shared) };
    let over = wanted.batched.map(|layers| format!(", over a batch ({layers} blocks along z)")).unwrap_or_default();
    format!("code for a GPU ({}): {what} of `{function}`{by}{shared}{over}", wanted.arch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_ad::protocol::Pipeline;

    fn wanted(arch: &str, mask: u64, shared: i64) -> PtxRequest {
        let entries = vec![Entry::Vjp, Entry::Jvp];
        PtxRequest { entries, mask, arch: arch.into(), shared, batched: None, pipeline: Pipeline::O1 }
    }

    #[test]
    fn the_newest_code_that_a_gpu_can_run_is_taken() {
        let of = |arch: &str| (wanted(arch, 1, 0), Ptx { folder: arch.into(), text: String::new(), needs: Vec::new() });
        let gpu = Opened { kernels: vec![of("sm_60"), of("sm_75"), of("sm_100")], missing: None };
        let taken = |arch: &str| gpu.find(&wanted(arch, 1, 0)).map(|ptx| ptx.folder.display().to_string());
        assert_eq!(taken("sm_80").as_deref(), Some("sm_75"));
        assert_eq!(taken("sm_70").as_deref(), Some("sm_60"));
        assert_eq!(taken("sm_100").as_deref(), Some("sm_100"));
        assert_eq!(taken("sm_50"), None);
        assert!(gpu.find(&wanted("sm_80", 1, 64)).is_none() && gpu.find(&wanted("sm_80", 3, 0)).is_none());
    }
}
