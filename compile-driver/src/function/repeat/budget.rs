//! How many snapshots a loop keeps, and the schedule that follows.

use crate::call::crash_guard::OUT_OF_MEMORY;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::os::{free_memory, size};
use core_ad::checkpoint::{Schedule, useful};
use core_ad::diagnostics::Diagnosis;

/// The share of free memory that snapshots take where nothing is said.
const SHARE: u64 = 2;

/// The schedule for so many steps with states of so many bytes.
///
/// # Errors
///
/// The snapshots asked for do not fit free memory, or do not do for a periodic schedule.
pub(super) fn schedule(function: &str, options: &Options, steps: usize, state: usize) -> Result<Schedule> {
    let free = free_memory::bytes();
    let wanted = count(options, steps, state as u64, free);
    let bytes = (wanted as u64).saturating_mul(state as u64);
    if free.is_some_and(|free| bytes > free) {
        let headline = format!(
            "{wanted} snapshots of the state of `{function}`, {} each, need {}: {} are free",
            written(state as u64),
            written(bytes),
            written(free.unwrap_or(0))
        );
        return Err(Error::Differentiation(Box::new(
            Diagnosis::new(OUT_OF_MEMORY, function, headline)
                .advise("Give fewer: the option `snapshots`, or `memory`, a size. With fewer, more steps run again."),
        )));
    }
    Schedule::placed(options.schedule, steps, wanted).map_err(|least| {
        let headline = format!(
            "a periodic schedule for {steps} steps of `{function}` needs {least} snapshots, {wanted} are allowed"
        );
        Error::Arity(Box::new(Diagnosis::new("snapshots", function, headline).advise(format!(
            "Give snapshots={least}, or schedule=\"binomial\", which any number of snapshots does for."
        ))))
    })
}

/// How many snapshots: as given, or as many as the memory for them holds.
fn count(options: &Options, steps: usize, state: u64, free: Option<u64>) -> usize {
    let memory = options.memory.as_deref().and_then(size::bytes);
    let fitting = |bytes: u64| usize::try_from(bytes / state.max(1)).unwrap_or(usize::MAX);
    let wanted = match (options.snapshots, memory) {
        (Some(count), Some(bytes)) => count.min(fitting(bytes)),
        (Some(count), None) => count,
        (None, Some(bytes)) => fitting(bytes),
        (None, None) => free.map_or(usize::MAX, |free| fitting(free / SHARE)),
    };
    useful(steps, wanted)
}

fn written(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { size::written(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_ad::checkpoint::Placement;

    fn options(snapshots: Option<usize>, memory: Option<&str>) -> Options {
        Options { snapshots, memory: memory.map(str::to_owned), ..Options::default() }
    }

    #[test]
    fn snapshots_are_as_given_or_as_memory_allows() {
        let count = |snapshots, memory| count(&options(snapshots, memory), 1000, 1 << 20, Some(100 << 20));
        assert_eq!(count(Some(20), None), 20);
        assert_eq!(count(None, Some("7M")), 7);
        assert_eq!(count(Some(20), Some("7M")), 7);
        assert_eq!(count(None, None), 50);
        assert_eq!((count(Some(0), None), count(Some(5000), None)), (1, 999));
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let refusal = schedule("step", &options(Some(9), None), 10, 1 << 60).expect_err("refuses").to_string();
        assert!(refusal.contains("9 snapshots of the state of `step`"), "{refusal}");
        let periodic = Options { schedule: Placement::Periodic, ..options(Some(3), None) };
        let refusal = schedule("step", &periodic, 100, 8).expect_err("refuses").to_string();
        assert!(refusal.contains("needs 18 snapshots, 3 are allowed"), "{refusal}");
    }
}
