//! Checks after the first: of a derivative that is in use but was not proven yet, or not at these sizes, or that is proven at
//! every call. And what is told of a check that was no plain yes or no.

use crate::call::arguments::Input;
use crate::error::{Error, Result};
use crate::function::select::{Climb, UNPROVEN};
use crate::function::trust::Selection;
use crate::function::trust::checked_shapes;
use crate::function::trust::status::Derivative;
use crate::load::artifact::Artifact;
use crate::verify::Outcome;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::CheckRecord;
use core_ad::shapes::Resolved;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

impl Selection<'_> {
    /// Checks a derivative in use. What is wrong at these arguments gives way to a rung that is right, or is refused.
    pub(crate) fn check_again(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        match self.opened.check(&known.artifact, inputs, resolved)? {
            Outcome::Passed(record) => self.count_proof(wanted, known, record, resolved)?,
            Outcome::Doubtful(record, text) if !self.opened.is_strict() => {
                self.tell_doubt(wanted, resolved, &text);
                self.count_proof(wanted, known, record, resolved)?;
            }
            // Nothing is proven at these sizes: the next call looks again.
            Outcome::Vacuous => {}
            Outcome::Undecided(text) if self.opened.is_strict() => {
                self.keep_refused(wanted, known, resolved, false);
                return Err(Error::Differentiation(self.undecided(&text)));
            }
            Outcome::Undecided(text) => self.tell_undecided(wanted, resolved, &text),
            Outcome::Doubtful(record, text) => {
                return self.replace(wanted, known, (record, &text, false), inputs, resolved);
            }
            Outcome::Wrong(record, text) => {
                return self.replace(wanted, known, (record, &text, true), inputs, resolved);
            }
        }
        Ok(known.artifact.clone())
    }

    /// Counts a check that says enough: the derivative is proven, and is so at these sizes.
    fn count_proof(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        record: CheckRecord,
        resolved: &Resolved,
    ) -> Result<()> {
        let is_news = !known.settled.swap(true, Ordering::AcqRel);
        if let Some(rung) = known.artifact.record.rung.filter(|_| is_news) {
            let mut sizes = known.sizes.kept();
            sizes.refuse(&self.refused_before(wanted));
            self.opened.keep_choice(wanted, rung, Some(record), &[], &sizes)?;
        }
        self.keep_size(wanted, known, resolved);
        Ok(())
    }

    /// A derivative in use is wrong at these arguments, or under `strict` not right enough. The rungs after it may still be right;
    /// that none is is found out once in a process and for a size.
    fn replace(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        (record, text, is_wrong): (CheckRecord, &str, bool),
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        if let Some(diagnosis) = known.sizes.explanation(checked_shapes::digest(resolved)) {
            return Err(Error::Differentiation(diagnosis));
        }
        let _lock = self.opened.lock_if_alone(wanted)?;
        let mut before = known.sizes.kept();
        before.refuse(&self.refused_before(wanted));
        // Before the climb, which may be interrupted: the rung stays in use at other sizes.
        self.keep_refused(wanted, known, resolved, is_wrong);
        let mut climb = Climb::beside(before.refused);
        let tried = known.artifact.record.rung;
        if let Some(rung) = tried {
            climb.fail(rung, record, text);
        }
        let rest = self.opened.rungs(wanted).into_iter().skip_while(|r| Some(*r) != tried).skip(1).collect();
        if let Some(artifact) = self.climb_over(rest, &mut climb, wanted, inputs, resolved)? {
            return Ok(artifact);
        }
        let diagnosis = self.refusal(&climb, wanted, inputs, resolved)?;
        if climb.is_final() {
            known.sizes.explain(checked_shapes::digest(resolved), &diagnosis);
        }
        Err(Error::Differentiation(diagnosis))
    }

    /// Warns of a check that only finite differences do not confirm, once for each size; where every call is checked, each time.
    pub(crate) fn tell_doubt(&self, wanted: DerivativeSet, resolved: &Resolved, text: &str) {
        if self.is_told_first(wanted, resolved) || self.opened.verifies_always() {
            let function = &self.opened.spec.function;
            self.opened.warn(format!(
                "the gradient of `{function}` is doubtful at these arguments: {text}. A kink, chaos or coarse precision can be the reason."
            ));
        }
    }

    /// Warns of a check that says nothing, once for each size.
    pub(crate) fn tell_undecided(&self, wanted: DerivativeSet, resolved: &Resolved, text: &str) {
        if self.is_told_first(wanted, resolved) {
            let function = &self.opened.spec.function;
            self.opened
                .warn(format!("the gradient of `{function}` is not proven yet: {text}; the next call checks again"));
        }
    }

    /// Whether nobody was warned at these sizes yet.
    fn is_told_first(&self, wanted: DerivativeSet, resolved: &Resolved) -> bool {
        let all = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&wanted).is_none_or(|known| known.sizes.tell(checked_shapes::digest(resolved)))
    }

    /// The refusal where nothing can be said and a warning is not enough.
    pub(crate) fn undecided(&self, text: &str) -> Box<Diagnosis> {
        let function = &self.opened.spec.function;
        let headline = format!("the gradient of `{function}` cannot be proven at these arguments, so none is returned");
        let diagnosis = Diagnosis::new(UNPROVEN, function, headline).quote(text);
        Box::new(
            diagnosis
                .advise("verify=\"strict\" refuses what it cannot check; verify=\"once\" returns it with a warning."),
        )
    }
}
