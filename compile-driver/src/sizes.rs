//! The sizes at which a derivative has been checked.
//!
//! Which branches a function takes, and how often its loops turn, depends on the sizes more than on anything else that changes
//! from call to call. So a derivative is checked where it meets a size for the first time, for as many sizes as one would try by
//! hand, and as long as the copies that a check makes are small.

use core_ad::shapes::Resolved;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many are looked at; a function that sees more of them is taken to be right at the rest.
const MOST: usize = 8;

/// How many sizes warnings are given at.
const MOST_TOLD: usize = 64;

/// Bytes of arguments beyond which only the first call is checked.
const LARGEST: usize = 16 << 20;

/// What stands for the sizes that were checked, 0 in what is not used yet.
#[derive(Default)]
pub struct Sizes {
    known: [AtomicU64; MOST],
    /// Those that a warning was given at.
    told: Mutex<HashSet<u64>>,
}

impl Sizes {
    /// Those that earlier processes checked.
    pub fn from_kept(kept: &[u64]) -> Sizes {
        let sizes = Sizes::default();
        kept.iter().for_each(|digest| sizes.add(*digest));
        sizes
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
        false
    }

    /// Counts these sizes as checked. Threads may both add; one place is then lost, or taken twice.
    pub fn add(&self, digest: u64) {
        if self.lack(digest)
            && let Some(free) = self.known.iter().find(|known| known.load(Ordering::Relaxed) == 0)
        {
            free.store(digest, Ordering::Relaxed);
        }
    }

    /// Whether a warning at these sizes is the first. After many nobody needs another one.
    pub fn tell(&self, digest: u64) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < MOST_TOLD && told.insert(digest)
    }

    /// All that were checked.
    pub fn list(&self) -> Vec<u64> {
        self.known.iter().map(|known| known.load(Ordering::Relaxed)).filter(|digest| *digest != 0).collect()
    }
}

/// A number that stands for all shapes and sizes of a call, and for a kernel's launch, never 0: FNV-1a over their numbers.
pub fn digest(resolved: &Resolved) -> u64 {
    let mix = |hash: u64, number: i64| (hash ^ number.cast_unsigned()).wrapping_mul(0x0100_0000_01b3);
    let numbers = |hash: u64, all: &[i64]| all.iter().fold(mix(hash, -1), |hash, number| mix(hash, *number));
    let shapes = resolved.shapes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, shape| numbers(hash, shape));
    let sizes = numbers(shapes, &resolved.sizes);
    // Which threads there are decides about ways through a kernel as sizes do about those through a function.
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
    fn a_size_is_warned_of_once() {
        let sizes = Sizes::default();
        assert!(sizes.tell(1) && sizes.tell(2) && !sizes.tell(1));
        assert_eq!((3..1000).filter(|digest| sizes.tell(*digest)).count(), MOST_TOLD - 2);
    }

    #[test]
    fn eight_sizes_are_checked_and_no_more() {
        let sizes = Sizes::from_kept(&[7]);
        assert!(!sizes.lack(7));
        for digest in 1..=8 {
            assert!(sizes.lack(digest) || digest == 7);
            sizes.add(digest);
            assert!(!sizes.lack(digest));
        }
        assert!(!sizes.lack(9), "the ninth is taken to be right");
        assert_eq!(sizes.list().len(), 8);
    }
}
