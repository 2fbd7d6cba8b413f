//! The paths that verified calls of a derivative have had, where values decide them, and how much time went into checks of new ones.
//!
//! `function/watch.rs` compares each call with them.

use crate::function::trust::checked_shapes;
use crate::load::artifact::Artifact;
use core_ad::path_set::{self, PathSet};
use core_ad::shapes::Resolved;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// Calls on known paths with an edge that a single value takes that are all verified; of those after them every second, fourth, eighth, .. of their number.
const FIRST_POINTS: u64 = 8;

/// Time for checks of new paths beyond what the calls have taken, for each derivative.
const ALLOWED: Duration = Duration::from_secs(2);

thread_local! {
    /// Checks that this thread has made.
    static CHECKS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a check of this thread.
pub(crate) fn note_check() {
    CHECKS.set(CHECKS.get() + 1);
}

/// How many checks this thread has made.
pub(crate) fn checks() -> u64 {
    CHECKS.get()
}

/// The paths that verified calls of a derivative have had.
#[derive(Default)]
pub(crate) struct KnownPaths {
    /// For each counter of the map the ranges that it was in, as bits.
    seen: Box<[AtomicU8]>,
    /// Nanoseconds in checks of new paths, and in calls.
    checking: AtomicU64,
    calling: AtomicU64,
    /// Calls on new paths that were checked, and that were not.
    checked: AtomicU64,
    unchecked: AtomicU64,
    warned: AtomicBool,
    /// Calls with an edge that a single value takes.
    points: AtomicU64,
}

/// What checks of new paths have done for one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathChecks {
    /// Calls that were verified because their path was new.
    pub checked: u64,
    /// Calls on new paths that were returned without a check, because checks had taken their time.
    pub unchecked: u64,
    /// The time in these checks.
    pub time: Duration,
}

impl KnownPaths {
    /// What earlier processes verified of an artifact.
    pub fn from_kept(artifact: &Artifact, kept: &PathSet) -> KnownPaths {
        KnownPaths::with(artifact.paths.map_or(0, |map| map.with_counts(|counts| counts.len())), kept)
    }

    fn with(counters: usize, kept: &PathSet) -> KnownPaths {
        let known = KnownPaths { seen: (0..counters).map(|_| AtomicU8::new(0)).collect(), ..KnownPaths::default() };
        known.add(kept);
        known
    }

    /// Whether all of a path has been met by verified calls.
    pub fn have(&self, counts: &[u32]) -> bool {
        let known = |(seen, count): (&AtomicU8, &u32)| {
            let seen = seen.load(Ordering::Relaxed);
            path_set::range(*count) & !seen == 0 && !(*count == 0 && path_set::zero_is_new(seen))
        };
        self.seen.iter().zip(counts).all(known)
    }

    /// Counts these as verified.
    pub fn add(&self, more: &PathSet) {
        let mut all = self.kept();
        all.merge(more);
        for (counter, ranges) in all.iter() {
            if let Some(seen) = self.seen.get(usize::from(counter)) {
                seen.fetch_or(ranges, Ordering::Relaxed);
            }
        }
    }

    /// What later processes should know.
    pub fn kept(&self) -> PathSet {
        let mut all = PathSet::default();
        for (counter, seen) in (0..).zip(&self.seen) {
            all.insert(counter, seen.load(Ordering::Relaxed));
        }
        all
    }

    /// Counts a call with an edge that a single value takes; whether it is to be verified although its path is known.
    pub fn is_point_due(&self) -> bool {
        let number = self.points.fetch_add(1, Ordering::Relaxed);
        number < FIRST_POINTS || number.is_power_of_two()
    }

    /// Counts the time of a check of known sizes.
    pub fn note_time(&self, time: Duration) {
        add_time(&self.checking, time);
    }

    /// Counts the time of calls.
    pub fn note_calls(&self, time: Duration) {
        add_time(&self.calling, time);
    }

