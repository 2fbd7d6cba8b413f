//! In which order the pipelines of a search are tried, and which refusals end it.

use crate::build::enzyme;
use crate::os::process::clock;
use crate::verify::repeatable::DEPENDS_ON_EARLIER_CALLS;
use core_ad::protocol::Pipeline;
use std::collections::VecDeque;
use std::time::Duration;

/// Problems that no other preparation can remedy: searching on would only take time.
const FINAL: [&str; 9] = [
    DEPENDS_ON_EARLIER_CALLS,
    "engine-version",
    "missing-derivative",
    core_ad::diagnostics::callees::THREADS,
    "inline-assembly",
    enzyme::TIMED_OUT,
    enzyme::TOO_LARGE,
    "engine-failed",
    core_ad::diagnostics::worker::TIMED_OUT,
];

/// Problems of type analysis, `realloc`, which only the pipeline without them replaces, and crashes of Enzyme, which come again where the
/// code is much the same. That pipeline, which gives type analysis least to do and differs most from the others, comes next.
const FOR_APART: [&str; 8] = [
    "type-conflict",
    "unknown-type",
    "bit-arithmetic",
    "deep-pointers",
    "realloc",
    enzyme::CRASH,
    enzyme::TIMED_OUT,
    enzyme::TOO_LARGE,
];

/// Pipelines that are tried where a check asks for them only: they differ from others at singular and special values.
pub(crate) const ON_REQUEST: [Pipeline; 4] =
    [Pipeline::Guarded, Pipeline::Generic, Pipeline::GuardedApart, Pipeline::GenericApart];

/// A pipeline may take at least the time limit divided by this.
const LEAST: u32 = 10;

/// The pipelines of a search, in the order in which they are tried.
pub(crate) struct Queue {
    waiting: VecDeque<Pipeline>,
    tried: usize,
    /// What children had used when the search began, and what they may use.
    begun: Duration,
    limit: Duration,
    /// Those of [`ON_REQUEST`] that were not tried yet.
    on_request: Vec<Pipeline>,
}

impl Queue {
    /// All of them, first to last, for a search that may take so much time.
    pub fn of(pipelines: Vec<Pipeline>, limit: Duration) -> Queue {
        let first = pipelines.first().copied();
        let waits = |pipeline: &Pipeline| ON_REQUEST.contains(pipeline) && Some(*pipeline) != first;
        let (on_request, waiting): (Vec<Pipeline>, Vec<Pipeline>) = pipelines.into_iter().partition(waits);
        Queue { waiting: waiting.into(), tried: 0, begun: clock::spent(), limit, on_request }
    }

    /// Has one of [`ON_REQUEST`] come next. `false`: it was tried, or is none of these pipelines.
    pub fn request(&mut self, pipeline: Pipeline) -> bool {
        let Some(at) = self.on_request.iter().position(|p| *p == pipeline) else { return false };
        self.waiting.push_front(self.on_request.remove(at));
        true
    }

    /// The next one.
    pub fn next(&mut self) -> Option<Pipeline> {
        self.tried += 1;
        self.waiting.pop_front()
    }

    /// How many are left.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the time for the search is over. One pipeline is always tried.
    pub fn is_late(&self) -> bool {
        self.tried > 1 && self.spent() >= self.limit
    }

    /// The time that the pipeline may take: what is left, but not so little that nothing could come of it.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.spent()).max(self.limit / LEAST)
    }

    fn spent(&self) -> Duration {
        clock::spent().saturating_sub(self.begun)
    }

    /// Whether a refusal ends the search. One by type analysis has the pipeline come next that gives it least to do.
    pub fn ends_with(&mut self, code: &str) -> bool {
        if FOR_APART.contains(&code)
            && let Some(at) = self.waiting.iter().position(|pipeline| *pipeline == Pipeline::Apart)
        {
            self.waiting.rotate_left(at);
            self.waiting.make_contiguous()[1..].sort_by_key(|p| Pipeline::ALL.iter().position(|q| q == p));
            return false;
        }
        FINAL.contains(&code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> Queue {
        let mut queue = Queue::of(Pipeline::ALL.to_vec(), Duration::from_secs(60));
        queue.next();
        queue
    }

    #[test]
    fn a_refusal_by_type_analysis_has_the_pipeline_without_it_come_next() {
        let mut queue = queue();
        assert!(!queue.ends_with("type-conflict"));
        let rest: Vec<&str> = std::iter::from_fn(|| queue.next()).map(Pipeline::name).collect();
        assert_eq!(rest, ["apart", "o1", "o2", "outlined", "typed", "serial", "loose"]);
        let mut queue = super::tests::queue();
        assert!(!queue.ends_with("realloc"));
        assert_eq!(queue.next(), Some(Pipeline::Apart));
    }

    #[test]
    fn a_pipeline_for_single_values_is_tried_once_and_only_where_it_is_asked_for() {
        for one in ON_REQUEST {
            let mut queue = queue();
            assert!(queue.request(one));
            assert_eq!(queue.next(), Some(one));
            assert!(!queue.request(one));
            assert!(std::iter::from_fn(|| queue.next()).all(|p| !ON_REQUEST.contains(&p)));
            assert_eq!(Queue::of(vec![one, Pipeline::O1], Duration::ZERO).next(), Some(one));
        }
    }

    #[test]
    fn pipelines_share_the_time_of_a_search() {
        let mut queue = queue();
        assert!(queue.left() <= Duration::from_secs(60) && queue.left() > Duration::from_secs(50));
        queue.begun = Duration::ZERO;
        queue.limit = Duration::ZERO;
        assert!(!queue.is_late(), "one is always tried");
        queue.next();
        assert!(queue.is_late());
    }

    #[test]
    fn time_that_is_over_ends_a_search_unless_types_took_it() {
        let mut queue = queue();
        assert!(!queue.ends_with(enzyme::TIMED_OUT));
        assert_eq!(queue.next(), Some(Pipeline::Apart));
        assert!(queue.ends_with(enzyme::TIMED_OUT), "others would take as long");
        assert!(queue.ends_with("missing-derivative"));
        assert!(!queue.ends_with("allocation"));
    }
}
