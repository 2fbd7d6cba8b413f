//! The verification status of derivatives: what was verified, here and by earlier processes, and when a check is due.

use crate::build::enzyme;
use crate::cache::{self, layout};
use crate::error::{OUT_OF_MEMORY, Result};
use crate::function::faulty_rule;
use crate::function::select::UNPROVEN;
use crate::function::trust::Selection;
use crate::function::trust::checked_shapes::{self, CheckedShapes, ShapeRecord};
use crate::function::trust::paths::KnownPaths;
use crate::load::artifact::Artifact;
use crate::options::Verify;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{Choice, FORMAT};
use core_ad::path_set::PathSet;
use core_ad::shapes::Resolved;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

/// A derivative artifact in use.
pub struct Derivative {
    /// The code.
    pub artifact: Arc<Artifact>,
    /// Nothing more needs to be checked, at the sizes that were.
    pub(crate) verified: AtomicBool,
    /// Those sizes.
    pub(crate) sizes: CheckedShapes,
    /// The paths that verified calls have had, where values decide them.
    pub(crate) paths: KnownPaths,
}

impl Derivative {
    /// What later processes should know of its checks.
    pub(crate) fn kept(&self) -> ShapeRecord {
        self.sizes.kept().on(self.paths.kept())
    }
}

/// What calls have to be checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Verified already: no check.
    None,
    /// Calls are checked until one check at these sizes is conclusive.
    Once,
    /// Every call is checked.
    EveryCall,
}

/// Problems that the next call need not have: other arguments, a machine with less to do, room on the disk.
const PASSING: [&str; 9] = [
    UNPROVEN,
    faulty_rule::WRONG_DERIVATIVE,
    OUT_OF_MEMORY,
    "engine-memory",
    "engine-failed",
    "staging",
    enzyme::TIMED_OUT,
    core_ad::diagnostics::worker::TIMED_OUT,
    core_ad::diagnostics::worker::FAILED,
];

/// Whether the next call may fare better.
pub(crate) fn is_passing(refusal: &Diagnosis) -> bool {
    PASSING.contains(&refusal.code.as_str())
}

