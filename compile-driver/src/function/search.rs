//! What a search for a derivative has met: which pipelines were rejected, why, and what to say where none serves.

use crate::build::enzyme;
use crate::function::trust::checked_shapes::ShapeRecord;
use crate::load::artifact::Artifact;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::CheckRecord;
use core_ad::protocol::Pipeline;
use std::sync::Arc;

/// What a search has met.
#[derive(Default)]
pub(crate) struct Search {
    /// Pipelines whose derivative was rejected for every call, and why.
    pub rejected: Vec<String>,
    /// The first refusal by Enzyme, and its pipeline.
    pub refusal: Option<(Pipeline, Box<Diagnosis>)>,
    /// The check's record for the first gradient that was wrong.
    pub wrong: Option<CheckRecord>,
    /// Whether any was wrong, and not only, under `strict`, doubtful.
    pub is_wrong: bool,
    /// The first gradient that could be neither confirmed nor rejected at these arguments, and why.
    pub inconclusive: Option<(Arc<Artifact>, String)>,
    /// Whether a pipeline failed for a reason that may not recur in the next search.
    pub retryable: bool,
    /// Shapes that were refused before.
    pub refused: Vec<u64>,
    /// Whether a derivative was not finite though the value is.
    pub singular: bool,
    /// Whether finite differences contradict a derivative of a function that tests numbers for equality.
    pub is_special: bool,
    /// The last pipeline of which one of both is true.
    pub failed: Option<Pipeline>,
    /// Pipelines that were left out, because those before took all the time there is.
    pub untried: usize,
}

impl Search {
    /// A search after which these sizes stay refused.
    pub fn beside(refused: Vec<u64>) -> Search {
        Search { refused, ..Search::default() }
    }

    /// The record of sizes where the check of a pipeline is inconclusive.
    pub fn sizes(&self) -> ShapeRecord {
        ShapeRecord { refused: self.refused.clone(), ..ShapeRecord::default() }
    }

    /// Whether the next search would come to the same end.
    pub fn is_final(&self) -> bool {
        !self.retryable
    }

    /// Notes what Enzyme refused. A pipeline that gave up early tells less than the next one.
    /// `is_passing`: the next search may fare better.
    pub fn refuse(&mut self, pipeline: Pipeline, diagnosis: Box<Diagnosis>, is_passing: bool) {
        self.rejected.push(format!("{}: {}", pipeline.name(), diagnosis.headline));
        self.retryable |= is_passing;
        if self.refusal.as_ref().is_none_or(|(_, first)| first.code == enzyme::TIMED_OUT) {
            self.refusal = Some((pipeline, diagnosis));
        }
    }

    /// A search after a derivative that does not serve at some arguments, and why.
    pub fn after(refused: Vec<u64>, pipeline: Option<Pipeline>, why: &str) -> Search {
        let rejected = pipeline.map(|p| format!("{}: {why}", p.name()));
        Search { rejected: rejected.into_iter().collect(), ..Search::beside(refused) }
    }

    /// The pipelines that what was met asks for.
    pub fn requested(&self) -> impl Iterator<Item = Pipeline> + use<> {
        let base = self.failed.unwrap_or(Pipeline::Inlined);
        let all = [(self.singular, base.guarded()), (self.is_special, base.generic())];
        all.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, pipeline)| pipeline)
    }

    /// Notes a gradient that failed its check.
    pub fn fail(&mut self, pipeline: Pipeline, record: CheckRecord, text: &str) {
        self.rejected.push(format!("{}: wrong gradient: {text}", pipeline.name()));
        self.wrong.get_or_insert(record);
    }

    /// Notes an inconclusive gradient. Where equal numbers count as unequal, quotients of zeros are to be expected: that says nothing of the function,
    /// and the pipelines before were wrong.
    pub fn doubt(&mut self, pipeline: Pipeline, artifact: Arc<Artifact>, text: String) {
        self.rejected.push(format!("{}: not proven: {text}", pipeline.name()));
        if !pipeline.is_generic() {
            self.inconclusive.get_or_insert((artifact, text));
        }
    }

    /// Notes that time is up. With more of it another search may find a gradient.
    pub fn stop(&mut self, untried: usize) {
        self.untried = untried;
        self.retryable = true;
        self.rejected.push(format!("{untried} more not tried: those before took all of the option `timeout`"));
    }

    /// Whether the cause is the arguments alone: another pipeline would be as inconclusive. After a wrong gradient it might not
    /// be.
    pub fn is_inconclusive(&self) -> bool {
        self.inconclusive.is_some() && self.wrong.is_none()
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
    fn a_search_that_ran_out_of_time_is_not_final_and_says_so() {
        let mut search = Search::default();
        search.refuse(Pipeline::Inlined, refused("type"), false);
        search.stop(4);
        assert!(!search.is_final());
        assert_eq!(search.rejected[1], "4 more not tried: those before took all of the option `timeout`");
    }

    #[test]
    fn a_refusal_lasts_only_if_no_pipeline_failed_for_a_passing_reason() {
        let mut search = Search::default();
        search.refuse(Pipeline::Inlined, refused("allocation"), false);
        assert!(!search.retryable);
        search.refuse(Pipeline::O1, refused(OUT_OF_MEMORY), true);
        assert!(search.retryable);
        assert_eq!(
            search.refusal.as_ref().map(|(pipeline, d)| (*pipeline, d.code.as_str())),
            Some((Pipeline::Inlined, "allocation"))
        );
        search.refuse(Pipeline::O2, refused(enzyme::TIMED_OUT), true);
        assert!(!search.is_inconclusive(), "nothing was checked");
        assert_eq!(search.rejected, ["inlined: it went wrong", "o1: it went wrong", "o2: it went wrong"]);
    }
}
