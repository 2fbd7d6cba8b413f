//! The ladder: ways of preparing a function for differentiation, climbed until one is proven right.
//!
//! A rung that the engine refuses, or whose gradient fails its check, is passed over and recorded. When
//! none is left the caller gets the reasons, never a gradient.

use crate::build::{self, enzyme};
use crate::call::arguments::Input;
use crate::error::{Error, Result};
use crate::function::faulty_rule;
use crate::function::trust::Selection;
use crate::function::trust::checked_shapes::{self, Kept};
use crate::function::trust::status;
use crate::load::artifact::Artifact;
use crate::options::Verify;
use crate::verify::Outcome;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::CheckRecord;
use core_ad::protocol::Rung;
use core_ad::shapes::Resolved;
use std::sync::{Arc, PoisonError};

/// Code of the refusal to return a gradient that failed its check.
pub(crate) const UNPROVEN: &str = "unproven-gradient";

/// Problems that no other preparation can mend: climbing on would only take time.
const FINAL: [&str; 6] = [
    "engine-version",
    "missing-derivative",
    "inline-assembly",
    enzyme::TIMED_OUT,
    "engine-failed",
    core_ad::diagnostics::worker::TIMED_OUT,
];

/// What a climb has met.
#[derive(Default)]
pub(crate) struct Climb {
    /// Rungs that serve nobody, and why.
    passed_over: Vec<String>,
    /// What the engine refused first, and on which rung.
    refusal: Option<(Rung, Box<Diagnosis>)>,
    /// The numbers of the first gradient that was wrong.
    wrong: Option<CheckRecord>,
    /// Whether any was wrong, and not only, under `strict`, doubtful.
    is_wrong: bool,
    /// The first gradient of which nothing can be said at these arguments, and why.
    undecided: Option<(Arc<Artifact>, String)>,
    /// Whether a rung failed by what the next climb need not meet.
    may_fare_better: bool,
    /// Sizes that were refused before.
    refused: Vec<u64>,
}

impl Climb {
    /// A climb after which these sizes stay refused.
    pub fn beside(refused: Vec<u64>) -> Climb {
        Climb { refused, ..Climb::default() }
    }

    /// What is known of sizes where a rung proves nothing.
    fn sizes(&self) -> Kept {
        Kept { checked: Vec::new(), refused: self.refused.clone() }
    }

    /// Whether the next climb would come to the same end.
    pub fn is_final(&self) -> bool {
        !self.may_fare_better
    }

    /// Notes what the engine refused; `true` where to climb on would only take time.
    fn refuse(&mut self, rung: Rung, diagnosis: Box<Diagnosis>) -> bool {
        let is_final = FINAL.contains(&diagnosis.code.as_str());
        self.passed_over.push(format!("{}: {}", rung.name(), diagnosis.headline));
        self.may_fare_better |= status::is_passing(&diagnosis);
        self.refusal.get_or_insert((rung, diagnosis));
        is_final
    }

    /// Notes a gradient that failed its check.
    pub fn fail(&mut self, rung: Rung, record: CheckRecord, text: &str) {
        self.passed_over.push(format!("{}: wrong gradient: {text}", rung.name()));
        self.wrong.get_or_insert(record);
    }

    /// Notes a gradient of which nothing can be said.
    fn doubt(&mut self, rung: Rung, artifact: Arc<Artifact>, text: String) {
        self.passed_over.push(format!("{}: not proven: {text}", rung.name()));
        self.undecided.get_or_insert((artifact, text));
    }

    /// Whether only the arguments are to blame: of another rung there would be as little to say. After a gradient that is wrong
    /// there may be.
    fn is_undecidable(&self) -> bool {
        self.undecided.is_some() && self.wrong.is_none()
    }
}

