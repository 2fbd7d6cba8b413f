//! The paths that calls have taken: for each counter of an artifact's path map, in which ranges it has been.
//!
//! Counts are compared by range, as coverage-guided fuzzers do: a loop that runs once more is no new path, one that runs twice as long is.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The range of a count, as a bit; none for 0.
pub const fn range(count: u32) -> u8 {
    match count {
        0 => 0,
        1..=3 => 1 << (count - 1),
        4..=7 => 1 << 3,
        8..=15 => 1 << 4,
        16..=31 => 1 << 5,
        32..=127 => 1 << 6,
        _ => 1 << 7,
    }
}

/// The ranges of counts below four.
const FEW: u8 = 0b111;

/// Whether a count of zero is a path of its own, where verified ones were in these ranges: a loop that ran four times and more, and ends at once now.
/// The other edge of a branch that was taken once has a counter of its own.
pub const fn zero_is_new(ranges: u8) -> bool {
    ranges != 0 && ranges & FEW == 0
}

/// What records that a count of zero was verified.
pub const ZERO: u8 = 1;

/// A set of pairs of a counter and a range.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathSet(BTreeMap<u16, u8>);

impl PathSet {
    /// The path of one call.
    pub fn of(counts: &[u32]) -> PathSet {
        let taken = (0..).zip(counts).filter(|(_, count)| **count > 0);
        PathSet(taken.map(|(counter, count)| (counter, range(*count))).collect())
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts with their ranges, as bits.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u8)> + '_ {
        self.0.iter().map(|(counter, ranges)| (*counter, *ranges))
    }

    /// Adds the ranges of a counter.
    pub fn insert(&mut self, counter: u16, ranges: u8) {
        if ranges != 0 {
            *self.0.entry(counter).or_default() |= ranges;
        }
    }

    /// The ranges of a counter; none where it was always 0.
    pub fn ranges(&self, counter: u16) -> u8 {
        self.0.get(&counter).copied().unwrap_or(0)
    }

    /// Adds all of another set, and the zeros of either.
    pub fn merge(&mut self, other: &PathSet) {
        let zeros: Vec<u16> = match self.is_empty() || other.is_empty() {
            true => Vec::new(),
            false => self.ended_at_once(other).chain(other.ended_at_once(self)).collect(),
        };
        other.iter().for_each(|(counter, ranges)| self.insert(counter, ranges));
        zeros.into_iter().for_each(|counter| self.insert(counter, ZERO));
    }

    /// The counters of loops that never end at once here, and do in another set.
    fn ended_at_once(&self, other: &PathSet) -> impl Iterator<Item = u16> {
        self.iter().filter(|(counter, ranges)| zero_is_new(*ranges) && other.ranges(*counter) == 0).map(|found| found.0)
    }

    /// Whether all of another set is in it.
    pub fn contains(&self, other: &PathSet) -> bool {
        let is_known = |(counter, ranges): (u16, u8)| ranges & !self.ranges(counter) == 0;
        other.iter().all(is_known) && self.ended_at_once(other).next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first count of each range; the last one has no end.
    const RANGES: [u32; 8] = [1, 2, 3, 4, 8, 16, 32, 128];

    #[test]
    fn each_range_has_a_bit_of_its_own() {
        let ranges: Vec<u8> = RANGES.iter().map(|first| range(*first)).collect();
        assert_eq!(ranges, (0..8).map(|bit| 1 << bit).collect::<Vec<u8>>());
        for pair in RANGES.windows(2) {
            assert_eq!(range(pair[1] - 1), range(pair[0]), "the range that ends at {}", pair[1]);
        }
        assert_eq!((range(0), range(u32::MAX)), (0, 1 << 7));
    }

    #[test]
    fn a_set_contains_what_was_merged_and_no_other_range() {
        let mut set = PathSet::of(&[0, 1, 5]);
        assert!(set.contains(&PathSet::of(&[0, 1, 7])) && set.contains(&PathSet::of(&[0, 0, 4])));
        assert!(!set.contains(&PathSet::of(&[0, 2, 5])) && !set.contains(&PathSet::of(&[1])));
        set.merge(&PathSet::of(&[1, 2]));
        assert!(set.contains(&PathSet::of(&[1, 2, 4])) && set.contains(&PathSet::of(&[1, 1])));
    }

    #[test]
    fn a_loop_that_ends_at_once_is_new_until_it_was_merged() {
        let mut set = PathSet::of(&[1, 5]);
        assert!(!set.contains(&PathSet::of(&[1])));
        set.merge(&PathSet::of(&[1]));
        assert!(set.contains(&PathSet::of(&[1])) && set.contains(&PathSet::of(&[1, 5])));
    }

    #[test]
    fn a_set_can_be_written_and_read() {
        let set = PathSet::of(&[3, 0, 200]);
        let text = serde_json::to_string(&set).unwrap_or_default();
        assert_eq!(text, r#"{"0":4,"2":128}"#);
        assert_eq!(serde_json::from_str::<PathSet>(&text).ok(), Some(set));
    }
}