impl Selection<'_> {
    /// Whether a call of these sizes has to be checked.
    pub(crate) fn is_check_due(&self, known: &Derivative, resolved: &Resolved) -> bool {
        if self.is_each_checked(known, resolved) || !known.verified.load(Ordering::Acquire) {
            return true;
        }
        // The ranks of an MPI program would have to agree; a packed derivative was verified where it was packed.
        self.opened.spec.options.verify != Verify::Off
            && !self.opened.spec.options.mpi
            && self.opened.pack.is_none()
            && known.sizes.lack(checked_shapes::digest(resolved))
            && (known.sizes.are_all_checked() || self.opened.has_small_arguments(resolved))
    }

    /// Whether every call of these sizes has to be checked.
    pub(crate) fn is_each_checked(&self, known: &Derivative, resolved: &Resolved) -> bool {
        match self.opened.spec.options.verify {
            Verify::Always => true,
            Verify::Off => false,
            Verify::Once | Verify::Strict => known.artifact.record.untyped_memory || known.sizes.are_refused(resolved),
        }
    }

    /// Whether these derivatives have passed a check, where the function itself serves them.
    pub(crate) fn is_verified(&self, wanted: DerivativeSet) -> bool {
        let all = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&wanted).is_some_and(|known| known.verified.load(Ordering::Acquire))
    }

    /// The derivative that an earlier process chose, where its check counts here, and the sizes that were checked.
    pub(crate) fn kept(&self, wanted: DerivativeSet) -> Result<Option<(Artifact, ShapeRecord)>> {
        let choice: Option<Choice> = cache::read_json(&self.opened.choice_file(wanted));
        let Some(choice) = choice.filter(|c| c.format == FORMAT) else { return Ok(None) };
        let checks = self.opened.spec.options.verify;
        // A kept check may have been a doubtful one, which `strict` does not accept.
        let verified = choice.check.is_some() && checks == Verify::Once || checks == Verify::Off;
        let folder = layout::derivative_folder(&self.opened.cache, &self.opened.manifest.key, wanted, choice.pipeline);
        let artifact = if verified { Artifact::load(&self.opened.cache, &folder)? } else { None };
        let mut sizes = ShapeRecord { checked: choice.sizes, refused: choice.refused, paths: choice.paths };
        sizes.refuse(&self.refused_by_first_calls(wanted).refused);
        Ok(artifact.map(|artifact| (artifact, sizes)))
    }

    /// Digests of the sizes at which earlier calls, here or in other processes, found the derivative wrong, on any pipeline.
    pub(crate) fn refused_before(&self, wanted: DerivativeSet) -> Vec<u64> {
        let mut sizes = self.refused_by_first_calls(wanted);
        if let Some(pack) = &self.opened.pack {
            sizes.refuse(&pack.refused(wanted));
        } else if let Some(choice) =
            cache::read_json::<Choice>(&self.opened.choice_file(wanted)).filter(|c| c.format == FORMAT)
        {
            sizes.refuse(&choice.refused);
        }
        sizes.refused
    }

    fn refused_by_first_calls(&self, wanted: DerivativeSet) -> ShapeRecord {
        let all = self.trust.refused_sizes.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&wanted).cloned().unwrap_or_default()
    }

    /// Remembers sizes at which every pipeline is wrong where none serves others yet. Of an MPI program nothing, as in [`Self::record_refused`].
    pub(crate) fn refuse_for_first_calls(&self, wanted: DerivativeSet, resolved: &Resolved) {
        if !self.opened.spec.options.mpi {
            let mut all = self.trust.refused_sizes.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(wanted).or_default().refuse(&[checked_shapes::digest(resolved)]);
        }
    }

    pub(crate) fn accept(
        &self,
        wanted: DerivativeSet,
        artifact: Arc<Artifact>,
        verified: bool,
        sizes: &ShapeRecord,
    ) -> Arc<Artifact> {
        self.opened.share_primal(&artifact);
        let every_size = !artifact.record.skipped.is_empty();
        let paths = KnownPaths::from_kept(&artifact, &sizes.paths);
        let (verified, sizes) = (AtomicBool::new(verified), CheckedShapes::from_kept(sizes, every_size));
        let derivative = Derivative { artifact: artifact.clone(), verified, sizes, paths };
        let mut all = self.trust.derivatives.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(wanted, Arc::new(derivative));
        artifact
    }

    /// Counts these sizes as checked, here and, where the cache can be written to, in processes to come.
    pub(crate) fn record_shape(&self, wanted: DerivativeSet, known: &Derivative, resolved: &Resolved) {
        let digest = checked_shapes::digest(resolved);
        if !known.sizes.lack(digest) || known.sizes.are_refused(resolved) {
            return;
        }
        known.sizes.add(digest);
        // Another process may add what it refused.
        if let Ok(_lock) = self.opened.lock_if_alone(wanted) {
            self.record_shapes(wanted, known);
        }
    }

    /// Counts these sizes as refused; where the derivative `is_wrong` there, in processes to come too. The cache's lock is held.
    /// Not among the ranks of an MPI program, which have sizes of their own and would have to agree on a check.
    pub(crate) fn record_refused(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        resolved: &Resolved,
        is_wrong: bool,
    ) {
        if self.opened.spec.options.mpi {
            return;
        }
        known.sizes.refuse(checked_shapes::digest(resolved), is_wrong);
        if is_wrong {
            self.record_shapes(wanted, known);
        }
    }

    /// Counts paths as verified, here and, where the cache can be written to, in processes to come.
    pub(crate) fn record_paths(&self, wanted: DerivativeSet, known: &Derivative, paths: &PathSet) {
        if known.paths.kept().contains(paths) {
            return;
        }
        known.paths.add(paths);
        if let Ok(_lock) = self.opened.lock_if_alone(wanted) {
            self.record_shapes(wanted, known);
        }
    }

    /// Adds what is known of sizes and paths to what is kept, if that is of the same pipeline.
    fn record_shapes(&self, wanted: DerivativeSet, known: &Derivative) {
        let choice: Option<Choice> = cache::read_json(&self.opened.choice_file(wanted));
        let ours = choice.filter(|c| c.format == FORMAT && Some(c.pipeline) == known.artifact.record.pipeline);
        if let Some(choice) = ours.filter(|_| self.opened.pack.is_none()) {
            // What another process has verified counts here too.
            known.paths.add(&choice.paths);
            let mut kept = known.kept();
            kept.refuse(&choice.refused);
            let more = Choice { sizes: kept.checked, refused: kept.refused, paths: kept.paths, ..choice };
            // Without it the next process checks once more.
            let _ = cache::write_json(&self.opened.choice_file(wanted), &more);
        }
    }

    /// Refuses again without building everything once more, unless the next call may fare better.
    pub(crate) fn remember_refusal(&self, wanted: DerivativeSet, diagnosis: &Diagnosis) {
        if !is_passing(diagnosis) {
            let mut refusals = self.trust.refusals.lock().unwrap_or_else(PoisonError::into_inner);
            refusals.insert(wanted, Box::new(diagnosis.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_ad::diagnostics::codes;

    #[test]
    fn what_passes_is_known_by_codes_that_there_are() {
        for code in PASSING {
            assert!(codes::ALL.iter().any(|known| known.name == code), "{code}");
        }
    }
}
