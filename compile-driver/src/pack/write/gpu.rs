//! Adds the PTX of a CUDA kernel's entry points to a pack, beside the code that runs the kernel on the CPU.
//!
//! PTX for an old architecture runs on every later GPU: the driver there compiles it. It is not verified where it is packed,
//! for there may be no GPU: the first call there checks each kind of derivative, as it would without a pack.

use crate::build::ptx;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::gpu::ptx::PtxRequest;
use crate::pack::read::gpu::{ForGpus, number};
use crate::pack::read::refusal;
use core_ad::DerivativeSet;
use core_ad::derivative_set::Order;
use core_ad::protocol::Entry;
use std::path::PathBuf;

/// The oldest architecture that ffgrad compiles for: PTX for it runs on every GPU that kernels can be launched on.
pub const OLDEST: &str = "sm_60";

/// The architectures to pack for: those that were asked for, else [`OLDEST`] for a kernel, and those that the pack has.
///
/// # Errors
///
/// A pack error for a name that is none, or a function that is no kernel.
pub(crate) fn architectures(
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

/// Builds what calls with these derivatives launch, and gives the folder of each.
///
/// # Errors
///
/// As [`ptx::build`].
pub(crate) fn build(
    function: &Function,
    derivatives: &[DerivativeSet],
    archs: &[String],
) -> Result<Vec<(PtxRequest, PathBuf)>> {
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
    let layers = function.opened.launcher.as_ref().and_then(|launcher| launcher.fixed_layers());
    let batches = std::iter::once(None).chain(layers.map(Some));
    let mut made: Vec<(PtxRequest, PathBuf)> = Vec::new();
    for batched in batches {
        for (arch, (entries, mask)) in archs.iter().flat_map(|arch| sets.iter().map(move |set| (arch, set))) {
            let wanted = function.wanted_ptx(entries, *mask, arch, batched)?;
            if !made.iter().any(|(have, _)| *have == wanted) {
                let folder =
                    ptx::build(&function.opened.spec, &function.opened.manifest, &function.opened.cache, &wanted)?
                        .folder;
                made.push((wanted, folder));
            }
        }
    }
    Ok(made)
}
