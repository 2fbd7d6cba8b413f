//! The sizes at which a derivative has been checked.
//!
//! Which branches a function takes, and how many iterations its loops have, depends on the sizes more than on anything else that changes
//! from call to call. So a derivative is checked where it meets a size for the first time, for as many sizes as one would try by
//! hand, and as long as the copies that a check makes are small.
//!
//! Where the worker reports that passes skipped a function, the derivative is checked at every new size.
//!
//! A size at which the derivative was refused is never taken to be right again, not even after a check that passes, for that may
//! have had other values: each call at that size is checked.

use core_ad::diagnostics::Diagnosis;
use core_ad::path_set::PathSet;
use core_ad::shapes::Resolved;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many are verified; a function that sees more of them is taken to be right at the rest.
const MOST: usize = 8;

/// How many refused sizes are stored. Once there are more, every size that is not known to be right is checked.
const MOST_REFUSED: usize = 64;

/// How many sizes warnings are given at.
const MOST_WARNED: usize = 64;

/// How many sizes are remembered where every one is checked; beyond that a size is checked again.
const MOST_OF_ALL: usize = 1024;

/// Bytes of arguments beyond which only the first call is checked.
const LARGEST: usize = 16 << 20;

/// What stands for the sizes that were checked, 0 in what is not used yet.
#[derive(Default)]
pub struct CheckedShapes {
    known: [AtomicU64; MOST],
    /// Those after the first [`MOST`], where every size is checked.
    more: Option<Mutex<HashSet<u64>>>,
    /// Whether there are any in `refused`: who has none takes no lock at a call.
    any_refused: AtomicBool,
    refused: Mutex<Vec<Refused>>,
    /// Those that a warning was given at.
    warned: Mutex<HashMap<u64, u32>>,
    /// Whether there are any in `doubted`.
    any_doubted: AtomicBool,
    /// Places at which finite differences contradict it.
    doubted: Mutex<HashSet<u64>>,
}

/// A size at which a derivative was not returned.
struct Refused {
    digest: u64,
    /// Whether it was wrong there, which other processes must know too, or only not right enough for who asked.
    is_wrong: bool,
    /// Why no pipeline serves there, where a search has come to its end in this process.
    diagnosis: Option<Box<Diagnosis>>,
}

/// What is kept of sizes from process to process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeRecord {
    /// Those that were checked.
    pub checked: Vec<u64>,
    /// Those at which verification found the derivative wrong.
    pub refused: Vec<u64>,
    /// The paths of verified calls, where values decide them.
    pub paths: PathSet,
}

impl ShapeRecord {
    /// One size that was checked, and those that were refused before.
    pub fn one(digest: u64, refused: &[u64]) -> ShapeRecord {
        ShapeRecord { checked: vec![digest], refused: refused.to_vec(), paths: PathSet::default() }
    }

    /// The same with the paths of a verified call.
    #[must_use]
    pub fn on(self, paths: PathSet) -> ShapeRecord {
        ShapeRecord { paths, ..self }
    }

    /// Counts more sizes as refused, up to the number beyond which all others are checked anyway.
    pub fn refuse(&mut self, more: &[u64]) {
        let new: Vec<u64> = more.iter().filter(|digest| !self.refused.contains(digest)).copied().collect();
        self.refused.extend(new);
        self.refused.truncate(MOST_REFUSED);
    }
}

impl CheckedShapes {
    /// What earlier processes found. `every`: each new size is checked, not only the first few.
    pub fn from_kept(kept: &ShapeRecord, every: bool) -> CheckedShapes {
        let sizes = CheckedShapes { more: every.then(Mutex::default), ..CheckedShapes::default() };
        kept.checked.iter().for_each(|digest| sizes.add(*digest));
        kept.refused.iter().for_each(|digest| sizes.refuse(*digest, true));
        sizes
    }

    /// Whether the derivative was refused at the sizes of a call, or so often that it must count as refused.
    pub fn are_refused(&self, resolved: &Resolved) -> bool {
        self.any_refused.load(Ordering::Acquire) && self.is_refused(digest(resolved))
    }

    fn is_refused(&self, digest: u64) -> bool {
        let refused = self.refused();
        let is_known = || self.known.iter().any(|known| known.load(Ordering::Relaxed) == digest);
        refused.iter().any(|one| one.digest == digest) || refused.len() >= MOST_REFUSED && !is_known()
    }

    /// Counts these sizes as refused. What is only not right enough makes room for what is wrong, which later processes must know of.
    pub fn refuse(&self, digest: u64, is_wrong: bool) {
        let mut refused = self.refused();
        self.any_refused.store(true, Ordering::Release);
        if let Some(one) = refused.iter_mut().find(|one| one.digest == digest) {
            one.is_wrong |= is_wrong;
            return;
        }
        let new = Refused { digest, is_wrong, diagnosis: None };
        if refused.len() < MOST_REFUSED {
            refused.push(new);
        } else if let Some(other) = refused.iter_mut().find(|one| is_wrong && !one.is_wrong) {
            *other = new;
        }
    }

