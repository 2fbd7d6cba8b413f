//! Derivatives in use: what was proven of them, here and by earlier processes, and when they are checked again.

use crate::build::enzyme;
use crate::cache::{self, layout};
use crate::error::{OUT_OF_MEMORY, Result};
use crate::function::Function;
use crate::function::faulty_rule;
use crate::function::select::UNPROVEN;
use crate::function::trust::checked_shapes::{self, Kept, Sizes};
use crate::load::artifact::Artifact;
use crate::options::Verify;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::{CheckRecord, Choice, FORMAT};
use core_ad::protocol::Rung;
use core_ad::shapes::Resolved;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

/// A derivative artifact in use.
pub struct Derivative {
    /// The code.
    pub artifact: Arc<Artifact>,
    /// Nothing more needs to be checked, at the sizes that were.
    pub(crate) settled: AtomicBool,
    /// Those sizes.
    pub(crate) sizes: Sizes,
}

/// What calls have to be checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Enough was proven.
    Nothing,
    /// Until one of them proves something at these sizes too.
    Proof,
    /// Each for itself.
    Each,
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

impl Function {
    /// Whether a call of these sizes has to be checked.
    pub(crate) fn is_check_due(&self, known: &Derivative, resolved: &Resolved) -> bool {
        if self.is_each_checked(known, resolved) || !known.settled.load(Ordering::Acquire) {
            return true;
        }
        // The ranks of an MPI program would have to agree; what is packed was proven where it was packed.
        self.spec.options.verify != Verify::Off
            && !self.spec.options.mpi
            && self.pack.is_none()
            && known.sizes.lack(checked_shapes::digest(resolved))
            && (known.sizes.are_all_checked() || self.has_small_arguments(resolved))
    }

    /// Whether every call of these sizes has to be checked.
    fn is_each_checked(&self, known: &Derivative, resolved: &Resolved) -> bool {
        match self.spec.options.verify {
            Verify::Always => true,
            Verify::Off => false,
            Verify::Once | Verify::Strict => known.sizes.are_refused(resolved),
        }
    }

    fn has_small_arguments(&self, resolved: &Resolved) -> bool {
        let arguments = self.manifest.plan.args.iter().enumerate();
        checked_shapes::are_small(arguments.map(|(i, arg)| resolved.elements(i).saturating_mul(arg.dtype.size())))
    }

    /// What calls of these sizes still have to be checked for, by the function that serves them.
    pub(crate) fn due(&self, wanted: DerivativeSet, resolved: &Resolved) -> Due {
        let wanted = self.serving(wanted);
        if let Some(other) = self.server(wanted, resolved) {
            return other.due(wanted, resolved);
        }
        let known = self.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        match known {
            // Before anything is proven it is the first element that tells something which counts, however far behind.
            Some(known) if self.is_each_checked(&known, resolved) || !known.settled.load(Ordering::Acquire) => {
                Due::Each
            }
            Some(known) if self.is_check_due(&known, resolved) => Due::Proof,
            // A primal alone is not among them.
            _ => Due::Nothing,
        }
    }

    /// The function that serves these derivatives in this one's place: a variant of a pack, what tuning or specialising chose.
    fn server(&self, wanted: DerivativeSet, resolved: &Resolved) -> Option<Arc<Function>> {
        if let Some(variant) = self.packed_variants.iter().find_map(|v| v.serving(wanted, resolved)) {
            return Some(variant.clone());
        }
        let options = &self.spec.options;
        match (options.mpi, options.specialize, options.tune) {
            (false, true, _) => self.specialised_before(wanted, resolved),
            (false, false, true) => self.tuned_before(wanted, resolved),
            _ => None,
        }
    }

