//! Verification of a derivative in use, at its first call and at later ones, and the warnings about checks that were inconclusive.

use crate::call::arguments::Input;
use crate::error::{Error, Result};
use crate::function::pipeline_queue::ON_REQUEST;
use crate::function::search::Search;
use crate::function::select::UNPROVEN;
use crate::function::trust::Selection;
use crate::function::trust::checked_shapes;
use crate::function::trust::paths;
use crate::function::trust::status::Derivative;
use crate::function::unproven;
use crate::load::artifact::Artifact;
use crate::options::Verify;
use crate::verify::{Checked, Outcome};
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::CheckRecord;
use core_ad::path_set::PathSet;
use core_ad::protocol::Pipeline;
use core_ad::shapes::Resolved;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

impl Selection<'_> {
    /// Checks a derivative in use. What is wrong at these arguments is replaced by a pipeline that is right, or is refused.
    pub(crate) fn check_again(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let is_doubted = known.sizes.is_doubted(paths::digest(resolved, None));
        if is_doubted && !known.paths.has_time() && self.opened.spec.options.verify == Verify::Once {
            self.warn_again();
            return Ok(known.artifact.clone());
        }
        let started = Instant::now();
        let outcome = self.check_again_on(wanted, known, None, inputs, resolved);
        if is_doubted {
            known.paths.note_time(started.elapsed());
        }
        outcome
    }

    /// The same for a call whose `path` is new.
    pub(crate) fn check_again_on(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        path: Option<&PathSet>,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let Checked { outcome, paths, singular, kink, .. } = self.checked(wanted, &known.artifact, inputs, resolved)?;
        self.record_paths(wanted, known, &paths);
        let place = paths::digest(resolved, path);
        if singular
            && matches!(outcome, Outcome::Inconclusive(_))
            && let Some(artifact) = self.try_guarded(wanted, known.artifact.record.pipeline, inputs, resolved)?
        {
            return Ok(artifact);
        }
        if outcome.is_contradicted() && known.artifact.record.tests_equality {
            let lock = self.opened.lock_if_alone(wanted)?;
            if let Some(artifact) = self.try_generic(wanted, &known.artifact, inputs, resolved)? {
                return Ok(artifact);
            }
            drop(lock);
        }
        match outcome {
            Outcome::Passed(record) => self.mark_verified(wanted, known, record, resolved)?,
            Outcome::Suspect(record, text) if !self.opened.is_strict() && kink => {
                self.warn_kink(wanted, place, &text);
                self.mark_verified(wanted, known, record, resolved)?;
            }
            Outcome::Suspect(record, text) if !self.opened.is_strict() => {
                // The next call at these sizes, or on this path, is checked again.
                self.warn_suspect(wanted, place, &text);
                self.keep_choice(wanted, known, record)?;
            }
            // Inconclusive at these sizes: the next call checks again.
            Outcome::AllZero => {}
            Outcome::Inconclusive(text) if self.opened.is_strict() => {
                self.record_refused(wanted, known, resolved, false);
                return Err(Error::Differentiation(self.undecided(&text)));
            }
            Outcome::Inconclusive(text) => self.warn_inconclusive(wanted, place, &text),
            Outcome::Suspect(record, text) => {
                return self.replace(wanted, known, (record, &text, false), singular, inputs, resolved);
            }
            Outcome::Wrong(record, text) => {
                return self.replace(wanted, known, (record, &text, true), singular, inputs, resolved);
            }
        }
        Ok(known.artifact.clone())
    }

    /// Records a conclusive check: the derivative is verified, at these sizes too.
    fn mark_verified(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        record: CheckRecord,
        resolved: &Resolved,
    ) -> Result<()> {
        self.keep_choice(wanted, known, record)?;
        self.record_shape(wanted, known, resolved);
        Ok(())
    }

    /// Records that a derivative is in use, with the check that it passed, or did not fail.
    fn keep_choice(&self, wanted: DerivativeSet, known: &Derivative, record: CheckRecord) -> Result<()> {
        let is_news = !known.verified.swap(true, Ordering::AcqRel);
        if let Some(pipeline) = known.artifact.record.pipeline.filter(|_| is_news) {
            let mut sizes = known.kept();
            sizes.refuse(&self.refused_before(wanted));
            self.opened.record_choice(wanted, pipeline, Some(record), &[], &sizes)?;
        }
        Ok(())
    }

    /// A derivative in use is wrong at these arguments, or under `strict` not right enough. The pipelines after it may still be right;
    /// that none is is found out once in a process and for a size.
    fn replace(
        &self,
        wanted: DerivativeSet,
        known: &Derivative,
        (record, text, is_wrong): (CheckRecord, &str, bool),
        singular: bool,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        if let Some(diagnosis) = known.sizes.explanation(checked_shapes::digest(resolved)) {
            return Err(Error::Differentiation(diagnosis));
        }
        let _lock = self.opened.lock_if_alone(wanted)?;
        let mut before = known.sizes.kept();
        before.refuse(&self.refused_before(wanted));
        // Before the search, which may be interrupted: the pipeline stays in use at other sizes.
        self.record_refused(wanted, known, resolved, is_wrong);
        let mut search = Search { singular, ..Search::beside(before.refused) };
        let tried = known.artifact.record.pipeline;
        if let Some(pipeline) = tried {
            search.fail(pipeline, record, text);
        }
        let all = self.opened.pipelines(wanted);
        let rest = match tried.is_some_and(|tried| ON_REQUEST.contains(&tried)) {
            // Those before it were not wrong elsewhere.
            true => all.into_iter().filter(|r| Some(*r) != tried).collect(),
            false => all.into_iter().skip_while(|r| Some(*r) != tried).skip(1).collect(),
        };
        if let Some(artifact) = self.try_pipelines(rest, &mut search, wanted, inputs, resolved)? {
            return Ok(artifact);
        }
        let diagnosis = self.refusal(&search, wanted, inputs, resolved)?;
        if search.is_final() {
            known.sizes.explain(checked_shapes::digest(resolved), &diagnosis);
        }
        Err(Error::Differentiation(diagnosis))
    }

    /// [`Pipeline::Guarded`], where its derivative is right here.
    fn try_guarded(
        &self,
        wanted: DerivativeSet,
        instead_of: Option<Pipeline>,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Option<Arc<Artifact>>> {
        let _lock = self.opened.lock_if_alone(wanted)?;
        let why = "not finite at arguments where the value is";
        let pipeline = instead_of.map_or(Pipeline::Guarded, Pipeline::guarded);
        self.try_instead(wanted, pipeline, (instead_of, why), inputs, resolved)
    }

    /// [`Pipeline::Generic`], where it differs from a derivative that finite differences contradict, and is right here. The cache's lock is
    /// held.
    pub(crate) fn try_generic(
        &self,
        wanted: DerivativeSet,
        contradicted: &Artifact,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Option<Arc<Artifact>>> {
        // Ranks would have to agree.
        if !contradicted.record.tests_equality || self.opened.spec.options.mpi {
            return Ok(None);
        }
        let why = "not the function's derivative at a value that the function treats by itself";
        let instead_of = contradicted.record.pipeline;
        let pipeline = instead_of.map_or(Pipeline::Generic, Pipeline::generic);
        self.try_instead(wanted, pipeline, (instead_of, why), inputs, resolved)
    }

    fn try_instead(
        &self,
        wanted: DerivativeSet,
        pipeline: Pipeline,
        (instead_of, why): (Option<Pipeline>, &str),
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Option<Arc<Artifact>>> {
        if instead_of == Some(pipeline) || !self.opened.pipelines(wanted).contains(&pipeline) {
            return Ok(None);
        }
        let mut search = Search::after(self.refused_before(wanted), instead_of, why);
        match self.try_pipeline(wanted, pipeline, self.opened.time_limit(), inputs, resolved, &mut search) {
            Err(Error::Differentiation(_)) => Ok(None),
            outcome => outcome,
        }
    }

    /// Warns of a kink, the first, the tenth, the hundredth time for each place; where every call is checked, each time.
    pub(crate) fn warn_kink(&self, wanted: DerivativeSet, place: u64, text: &str) {
        let count = self.warning(wanted, place);
        if count.is_some() || self.opened.verifies_always() {
            self.opened.warn(self.suspect_text(text) + &said_again(count));
        }
    }

    /// Warns of a check that only finite differences do not confirm: with numbers the first time for each place (sizes, or sizes and a path), and where every call
    /// is checked; later in words that are always the same, so that Python's filters show them once.
    pub(crate) fn warn_suspect(&self, wanted: DerivativeSet, place: u64, text: &str) {
        if let Some(known) = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted) {
            known.sizes.doubt(place);
        }
        if !self.is_first_warning(wanted, place) && !self.opened.verifies_always() {
            return self.warn_again();
        }
        self.opened.warn(self.suspect_text(text));
    }

    fn suspect_text(&self, text: &str) -> String {
        let function = &self.opened.spec.function;
        let solver = match unproven::is_zero(text) {
            true => {
                " The derivative by AD is 0: of a branch for these values alone (`x == 0`), of a solver that ends by comparisons \
                 (bisection: use the implicit function theorem, `ffgrad explain custom-derivatives`), or of numbers that are rounded."
            }
            false => "",
        };
        format!(
            "the gradient of `{function}` is doubtful at these arguments: {text}. A kink, a root of zero (its derivative is taken as 0), chaos or coarse precision can be the reason.{solver}"
        )
    }

    /// Warns of one more call on a path that is doubtful.
    pub(crate) fn warn_again(&self) {
        let function = &self.opened.spec.function;
        self.opened.warn(format!(
            "the gradient of `{function}` is doubtful at these arguments, too: an earlier warning has the numbers for others on the same path"
        ));
    }

    /// Warns of an inconclusive check, the first, the tenth, the hundredth time for each place.
    pub(crate) fn warn_inconclusive(&self, wanted: DerivativeSet, place: u64, text: &str) {
        if let Some(count) = self.warning(wanted, place) {
            let function = &self.opened.spec.function;
            self.opened.warn(format!(
                "the gradient of `{function}` is not proven yet: {text}; the next call checks again{}",
                said_again(Some(count))
            ));
        }
    }

    fn is_first_warning(&self, wanted: DerivativeSet, place: u64) -> bool {
        self.warning(wanted, place) == Some(1)
    }

    /// How many warnings there were at a place, where this one is to be said.
    fn warning(&self, wanted: DerivativeSet, place: u64) -> Option<u32> {
        let all = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&wanted).map_or(Some(1), |known| known.sizes.warning(place))
    }

    /// The refusal where the check is inconclusive and a warning is not enough.
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

/// How many calls were so, where there were several.
fn said_again(count: Option<u32>) -> String {
    match count {
        Some(count) if count > 1 => format!(" ({count} calls were so until now.)"),
        _ => String::new(),
    }
}
