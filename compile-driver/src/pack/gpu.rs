//! Code for GPUs in packs: the PTX of a kernel's entry points, beside its code for the CPU as a device.
//!
//! PTX for an old architecture runs on every later GPU: the driver there compiles it. Nothing of it is proven where it is packed,
//! for there may be no GPU: the first call there checks each kind of derivative, as it would without a pack.

use super::{Loaded, Packed, command, inputs, name, order, refusal};
use crate::artifact::{Order, Wanted};
use crate::cuda::ptx::{self, Ptx};
use crate::error::{Error, Result};
use crate::function::Function;
use core_ad::CallPlan;
use core_ad::protocol::Entry;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The oldest architecture that ffgrad compiles for: PTX for it runs on every GPU that kernels can be launched on.
pub const OLDEST: &str = "sm_60";

/// Code for GPUs, of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForGpus {
    /// What can be launched.
    pub kernels: Vec<ptx::Wanted>,
    /// Why there is none, where none was asked for and none could be built.
    pub missing: Option<String>,
}

/// Code for GPUs that was opened.
pub(super) struct Opened {
    kernels: Vec<(ptx::Wanted, Ptx)>,
    missing: Option<String>,
}

/// The architectures to pack for: those that were asked for, else [`OLDEST`] for a kernel, and those that the pack has.
///
/// # Errors
///
/// A pack error for a name that is none, or a function that is no kernel.
pub(super) fn architectures(
    function: &Function,
    asked: Option<&[String]>,
    before: Option<&ForGpus>,
) -> Result<Vec<String>> {
    let spec = function.spec();
    let refused = |headline: String, advice: &str| {
        Err(Error::Pack(Box::new(refusal("pack-export", &spec.function, headline).advise(advice))))
    };
    let mut all = match asked {
        Some(asked) => asked.to_vec(),
        None if function.is_kernel() => vec![OLDEST.to_owned()],
        None => Vec::new(),
    };
    if !all.is_empty() && !function.is_kernel() {
        return refused(format!("`{}` is no CUDA kernel: it has no code for GPUs", spec.function), "Leave out `gpu`.");
    }
    if let Some(odd) = all.iter().find(|arch| number(arch) < number(OLDEST)) {
        return refused(format!("`{odd}` is no architecture to pack code for"), "They are called `sm_60`, `sm_80`.");
    }
    all.extend(before.into_iter().flat_map(|b| &b.kernels).map(|kernel| kernel.arch.clone()));
    all.sort_by_key(|arch| number(arch));
    all.dedup();
    Ok(all)
}

/// `sm_80`: 80.
fn number(arch: &str) -> u32 {
    arch.strip_prefix("sm_").and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

/// Builds what calls with these derivatives launch, and gives the folder of each.
///
/// # Errors
///
/// As [`ptx::build`].
pub(super) fn build(
    function: &Function,
    derivatives: &[Wanted],
    archs: &[String],
) -> Result<Vec<(ptx::Wanted, PathBuf)>> {
    let mut sets: Vec<(Vec<Entry>, u64)> = vec![(vec![Entry::Primal], 0)];
    for wanted in derivatives {
        // The check of second derivatives needs the first, and so on.
        let entries: &[&[Entry]] = match wanted.order {
            Order::First | Order::Taped => &[&[Entry::Vjp, Entry::Jvp]],
            Order::Second => &[&[Entry::Vjp, Entry::Jvp], &[Entry::Hvp]],
            Order::Forward => &[&[Entry::Vjp, Entry::Jvp], &[Entry::Hvp], &[Entry::Jvp2]],
        };
        sets.extend(entries.iter().map(|set| (set.to_vec(), wanted.mask)));
    }
    let layers = function.launcher.as_ref().and_then(|launcher| launcher.fixed_layers());
    let batches = std::iter::once(None).chain(layers.map(Some));
    let mut made: Vec<(ptx::Wanted, PathBuf)> = Vec::new();
    for batched in batches {
        for (arch, (entries, mask)) in archs.iter().flat_map(|arch| sets.iter().map(move |set| (arch, set))) {
            let wanted = function.wanted_ptx(entries, *mask, arch, batched)?;
            if !made.iter().any(|(have, _)| *have == wanted) {
                let folder = ptx::build(function, &wanted)?.folder;
                made.push((wanted, folder));
            }
        }
    }
    Ok(made)
}

/// Reads the code of a function; `None` for one that is no kernel, or where a file is damaged.
pub(super) fn read(packed: &Packed, entry: &Path) -> Option<Opened> {
    let gpu = packed.gpu.as_ref()?;
    let of = |wanted: &ptx::Wanted| Some((wanted.clone(), ptx::read(&entry.join(wanted.folder()))?));
    let kernels = gpu.kernels.iter().map(of).collect::<Option<_>>()?;
    Some(Opened { kernels, missing: gpu.missing.clone() })
}

impl Opened {
    /// The code for a GPU of the architecture wanted or an older one.
    fn find(&self, wanted: &ptx::Wanted) -> Option<Ptx> {
        let serves = |have: &ptx::Wanted| {
            number(&have.arch) <= number(&wanted.arch)
                && ptx::Wanted { arch: wanted.arch.clone(), ..have.clone() } == *wanted
        };
        let fitting = self.kernels.iter().filter(|(have, _)| serves(have));
        fitting.max_by_key(|(have, _)| number(&have.arch)).map(|(_, ptx)| ptx.clone())
    }
}

impl Loaded {
    /// The inputs by which code for GPUs is differentiated that serves those in `mask`; the same where there is none.
    pub fn mask_on_gpu(&self, entry: Entry, mask: u64) -> u64 {
        let kernels = self.gpu.iter().flat_map(|gpu| &gpu.kernels).map(|(have, _)| have);
        let serving = kernels.filter(|have| have.entries.contains(&entry) && have.mask & mask == mask);
        serving.map(|have| have.mask).min_by_key(|mask| mask.count_ones()).unwrap_or(mask)
    }

    /// The code for a GPU.
    ///
    /// # Errors
    ///
    /// A pack error that says what there is, and the command that adds it.
    pub fn ptx(&self, wanted: &ptx::Wanted, plan: &CallPlan) -> Result<Ptx> {
        self.gpu.as_ref().and_then(|gpu| gpu.find(wanted)).ok_or_else(|| self.lacks_ptx(wanted, plan))
    }

    fn lacks_ptx(&self, wanted: &ptx::Wanted, plan: &CallPlan) -> Error {
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
fn described(function: &str, wanted: &ptx::Wanted, plan: &CallPlan) -> String {
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
    use core_ad::protocol::Rung;

    fn wanted(arch: &str, mask: u64, shared: i64) -> ptx::Wanted {
        let entries = vec![Entry::Vjp, Entry::Jvp];
        ptx::Wanted { entries, mask, arch: arch.into(), shared, batched: None, rung: Rung::O1 }
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
