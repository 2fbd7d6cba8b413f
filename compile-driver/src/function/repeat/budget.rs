//! How many snapshots a loop keeps, and the schedule that follows.

use crate::call::crash_guard::OUT_OF_MEMORY;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::os::{free_memory, size};
use core_ad::checkpoint::{Schedule, useful};
use core_ad::diagnostics::Diagnosis;
use std::path::Path;

/// The share of free memory that snapshots take where nothing is said.
const SHARE: u64 = 2;

/// How the reverse sweep of a loop runs.
pub(super) struct Plan<'p> {
    pub schedule: Schedule,
    /// The slots that are on the disk, where there is a folder for them.
    pub on_disk: Option<OnDisk<'p>>,
    /// Whether a terminal shows how far it is.
    pub progress: bool,
}

/// Snapshots in a file.
pub(super) struct OnDisk<'p> {
    pub folder: &'p Path,
    pub slots: usize,
    pub is_compressed: bool,
}

impl Plan<'_> {
    /// A schedule with all snapshots in memory.
    pub(super) fn of(schedule: Schedule) -> Self {
        Plan { schedule, on_disk: None, progress: false }
    }
}

/// The plan for so many steps with states of so many bytes.
///
/// # Errors
///
/// The snapshots asked for do not fit free memory, or do not do for a periodic schedule.
pub(super) fn plan<'p>(function: &str, options: &'p Options, steps: usize, state: usize) -> Result<Plan<'p>> {
    let free = free_memory::bytes();
    let folder = options.snapshot_dir.as_deref();
    let (wanted, on_disk) = count(options, steps, state as u64, free, folder.and_then(free_memory::on_disk));
    let bytes = ((wanted - on_disk) as u64).saturating_mul(state as u64);
    if free.is_some_and(|free| bytes > free) {
        let headline = format!(
            "{wanted} snapshots of the state of `{function}`, {} each, need {}: {} are free",
            written(state as u64),
            written(bytes),
            written(free.unwrap_or(0))
        );
        return Err(Error::Memory(Box::new(Diagnosis::new(OUT_OF_MEMORY, function, headline).advise(
            "Give fewer: the option `snapshots`, or `memory`, a size; or a folder, `snapshot_dir`. With fewer, more steps run again.",
        ))));
    }
    let schedule = Schedule::placed(options.schedule, steps, wanted).map_err(|least| {
        let headline = format!(
            "a periodic schedule for {steps} steps of `{function}` needs {least} snapshots, {wanted} are allowed"
        );
        Error::Arity(Box::new(Diagnosis::new("snapshots", function, headline).advise(format!(
            "Give snapshots={least}, or schedule=\"binomial\", which works with any number of snapshots."
        ))))
    })?;
    let of = |folder| OnDisk { folder, slots: on_disk, is_compressed: options.compress };
    Ok(Plan { schedule, on_disk: folder.map(of), progress: options.progress })
}

/// How many snapshots, and how many of them on the disk: as given, or as many as the memory and the disk for them hold.
fn count(options: &Options, steps: usize, state: u64, free: Option<u64>, disk: Option<u64>) -> (usize, usize) {
    let fitting = |bytes: u64| usize::try_from(bytes / state.max(1)).unwrap_or(usize::MAX);
    let memory = options.memory.as_deref().and_then(size::bytes);
    let in_memory = memory.map(fitting);
    let by_default = || free.map_or(usize::MAX, |free| fitting(free / SHARE));
    if options.snapshot_dir.is_some() {
        let in_memory = in_memory.unwrap_or_else(by_default);
        let on_disk = disk.map_or(0, |disk| fitting(disk / SHARE));
        let all = useful(steps, options.snapshots.unwrap_or(in_memory.saturating_add(on_disk)));
        return (all, all.saturating_sub(in_memory));
    }
    let wanted = match (options.snapshots, in_memory) {
        (Some(count), Some(fitting)) => count.min(fitting),
        (Some(count), None) => count,
        (None, Some(fitting)) => fitting,
        (None, None) => by_default(),
    };
    (useful(steps, wanted), 0)
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
        let count = |snapshots, memory| count(&options(snapshots, memory), 1000, 1 << 20, Some(100 << 20), None).0;
        assert_eq!(count(Some(20), None), 20);
        assert_eq!(count(None, Some("7M")), 7);
        assert_eq!(count(Some(20), Some("7M")), 7);
        assert_eq!(count(None, None), 50);
        assert_eq!((count(Some(0), None), count(Some(5000), None)), (1, 999));
    }

    #[test]
    fn what_does_not_fit_memory_goes_to_the_disk() {
        let with = |snapshots, memory, disk: Option<u64>| {
            let options = Options { snapshot_dir: Some("folder".into()), ..options(snapshots, memory) };
            count(&options, 1000, 1 << 20, Some(100 << 20), disk)
        };
        assert_eq!(with(Some(20), Some("7M"), None), (20, 13));
        assert_eq!(with(Some(20), None, None), (20, 0));
        assert_eq!(with(None, Some("7M"), Some(60 << 20)), (37, 30));
        assert_eq!(with(None, None, Some(60 << 20)), (80, 30));
        assert_eq!(with(None, None, None), (50, 0));
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let refusal = plan("step", &options(Some(9), None), 10, 1 << 60).err().expect("refuses").to_string();
        assert!(refusal.contains("9 snapshots of the state of `step`"), "{refusal}");
        let periodic = Options { schedule: Placement::Periodic, ..options(Some(3), None) };
        let refusal = plan("step", &periodic, 100, 8).err().expect("refuses").to_string();
        assert!(refusal.contains("needs 18 snapshots, 3 are allowed"), "{refusal}");
    }
}