    /// Remembers why no pipeline serves at these sizes, which were refused.
    pub fn explain(&self, digest: u64, diagnosis: &Diagnosis) {
        if let Some(one) = self.refused().iter_mut().find(|one| one.digest == digest) {
            one.diagnosis = Some(Box::new(diagnosis.clone()));
        }
    }

    /// Why no pipeline serves at these sizes, where that was found out in this process.
    pub fn explanation(&self, digest: u64) -> Option<Box<Diagnosis>> {
        self.refused().iter().find(|one| one.digest == digest)?.diagnosis.clone()
    }

    fn refused(&self) -> MutexGuard<'_, Vec<Refused>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether these sizes are to be checked.
    pub fn lack(&self, digest: u64) -> bool {
        for known in &self.known {
            match known.load(Ordering::Relaxed) {
                0 => return true,
                other if other == digest => return false,
                _ => {}
            }
        }
        self.more().is_some_and(|more| !more.contains(&digest))
    }

    /// Whether every new size is checked.
    pub fn are_all_checked(&self) -> bool {
        self.more.is_some()
    }

    fn more(&self) -> Option<MutexGuard<'_, HashSet<u64>>> {
        self.more.as_ref().map(|more| more.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts these sizes as checked. Threads may both add; one place is then lost, or taken twice.
    pub fn add(&self, digest: u64) {
        if !self.lack(digest) {
            return;
        }
        if let Some(free) = self.known.iter().find(|known| known.load(Ordering::Relaxed) == 0) {
            free.store(digest, Ordering::Relaxed);
        } else if let Some(mut more) = self.more().filter(|more| more.len() < MOST_OF_ALL) {
            more.insert(digest);
        }
    }

    /// How many warnings there were at these sizes with this one, where it is to be said: the first, the tenth, the hundredth. `None` for the others, and
    /// after warnings at many sizes.
    pub fn warning(&self, digest: u64) -> Option<u32> {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.len() >= MOST_WARNED && !warned.contains_key(&digest) {
            return None;
        }
        let count = warned.entry(digest).or_default();
        *count = count.saturating_add(1);
        (*count == 10u32.pow(count.ilog10())).then_some(*count)
    }

    /// Remembers that a derivative is doubtful at a place (sizes, or sizes and a path).
    pub fn doubt(&self, digest: u64) {
        let mut doubted = self.doubted.lock().unwrap_or_else(PoisonError::into_inner);
        if doubted.len() < MOST_WARNED {
            doubted.insert(digest);
        }
        self.any_doubted.store(true, Ordering::Release);
    }

    /// Whether it is.
    pub fn is_doubted(&self, digest: u64) -> bool {
        self.has_doubts() && self.doubted.lock().unwrap_or_else(PoisonError::into_inner).contains(&digest)
    }

    /// Whether it is anywhere.
    pub fn has_doubts(&self) -> bool {
        self.any_doubted.load(Ordering::Acquire)
    }

    /// What later processes should know, but for paths.
    pub fn kept(&self) -> ShapeRecord {
        let first = self.known.iter().map(|known| known.load(Ordering::Relaxed)).filter(|digest| *digest != 0);
        let checked = first.chain(self.more().into_iter().flat_map(|more| more.iter().copied().collect::<Vec<_>>()));
        let refused = self.refused().iter().filter(|one| one.is_wrong).map(|one| one.digest).collect();
        ShapeRecord { checked: checked.collect(), refused, paths: PathSet::default() }
    }
}

/// A digest of all shapes and sizes of a call, and of a kernel's launch: FNV-1a, never 0.
pub fn digest(resolved: &Resolved) -> u64 {
    let mix = |hash: u64, number: i64| (hash ^ number.cast_unsigned()).wrapping_mul(0x0100_0000_01b3);
    let numbers = |hash: u64, all: &[i64]| all.iter().fold(mix(hash, -1), |hash, number| mix(hash, *number));
    let shapes = resolved.shapes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, shape| numbers(hash, shape));
    let sizes = numbers(shapes, &resolved.sizes);
    // The threads of a launch decide the paths through a kernel as sizes decide those through a function.
    resolved.launch.map_or(sizes, |launch| numbers(sizes, &launch.words())).max(1)
}

