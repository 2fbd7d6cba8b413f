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

    /// Adds all of another set.
    pub fn merge(&mut self, other: &PathSet) {
        other.iter().for_each(|(counter, ranges)| self.insert(counter, ranges));
    }

    /// Whether all of another set is in it.
    pub fn contains(&self, other: &PathSet) -> bool {
        other.iter().all(|(counter, ranges)| ranges & !self.0.get(&counter).copied().unwrap_or(0) == 0)
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
        assert!(set.contains(&PathSet::of(&[0, 1, 7])) && set.contains(&PathSet::default()));
        assert!(!set.contains(&PathSet::of(&[0, 2, 5])) && !set.contains(&PathSet::of(&[1])));
        set.merge(&PathSet::of(&[1, 2]));
        assert!(set.contains(&PathSet::of(&[1, 2, 4])) && set.contains(&PathSet::of(&[1, 1])));
    }

    #[test]
    fn a_set_can_be_written_and_read() {
        let set = PathSet::of(&[3, 0, 200]);
        let text = serde_json::to_string(&set).unwrap_or_default();
        assert_eq!(text, r#"{"0":4,"2":128}"#);
        assert_eq!(serde_json::from_str::<PathSet>(&text).ok(), Some(set));
    }
}