    /// Counts a check of a new path.
    pub fn note_checked(&self, time: Duration) {
        add_time(&self.checking, time);
        self.checked.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call on a new path that is not checked; whether it is the first.
    pub fn note_unchecked(&self) -> bool {
        self.unchecked.fetch_add(1, Ordering::Relaxed);
        !self.warned.swap(true, Ordering::Relaxed)
    }

    /// Whether there is time for another check.
    pub fn has_time(&self) -> bool {
        let calling = Duration::from_nanos(self.calling.load(Ordering::Relaxed));
        Duration::from_nanos(self.checking.load(Ordering::Relaxed)) <= ALLOWED + calling
    }

    /// What the checks have done.
    pub fn numbers(&self) -> PathChecks {
        PathChecks {
            checked: self.checked.load(Ordering::Relaxed),
            unchecked: self.unchecked.load(Ordering::Relaxed),
            time: Duration::from_nanos(self.checking.load(Ordering::Relaxed)),
        }
    }
}

fn add_time(sum: &AtomicU64, time: Duration) {
    sum.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 4), Ordering::Relaxed);
}

/// What stands for a warning at sizes and on a path.
pub(crate) fn digest(resolved: &Resolved, path: Option<&PathSet>) -> u64 {
    let sizes = checked_shapes::digest(resolved);
    path.map_or(sizes, |path| {
        let mix = |hash: u64, (counter, ranges): (u16, u8)| {
            (hash ^ (u64::from(counter) << 8 | u64::from(ranges))).wrapping_mul(0x0100_0000_01b3)
        };
        path.iter().fold(sizes, mix).max(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_once_each_of_its_ranges_was_verified() {
        let known = KnownPaths::with(3, &PathSet::of(&[1, 0, 5]));
        assert!(known.have(&[1, 0, 7]) && known.have(&[0, 0, 4]));
        assert!(!known.have(&[2, 0, 5]) && !known.have(&[1, 1, 5]));
        known.add(&PathSet::of(&[2, 1, 0]));
        assert!(known.have(&[2, 1, 6]) && !known.have(&[3, 1, 6]));
        assert!(known.kept().contains(&PathSet::of(&[1, 1, 4])));
        // A record of another artifact can have more counters.
        known.add(&PathSet::of(&[0, 0, 0, 9]));
        assert_eq!(known.kept().iter().count(), 3);
    }

    #[test]
    fn a_loop_that_ends_at_once_is_a_path_of_its_own_until_it_was_verified() {
        let known = KnownPaths::with(2, &PathSet::of(&[1, 5]));
        assert!(known.have(&[0, 5]) && !known.have(&[1, 0]));
        known.add(&PathSet::of(&[1, 0]));
        assert!(known.have(&[1, 0]) && known.have(&[1, 6]));
    }

    #[test]
    fn points_are_verified_eight_times_and_then_ever_less_often() {
        let known = KnownPaths::default();
        let due: Vec<usize> = (0..100).filter(|_| known.is_point_due()).collect();
        assert_eq!(due, [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64]);
    }

    #[test]
    fn checks_may_take_two_seconds_and_as_long_as_the_calls() {
        let known = KnownPaths::with(1, &PathSet::default());
        assert!(known.has_time());
        add_time(&known.checking, Duration::from_millis(2500));
        assert!(!known.has_time());
        known.note_calls(Duration::from_millis(600));
        assert!(known.has_time());
    }

    #[test]
    fn a_path_is_warned_of_apart_from_its_sizes() {
        let sizes = Resolved { shapes: vec![vec![2]], sizes: vec![0], launch: None };
        let all = [None, Some(PathSet::of(&[1])), Some(PathSet::of(&[2])), Some(PathSet::of(&[0, 1]))];
        let digests: std::collections::HashSet<u64> = all.iter().map(|path| digest(&sizes, path.as_ref())).collect();
        assert_eq!(digests.len(), all.len());
    }
}