/// Whether a check of another size may take the memory that it needs.
pub fn are_small(bytes: impl Iterator<Item = usize>) -> bool {
    bytes.fold(0, usize::saturating_add) <= LARGEST
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_ad::cuda::Launch;

    fn resolved(shapes: &[&[i64]], sizes: &[i64]) -> Resolved {
        Resolved { shapes: shapes.iter().map(|s| s.to_vec()).collect(), sizes: sizes.to_vec(), launch: None }
    }

    #[test]
    fn other_shapes_have_other_digests() {
        let all = [
            resolved(&[&[2, 3]], &[0]),
            resolved(&[&[3, 2]], &[0]),
            resolved(&[&[2], &[3]], &[0, 0]),
            resolved(&[&[2, 3]], &[1]),
            resolved(&[&[2, 3], &[]], &[0, 0]),
        ];
        let digests: HashSet<u64> = all.iter().map(digest).collect();
        assert_eq!(digests.len(), all.len());
        assert_eq!(digest(&all[0]), digest(&all[0].clone()));
    }

    #[test]
    fn a_kernel_of_the_same_shapes_has_a_digest_for_each_launch() {
        let launched = |grid, block, shared| {
            let launch = Launch { grid: [grid, 1, 1], block: [block, 1, 1], shared };
            digest(&Resolved { launch: Some(launch), ..resolved(&[&[6]], &[0]) })
        };
        let all = [launched(2, 3, 0), launched(3, 2, 0), launched(2, 3, 8), digest(&resolved(&[&[6]], &[0]))];
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        assert_eq!(launched(2, 3, 0), all[0]);
    }

    #[test]
    fn a_refused_size_stays_refused_whatever_else_is_checked() {
        let (bad, good) = (resolved(&[&[9]], &[0]), resolved(&[&[8]], &[0]));
        let sizes = CheckedShapes::default();
        assert!(!sizes.are_refused(&bad));
        sizes.refuse(digest(&bad), true);
        sizes.refuse(5, false);
        (10..20).for_each(|digest| sizes.add(digest));
        sizes.add(digest(&bad));
        assert!(sizes.are_refused(&bad) && !sizes.are_refused(&good));
        assert_eq!(sizes.kept().refused, [digest(&bad)], "what strict alone refuses is no one else's business");
        assert!(CheckedShapes::from_kept(&sizes.kept(), false).are_refused(&bad));
        assert!(sizes.explanation(digest(&bad)).is_none());
        sizes.explain(digest(&bad), &Diagnosis::new("unproven-gradient", "f", "wrong"));
        assert_eq!(sizes.explanation(digest(&bad)).map(|d| d.headline), Some("wrong".to_owned()));
        assert!(sizes.explanation(5).is_none());
    }

    #[test]
    fn after_many_refusals_only_known_sizes_are_taken_to_be_right() {
        let (known, unknown) = (resolved(&[&[1]], &[0]), resolved(&[&[2]], &[0]));
        let sizes = CheckedShapes::from_kept(&ShapeRecord::one(digest(&known), &[]), false);
        (0..MOST_REFUSED as u64).for_each(|digest| sizes.refuse(digest, digest > 0));
        assert!(!sizes.are_refused(&known) && sizes.are_refused(&unknown));
        assert_eq!(sizes.kept().refused.len(), MOST_REFUSED - 1);
        sizes.refuse(1000, true);
        assert_eq!(sizes.kept().refused.len(), MOST_REFUSED, "so that later processes check as much");
    }

    #[test]
    fn the_first_the_tenth_and_the_hundredth_warning_at_a_size_are_said() {
        let sizes = CheckedShapes::default();
        assert_eq!(sizes.warning(2), Some(1));
        assert_eq!((0..150).filter_map(|_| sizes.warning(1)).collect::<Vec<_>>(), [1, 10, 100]);
        assert_eq!((3..1000).filter(|digest| sizes.warning(*digest).is_some()).count(), MOST_WARNED - 2);
    }

    #[test]
    fn where_passes_skip_a_function_every_size_is_checked() {
        let sizes = CheckedShapes::from_kept(&ShapeRecord::one(7, &[]), true);
        for digest in 100..200 {
            assert!(sizes.lack(digest), "{digest}");
            sizes.add(digest);
            assert!(!sizes.lack(digest));
        }
        assert!(!CheckedShapes::from_kept(&sizes.kept(), true).lack(150), "later processes know it");
    }

    #[test]
    fn eight_sizes_are_checked_and_no_more() {
        let sizes = CheckedShapes::from_kept(&ShapeRecord::one(7, &[]), false);
        assert!(!sizes.lack(7));
        for digest in 1..=8 {
            assert!(sizes.lack(digest) || digest == 7);
            sizes.add(digest);
            assert!(!sizes.lack(digest));
        }
        assert!(!sizes.lack(9), "the ninth is taken to be right");
        assert_eq!(sizes.kept().checked.len(), 8);
    }
}