    /// Whether these derivatives have passed a check, where the function itself serves them.
    pub(crate) fn has_proof(&self, wanted: DerivativeSet) -> bool {
        let all = self.derivatives.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&wanted).is_some_and(|known| known.settled.load(Ordering::Acquire))
    }

    /// The derivative that an earlier process chose, where its check counts here, and the sizes that were checked.
    pub(crate) fn kept(&self, wanted: DerivativeSet) -> Result<Option<(Artifact, Kept)>> {
        let choice: Option<Choice> = cache::read_json(&self.choice_file(wanted));
        let Some(choice) = choice.filter(|c| c.format == FORMAT) else { return Ok(None) };
        let checks = self.spec.options.verify;
        // A kept check may have been a doubtful one, which `strict` does not accept.
        let settled = choice.check.is_some() && checks == Verify::Once || checks == Verify::Off;
        let folder = layout::derivative_folder(&self.cache, &self.manifest.key, wanted, choice.rung);
        let artifact = if settled { Artifact::load(&self.cache, &folder)? } else { None };
        let mut sizes = Kept { checked: choice.sizes, refused: choice.refused };
        sizes.refuse(&self.refused_at_first(wanted).refused);
        Ok(artifact.map(|artifact| (artifact, sizes)))
    }

    pub(crate) fn choice_file(&self, wanted: DerivativeSet) -> PathBuf {
        self.cache.entry(&self.manifest.key).join(format!("choice-{}.json", wanted.name()))
    }

    /// Sizes at which the derivative, on whatever rung, was proven wrong by earlier calls, here or in other processes.
    pub(crate) fn refused_before(&self, wanted: DerivativeSet) -> Vec<u64> {
        let mut sizes = self.refused_at_first(wanted);
        if let Some(pack) = &self.pack {
            sizes.refuse(&pack.refused(wanted));
        } else if let Some(choice) =
            cache::read_json::<Choice>(&self.choice_file(wanted)).filter(|c| c.format == FORMAT)
        {
            sizes.refuse(&choice.refused);
        }
        sizes.refused
    }

    fn refused_at_first(&self, wanted: DerivativeSet) -> Kept {
        let all = self.refused_sizes.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&wanted).cloned().unwrap_or_default()
    }

    /// Remembers sizes at which every rung is wrong where none serves others yet. Of an MPI program nothing, as in [`Self::keep_refused`].
    pub(crate) fn refuse_at_first(&self, wanted: DerivativeSet, resolved: &Resolved) {
        if !self.spec.options.mpi {
            let mut all = self.refused_sizes.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(wanted).or_default().refuse(&[checked_shapes::digest(resolved)]);
        }
    }

    pub(crate) fn settle(
        &self,
        wanted: DerivativeSet,
        artifact: Arc<Artifact>,
        settled: bool,
        sizes: &Kept,
    ) -> Arc<Artifact> {
        self.share_primal(&artifact);
        let every_size = !artifact.record.skipped.is_empty();
        let (settled, sizes) = (AtomicBool::new(settled), Sizes::from_kept(sizes, every_size));
        let derivative = Derivative { artifact: artifact.clone(), settled, sizes };
        let mut all = self.derivatives.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(wanted, Arc::new(derivative));
        artifact
    }

    pub(crate) fn keep_choice(
        &self,
        wanted: DerivativeSet,
        rung: Rung,
        check: Option<CheckRecord>,
        passed_over: &[String],
        sizes: &Kept,
    ) -> Result<()> {
        if self.pack.is_some() {
            return Ok(());
        }
        let (passed_over, Kept { checked, refused }) = (passed_over.to_vec(), sizes.clone());
        let choice = Choice { format: FORMAT, rung, check, passed_over, sizes: checked, refused };
        cache::write_json(&self.choice_file(wanted), &choice)
    }

    /// Counts these sizes as checked, here and, where the cache can be written to, in processes to come.
    pub(crate) fn keep_size(&self, wanted: DerivativeSet, known: &Derivative, resolved: &Resolved) {
        let digest = checked_shapes::digest(resolved);
        if !known.sizes.lack(digest) || known.sizes.are_refused(resolved) {
            return;
        }
        known.sizes.add(digest);
        // Another process may add what it refused.
        if let Ok(_lock) = self.lock_if_alone(wanted) {
            self.keep_sizes(wanted, known);
        }
    }

    /// Counts these sizes as refused; where the derivative `is_wrong` there, in processes to come too. The cache's lock is held.
    /// Not among the ranks of an MPI program, which have sizes of their own and would have to agree on a check.
    pub(crate) fn keep_refused(&self, wanted: DerivativeSet, known: &Derivative, resolved: &Resolved, is_wrong: bool) {
        if self.spec.options.mpi {
            return;
        }
        known.sizes.refuse(checked_shapes::digest(resolved), is_wrong);
        if is_wrong {
            self.keep_sizes(wanted, known);
        }
    }

    /// Adds what is known of sizes to what is kept, if that is of the same rung.
    fn keep_sizes(&self, wanted: DerivativeSet, known: &Derivative) {
        let choice: Option<Choice> = cache::read_json(&self.choice_file(wanted));
        let ours = choice.filter(|c| c.format == FORMAT && Some(c.rung) == known.artifact.record.rung);
        if let Some(choice) = ours.filter(|_| self.pack.is_none()) {
            let mut kept = known.sizes.kept();
            kept.refuse(&choice.refused);
            let more = Choice { sizes: kept.checked, refused: kept.refused, ..choice };
            // Without it the next process checks once more.
            let _ = cache::write_json(&self.choice_file(wanted), &more);
        }
    }

    /// Refuses again without building everything once more, unless the next call may fare better.
    pub(crate) fn remember_refusal(&self, wanted: DerivativeSet, diagnosis: &Diagnosis) {
        if !is_passing(diagnosis) {
            let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
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
