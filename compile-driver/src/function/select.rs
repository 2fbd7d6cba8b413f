//! The choice of a derivative: pipelines are tried in order until the gradient of one passes verification.
//!
//! A pipeline that Enzyme refuses, or whose gradient fails its check, is rejected and recorded. When none is left the caller gets
//! the reasons, never a gradient.

use crate::build::{self, enzyme};
use crate::call::arguments::Input;
use crate::error::{Error, Result};
use crate::function::faulty_rule;
use crate::function::pipeline_queue::Queue;
use crate::function::search::Search;
use crate::function::trust::Selection;
use crate::function::trust::checked_shapes::{self, ShapeRecord};
use crate::function::trust::status::is_passing;
use crate::function::unproven;
use crate::load::artifact::Artifact;
use crate::options::{GivenDerivative, Verify};
use crate::os::progress::Step;
use crate::prover;
use crate::verify::{Checked, Outcome};
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::Pipeline;
use core_ad::shapes::Resolved;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Code of the refusal to return a gradient that failed its check.
pub(crate) const UNPROVEN: &str = "unproven-gradient";

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
        let _building = self.trust.building.lock()?;
        let known = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        match known {
            Some(known) if !self.is_check_due(&known, resolved) => Ok(known.artifact.clone()),
            Some(known) => self.check_again(wanted, &known, inputs, resolved),
            None => self.cached_or_search_once(wanted, inputs, resolved),
        }
    }

    /// A function that was refused is refused again without building everything once more.
    fn cached_or_search_once(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let refused = self.trust.refusals.lock().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        if let Some(diagnosis) = refused {
            return Err(Error::Differentiation(diagnosis));
        }
        self.cached_or_search(wanted, inputs, resolved)
    }

    fn cached_or_search(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        if let Some(pack) = &self.opened.pack {
            return match pack.proven(wanted, self.opened.spec.options.verify) {
                Some(artifact) => {
                    let kept = ShapeRecord::default().on(pack.paths(wanted));
                    Ok(self.accept(wanted, artifact, true, &kept))
                }
                None if pack.has(wanted) => self.search(wanted, inputs, resolved),
                None => Err(pack.lacks(wanted, &self.opened.manifest.plan)),
            };
        }
        let kept = self.kept(wanted)?;
        if self.opened.spec.options.mpi && self.opened.spec.options.verify != Verify::Off {
            return self.search_together(wanted, kept, inputs, resolved);
        }
        if let Some((artifact, sizes)) = kept {
            let artifact = self.accept(wanted, Arc::new(artifact), true, &sizes);
            let known = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
            return match known {
                Some(known) if self.is_check_due(&known, resolved) => {
                    self.check_again(wanted, &known, inputs, resolved)
                }
                _ => Ok(artifact),
            };
        }
        let _lock = self.opened.lock_if_alone(wanted)?;
        self.search(wanted, inputs, resolved)
    }

    /// Builds the derivatives in the first pipeline that Enzyme accepts, without verification: the first call verifies. So a
    /// function that cannot be differentiated is refused before there are input values.
    ///
    /// # Errors
    ///
    /// As the first call of the derivative, except for what depends on values.
    pub fn prepare(&self, wanted: DerivativeSet) -> Result<()> {
        let wanted = DerivativeSet { mask: wanted.mask & self.opened.manifest.plan.differentiable_mask(), ..wanted };
        if let Some(pack) = self.opened.pack.as_ref().filter(|_| wanted.mask != 0) {
            let has = pack.has(pack.served_by(wanted));
            return if has { Ok(()) } else { Err(pack.lacks(wanted, &self.opened.manifest.plan)) };
        }
        // Tuning builds by itself, and only with arguments to time.
        if wanted.mask == 0 || self.opened.spec.options.tune || self.is_known(wanted) {
            return Ok(());
        }
        let _building = self.trust.building.lock()?;
        let refused = self.trust.refusals.lock().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        if let Some(diagnosis) = refused {
            return Err(Error::Differentiation(diagnosis));
        }
        if self.opened.has_artifact(wanted) {
            return Ok(());
        }
        let _lock = self.opened.lock(wanted)?;
        let mut search = Search::default();
        let limit = self.opened.time_limit();
        let _step = Step::begin(format!("gradient of `{}`", self.opened.spec.function));
        let mut queue = Queue::of(self.opened.pipelines(wanted), limit);
        while let Some(pipeline) = queue.next() {
            if self.opened.has_artifact(wanted) {
                return Ok(());
            }
            if queue.is_late() {
                search.stop(1 + queue.waiting());
                break;
            }
            let _step = Step::begin(format!("pipeline {}", pipeline.name()));
            match build::derivative(&self.opened.context()?, &self.opened.manifest, wanted, pipeline, queue.left()) {
                Ok(_) => return Ok(()),
                Err(Error::Differentiation(d)) => {
                    let ends = queue.ends_with(&d.code);
                    let passing = is_passing(&d);
                    search.refuse(pipeline, d, passing);
                    if ends {
                        break;
                    }
                }
                Err(other) => return Err(other),
            }
        }
        match self.explained(&search, wanted)? {
            Some(diagnosis) => Err(self.remembered(wanted, &search, diagnosis)),
            None => Ok(()),
        }
    }

    fn is_known(&self, wanted: DerivativeSet) -> bool {
        self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).contains_key(&wanted)
    }

    /// The same among the ranks of an MPI program. What is kept counts if every rank has found it; else all search, and
    /// every check is made by all. One rank may build while another waits, but not while it checks.
    fn search_together(
        &self,
        wanted: DerivativeSet,
        kept: Option<(Artifact, ShapeRecord)>,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let found = kept.is_some();
        let spoken_for = match kept {
            Some((artifact, _)) => Some(Arc::new(artifact)),
            // Any artifact can ask the others.
            None => self
                .opened
                .pipelines(wanted)
                .into_iter()
                .find_map(|pipeline| self.opened.built(wanted, pipeline, self.opened.time_limit()).ok()),
        };
        if let Some(artifact) = spoken_for
            && artifact.ranks.is_none_or(|ranks| ranks.all(found))
            && found
        {
            return Ok(self.accept(wanted, artifact, true, &ShapeRecord::default()));
        }
        self.search(wanted, inputs, resolved)
    }

    /// Tries pipeline after pipeline.
    fn search(&self, wanted: DerivativeSet, inputs: &[Input<'_>], resolved: &Resolved) -> Result<Arc<Artifact>> {
        if self.opened.spec.options.verify != Verify::Off && !self.opened.spec.options.mpi {
            prover::warm();
        }
        let mut search = Search::beside(self.refused_before(wanted));
        if let Some(artifact) =
            self.try_pipelines(self.opened.pipelines(wanted), &mut search, wanted, inputs, resolved)?
        {
            return Ok(artifact);
        }
        if search.is_wrong {
            self.refuse_for_first_calls(wanted, resolved);
        }
        let diagnosis = self.refusal(&search, wanted, inputs, resolved)?;
        Err(self.remembered(wanted, &search, diagnosis))
    }

    /// Tries these pipelines; `None` where none of them serves.
    pub(crate) fn try_pipelines(
        &self,
        pipelines: Vec<Pipeline>,
        search: &mut Search,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Option<Arc<Artifact>>> {
        let limit = self.opened.time_limit();
        let _step = Step::begin(format!("gradient of `{}`", self.opened.spec.function));
        let mut queue = Queue::of(pipelines, limit);
        search.requested().any(|pipeline| queue.request(pipeline));
        while let Some(pipeline) = queue.next() {
            if queue.is_late() {
                search.stop(1 + queue.waiting());
                break;
            }
            let _step = Step::begin(format!("pipeline {}", pipeline.name()));
            match self.try_pipeline(wanted, pipeline, queue.left(), inputs, resolved, search) {
                Ok(Some(artifact)) => return Ok(Some(artifact)),
                Ok(None) if search.requested().any(|pipeline| queue.request(pipeline)) => {}
                Ok(None) if search.is_inconclusive() => break,
                Ok(None) => {}
                Err(Error::Differentiation(d)) => {
                    let ends = queue.ends_with(&d.code);
                    let passing = is_passing(&d);
                    search.refuse(pipeline, d, passing);
                    if ends {
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
        Ok(search.inconclusive.take().map(|(artifact, text)| {
            let artifact = self.accept(wanted, artifact, false, &search.sizes());
            self.warn_inconclusive(wanted, checked_shapes::digest(resolved), &text);
            artifact
        }))
    }

    /// Why nothing is returned after a search that found nothing.
    pub(crate) fn refusal(
        &self,
        search: &Search,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Box<Diagnosis>> {
        if let Some(record) = &search.wrong
            && let Some(diagnosis) = faulty_rule::find(self.opened, wanted, inputs, resolved, Some(record))?
        {
            return Ok(Box::new(diagnosis));
        }
        if let Some((_, text)) = search.inconclusive.as_ref().filter(|_| search.is_inconclusive()) {
            return Ok(self.undecided(text));
        }
        let refused = self.explained(search, wanted)?;
        match (refused, &search.wrong) {
            (Some(diagnosis), None) => Ok(diagnosis),
            (refused, _) => Ok(self.unproven(search, refused)),
        }
    }

    /// What Enzyme refused first, with its place.
    fn explained(&self, search: &Search, wanted: DerivativeSet) -> Result<Option<Box<Diagnosis>>> {
        let Some((pipeline, mut diagnosis)) = search.refusal.clone() else { return Ok(None) };
        build::explain(&self.opened.context()?, &self.opened.manifest, wanted, pipeline, &mut diagnosis);
        if self.opened.spec.options.loose_types {
            unproven::leave_out_guesses(&mut diagnosis.advice);
        }
        // Time that is over says so by itself.
        if search.untried > 0 && diagnosis.code != enzyme::TIMED_OUT {
            let seconds = 4 * self.opened.spec.options.timeout.max(1);
            diagnosis.advice.push(format!(
                "{} more pipelines were not tried: those before took all of the time limit. Raise it, as with timeout={seconds}.",
                search.untried
            ));
        }
        Ok(Some(diagnosis))
    }

    /// The refusal, remembered unless a pipeline failed by what the next search need not meet: that pipeline may then be right.
    fn remembered(&self, wanted: DerivativeSet, search: &Search, diagnosis: Box<Diagnosis>) -> Error {
        if search.is_final() {
            self.remember_refusal(wanted, &diagnosis);
        }
        Error::Differentiation(diagnosis)
    }

    fn has_arrays(&self) -> bool {
        self.opened.manifest.plan.args.iter().any(|arg| !arg.shape.is_empty())
    }

    /// The refusal where no gradient passed its check; `refused` is what Enzyme did not take in other pipelines.
    fn unproven(&self, search: &Search, refused: Option<Box<Diagnosis>>) -> Box<Diagnosis> {
        let rejected = &search.rejected;
        let function = &self.opened.spec.function;
        let headline = format!("no gradient of `{function}` could be proven right, so none is returned");
        let mut diagnosis = Diagnosis::new(UNPROVEN, function, headline).quote(unproven::reasons(rejected));
        let equations = self.opened.spec.options.derivatives.iter().filter_map(|(solver, given)| match given {
            GivenDerivative::Implicit(rule) => Some((solver.as_str(), rule.implicit.as_str())),
            GivenDerivative::Functions(_) => None,
        });
        diagnosis.advice =
            unproven::advice(rejected, &equations.collect::<Vec<_>>(), (self.has_arrays(), search.is_special));
        if let Some(refused) = refused {
            (diagnosis.location, diagnosis.inside, diagnosis.callers) =
                (refused.location, refused.inside, refused.callers);
            diagnosis.kept = refused.kept;
        }
        Box::new(diagnosis)
    }

    /// Builds (or loads) and checks one pipeline; `None` where its gradient is wrong, or the check inconclusive.
    pub(crate) fn try_pipeline(
        &self,
        wanted: DerivativeSet,
        pipeline: Pipeline,
        within: Duration,
        inputs: &[Input<'_>],
        resolved: &Resolved,
        search: &mut Search,
    ) -> Result<Option<Arc<Artifact>>> {
        let artifact = self.opened.built(wanted, pipeline, within)?;
        if self.opened.spec.options.verify == Verify::Off {
            self.opened.record_choice(wanted, pipeline, None, &search.rejected, &search.sizes())?;
            return Ok(Some(self.accept(wanted, artifact, true, &search.sizes())));
        }
        let place = checked_shapes::digest(resolved);
        let Checked { outcome, paths, singular, kink, .. } = self.checked(wanted, &artifact, inputs, resolved)?;
        search.singular |= singular;
        let is_special = artifact.record.tests_equality && outcome.is_contradicted();
        search.is_special |= is_special;
        if singular || is_special {
            search.failed = Some(pipeline);
        }
        let here = ShapeRecord::one(place, &search.refused).on(paths);
        // With `strict` the queue of the search has it next.
        if !self.opened.is_strict()
            && matches!(outcome, Outcome::Suspect(..))
            && let Some(artifact) = self.try_generic(wanted, &artifact, inputs, resolved)?
        {
            return Ok(Some(artifact));
        }
        match outcome {
            Outcome::Passed(record) => {
                self.warn_of_losses(pipeline, &artifact);
                self.opened.record_choice(wanted, pipeline, Some(record), &search.rejected, &here)?;
                Ok(Some(self.accept(wanted, artifact, true, &here)))
            }
            // Numbers that are equal take the wrong edge there: only a check without a doubt says that none counts.
            Outcome::Suspect(record, text) if !self.opened.is_strict() && !pipeline.is_generic() => {
                self.warn_of_losses(pipeline, &artifact);
                // But for a kink, these sizes are not counted as verified: the next call is checked again.
                let sizes = if kink { here } else { search.sizes() };
                self.opened.record_choice(wanted, pipeline, Some(record), &search.rejected, &sizes)?;
                let artifact = self.accept(wanted, artifact, true, &sizes);
                match kink {
                    true => self.warn_kink(wanted, place, &text),
                    false => self.warn_suspect(wanted, place, &text),
                }
                Ok(Some(artifact))
            }
            Outcome::AllZero => Ok(Some(self.accept(wanted, artifact, false, &search.sizes()))),
            Outcome::Inconclusive(text) => {
                search.doubt(pipeline, artifact, text);
                Ok(None)
            }
            Outcome::Suspect(record, text) => {
                search.fail(pipeline, record, &text);
                Ok(None)
            }
            Outcome::Wrong(record, text) => {
                search.is_wrong = true;
                search.fail(pipeline, record, &text);
                Ok(None)
            }
        }
    }

    fn warn_of_losses(&self, pipeline: Pipeline, artifact: &Artifact) {
        for note in artifact.record.diagnostics.iter().filter(|note| note.contains("reversed by one thread")) {
            self.opened.warn(note.clone());
        }
        if pipeline == Pipeline::Serial {
            let function = &self.opened.spec.function;
            self.opened.warn(format!(
                "the gradient of `{function}` runs on one thread: Enzyme cannot reverse its parallel regions"
            ));
        }
        if pipeline == Pipeline::Loose {
            let function = &self.opened.spec.function;
            self.opened.warn(format!(
                "Enzyme had to guess types in `{function}`; the gradient passed its check at these arguments"
            ));
        }
    }
}