impl Selection<'_> {
    /// The verified derivative artifact for the inputs in `wanted.mask`, built, and checked at these shapes, where it was not.
    ///
    /// # Errors
    ///
    /// A differentiation error where no pipeline gives a gradient that passes; what building meets.
    pub(crate) fn select(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let known = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        if let Some(known) = known
            && !self.is_check_due(&known, resolved)
        {
            return Ok(known.artifact.clone());
        }
        // One thread builds and checks; others wait for its outcome.
        let _building = self.trust.building.wait()?;
        let known = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        match known {
            Some(known) if !self.is_check_due(&known, resolved) => Ok(known.artifact.clone()),
            Some(known) => self.check_again(wanted, &known, inputs, resolved),
            None => self.find_or_climb_once(wanted, inputs, resolved),
        }
    }

    /// A function that was refused is refused again without building everything once more.
    fn find_or_climb_once(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let refused = self.trust.refusals.lock().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        if let Some(diagnosis) = refused {
            return Err(Error::Differentiation(diagnosis));
        }
        self.find_or_climb(wanted, inputs, resolved)
    }

    fn find_or_climb(&self, wanted: DerivativeSet, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Arc<Artifact>> {
        if let Some(pack) = &self.opened.pack {
            return match pack.proven(wanted, self.opened.spec.options.verify) {
                Some(artifact) => Ok(self.settle(wanted, artifact, true, &Kept::default())),
                None if pack.has(wanted) => self.climb(wanted, inputs, resolved),
                None => Err(pack.lacks(wanted, &self.opened.manifest.plan)),
            };
        }
        let kept = self.kept(wanted)?;
        if self.opened.spec.options.mpi && self.opened.spec.options.verify != Verify::Off {
            return self.climb_together(wanted, kept, inputs, resolved);
        }
        if let Some((artifact, sizes)) = kept {
            let artifact = self.settle(wanted, Arc::new(artifact), true, &sizes);
            let known = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
            return match known {
                Some(known) if self.is_check_due(&known, resolved) => {
                    self.check_again(wanted, &known, inputs, resolved)
                }
                _ => Ok(artifact),
            };
        }
        let _lock = self.opened.lock_if_alone(wanted)?;
        self.climb(wanted, inputs, resolved)
    }

    /// Builds the derivatives on the first rung that the engine takes, and proves nothing: the first call does. So a function
    /// that cannot be differentiated is refused before there are numbers.
    ///
    /// # Errors
    ///
    /// As the first call of the derivative, but for what only numbers tell.
    pub fn prepare(&self, wanted: DerivativeSet) -> Result<()> {
        let wanted = DerivativeSet { mask: wanted.mask & self.opened.manifest.plan.differentiable_mask(), ..wanted };
        if let Some(pack) = self.opened.pack.as_ref().filter(|_| wanted.mask != 0) {
            let has = pack.has(pack.serving(wanted));
            return if has { Ok(()) } else { Err(pack.lacks(wanted, &self.opened.manifest.plan)) };
        }
        // Tuning builds by itself, and only with arguments to time.
        if wanted.mask == 0 || self.opened.spec.options.tune || self.is_known(wanted) {
            return Ok(());
        }
        let _building = self.trust.building.wait()?;
        let refused = self.trust.refusals.lock().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        if let Some(diagnosis) = refused {
            return Err(Error::Differentiation(diagnosis));
        }
        if self.opened.has_artifact(wanted) {
            return Ok(());
        }
        let _lock = self.opened.lock(wanted)?;
        let mut climb = Climb::default();
        for rung in self.opened.rungs(wanted) {
            if self.opened.has_artifact(wanted) {
                return Ok(());
            }
            match build::derivative(&self.opened.context()?, &self.opened.manifest, wanted, rung) {
                Ok(_) => return Ok(()),
                Err(Error::Differentiation(d)) => {
                    if climb.refuse(rung, d) {
                        break;
                    }
                }
                Err(other) => return Err(other),
            }
        }
        match self.explained(&climb, wanted)? {
            Some(diagnosis) => Err(self.remembered(wanted, &climb, diagnosis)),
            None => Ok(()),
        }
    }

    fn is_known(&self, wanted: DerivativeSet) -> bool {
        self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).contains_key(&wanted)
    }

    /// The same among the ranks of an MPI program. What is kept counts if every rank has found it; else all climb, and
    /// every check is made by all. One rank may build while another waits, but not while it checks.
    fn climb_together(
        &self,
        wanted: DerivativeSet,
        kept: Option<(Artifact, Kept)>,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let found = kept.is_some();
        let spoken_for = match kept {
            Some((artifact, _)) => Some(Arc::new(artifact)),
            // Any artifact can ask the others.
            None => self.opened.rungs(wanted).into_iter().find_map(|rung| self.opened.built(wanted, rung).ok()),
        };
        if let Some(artifact) = spoken_for
            && artifact.ranks.is_none_or(|ranks| ranks.all(found))
            && found
        {
            return Ok(self.settle(wanted, artifact, true, &Kept::default()));
        }
        self.climb(wanted, inputs, resolved)
    }

    /// Tries rung after rung.
    fn climb(&self, wanted: DerivativeSet, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Arc<Artifact>> {
        let mut climb = Climb::beside(self.refused_before(wanted));
        if let Some(artifact) = self.climb_over(self.opened.rungs(wanted), &mut climb, wanted, inputs, resolved)? {
            return Ok(artifact);
        }
        if climb.is_wrong {
            self.refuse_at_first(wanted, resolved);
        }
        let diagnosis = self.refusal(&climb, wanted, inputs, resolved)?;
        Err(self.remembered(wanted, &climb, diagnosis))
    }

    /// Tries these rungs; `None` where none of them serves.
    pub(crate) fn climb_over(
        &self,
        rungs: Vec<Rung>,
        climb: &mut Climb,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Option<Arc<Artifact>>> {
        for rung in rungs {
            match self.try_rung(wanted, rung, inputs, resolved, climb) {
                Ok(Some(artifact)) => return Ok(Some(artifact)),
                Ok(None) if climb.is_undecidable() => break,
                Ok(None) => {}
                Err(Error::Differentiation(d)) => {
                    if climb.refuse(rung, d) {
                        break;
                    }
                }
                // The user's wish to end, a full disk, an exception of the foreign code: nothing about the gradient.
                Err(other) => return Err(other),
            }
        }
        if self.opened.is_strict() {
            return Ok(None);
        }
        Ok(climb.undecided.take().map(|(artifact, text)| {
            let artifact = self.settle(wanted, artifact, false, &climb.sizes());
            self.tell_undecided(wanted, resolved, &text);
            artifact
        }))
    }

    /// Why nothing is returned after a climb that found nothing.
    pub(crate) fn refusal(
        &self,
        climb: &Climb,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Box<Diagnosis>> {
        if let Some(record) = &climb.wrong
            && let Some(diagnosis) = faulty_rule::blame(self.opened, wanted, inputs, resolved, Some(record))?
        {
            return Ok(Box::new(diagnosis));
        }
        if let Some((_, text)) = climb.undecided.as_ref().filter(|_| climb.is_undecidable()) {
            return Ok(self.undecided(text));
        }
        let refused = self.explained(climb, wanted)?;
        match (refused, &climb.wrong) {
            (Some(diagnosis), None) => Ok(diagnosis),
            (refused, _) => Ok(self.unproven(&climb.passed_over, refused)),
        }
    }

    /// What the engine refused first, with its place.
    fn explained(&self, climb: &Climb, wanted: DerivativeSet) -> Result<Option<Box<Diagnosis>>> {
        let Some((rung, mut diagnosis)) = climb.refusal.clone() else { return Ok(None) };
        build::explain(&self.opened.context()?, &self.opened.manifest, wanted, rung, &mut diagnosis);
        Ok(Some(diagnosis))
    }

    /// The refusal, remembered unless a rung failed by what the next climb need not meet: that rung may then be right.
    fn remembered(&self, wanted: DerivativeSet, climb: &Climb, diagnosis: Box<Diagnosis>) -> Error {
        if climb.is_final() {
            self.remember_refusal(wanted, &diagnosis);
        }
        Error::Differentiation(diagnosis)
    }

    /// The refusal where no gradient passed its check; `refused` is what the engine did not take on other rungs.
    fn unproven(&self, passed_over: &[String], refused: Option<Box<Diagnosis>>) -> Box<Diagnosis> {
        let function = &self.opened.spec.function;
        let headline = format!("no gradient of `{function}` could be proven right, so none is returned");
        let mut diagnosis = Diagnosis::new(UNPROVEN, function, headline)
            .quote(passed_over.join("\n"))
            .advise("Give the part that the engine cannot treat as a function of its own and mark it inactive,")
            .advise("rewrite it (copy buffers instead of swapping pointers, use real instead of complex division),")
            .advise("or report it: a wrong gradient that is caught is a bug of the engine all the same.");
        if let Some(refused) = refused {
            (diagnosis.location, diagnosis.inside, diagnosis.callers) =
                (refused.location, refused.inside, refused.callers);
            diagnosis.kept = refused.kept;
        }
        Box::new(diagnosis)
    }

    /// Builds (or loads) and checks one rung; `None` where its gradient is wrong, or nothing can be said of it.
    fn try_rung(
        &self,
        wanted: DerivativeSet,
        rung: Rung,
        inputs: &[Input<'_>],
        resolved: &Resolved,
        climb: &mut Climb,
    ) -> Result<Option<Arc<Artifact>>> {
        let artifact = self.opened.built(wanted, rung)?;
        if self.opened.spec.options.verify == Verify::Off {
            self.opened.keep_choice(wanted, rung, None, &climb.passed_over, &climb.sizes())?;
            return Ok(Some(self.settle(wanted, artifact, true, &climb.sizes())));
        }
        let here = Kept::one(checked_shapes::digest(resolved), &climb.refused);
        match self.opened.check(&artifact, inputs, resolved)? {
            Outcome::Passed(record) => {
                self.tell(rung, &artifact);
                self.opened.keep_choice(wanted, rung, Some(record), &climb.passed_over, &here)?;
                Ok(Some(self.settle(wanted, artifact, true, &here)))
            }
            Outcome::Doubtful(record, text) if !self.opened.is_strict() => {
                self.tell(rung, &artifact);
                self.opened.keep_choice(wanted, rung, Some(record), &climb.passed_over, &here)?;
                let artifact = self.settle(wanted, artifact, true, &here);
                self.tell_doubt(wanted, resolved, &text);
                Ok(Some(artifact))
            }
            Outcome::Vacuous => Ok(Some(self.settle(wanted, artifact, false, &climb.sizes()))),
            Outcome::Undecided(text) => {
                climb.doubt(rung, artifact, text);
                Ok(None)
            }
            Outcome::Doubtful(record, text) => {
                climb.fail(rung, record, &text);
                Ok(None)
            }
            Outcome::Wrong(record, text) => {
                climb.is_wrong = true;
                climb.fail(rung, record, &text);
                Ok(None)
            }
        }
    }

    fn tell(&self, rung: Rung, artifact: &Artifact) {
        for note in artifact.record.diagnostics.iter().filter(|note| note.contains("reversed by one thread")) {
            self.opened.warn(note.clone());
        }
        if rung == Rung::Serial {
            let function = &self.opened.spec.function;
            self.opened.warn(format!(
                "the gradient of `{function}` runs on one thread: the engine cannot reverse its parallel regions"
            ));
        }
        if rung == Rung::Loose {
            let function = &self.opened.spec.function;
            self.opened.warn(format!(
                "the engine had to guess types in `{function}`; the gradient passed its check at these arguments"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::OUT_OF_MEMORY;

    fn refused(code: &str) -> Box<Diagnosis> {
        Box::new(Diagnosis::new(code, "f", "it went wrong"))
    }

    #[test]
    fn a_refusal_lasts_only_if_no_rung_failed_by_what_passes() {
        let mut climb = Climb::default();
        assert!(!climb.refuse(Rung::Inlined, refused("allocation")));
        assert!(!climb.may_fare_better);
        assert!(!climb.refuse(Rung::O1, refused(OUT_OF_MEMORY)));
        assert!(climb.may_fare_better);
        assert_eq!(
            climb.refusal.as_ref().map(|(rung, d)| (*rung, d.code.as_str())),
            Some((Rung::Inlined, "allocation"))
        );
        assert!(climb.refuse(Rung::O2, refused(enzyme::TIMED_OUT)), "others would take as long");
        assert!(!climb.is_undecidable(), "nothing was checked");
        assert_eq!(climb.passed_over, ["inlined: it went wrong", "o1: it went wrong", "o2: it went wrong"]);
    }
}
