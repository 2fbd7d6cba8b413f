//! Binomial checkpointing: the fewest forward steps that reverse a loop with a given number of snapshots.
//!
//! With s snapshots and at most r forward runs of each step, β(s, r) = (s + r)! / (s! r!) steps can be reversed. So the number of forward runs r of a loop
//! of l steps is the smallest with l ≤ β(s, r), and the least number of forward steps is t(l, s) = r l − β(s + 1, r − 1) (Griewank, "Achieving
//! logarithmic growth of temporal and spatial complexity in reverse automatic differentiation", 1992; proven again for Revolve, 2000).

/// β(s, r) with r given as `runs`; the largest number where it is larger than that.
fn reversible(snapshots: usize, runs: usize) -> u64 {
    let (few, many) = (snapshots.min(runs) as u128, snapshots.max(runs) as u128);
    let mut product: u128 = 1;
    for i in 1..=few {
        // Exact: the product of i neighbours is divisible by i!.
        product = product * (many + i) / i;
        if product > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    product as u64
}

/// How often a step of a loop of so many steps runs forward at most.
fn runs(steps: usize, snapshots: usize) -> usize {
    if snapshots == 1 {
        return steps.saturating_sub(1);
    }
    (0..).find(|&r| steps as u64 <= reversible(snapshots, r)).unwrap_or(0)
}

/// t(l, s): the least number of steps that must run forward to reverse `steps` steps with `snapshots` snapshots, the initial state's
/// among them. Runs that a reversal makes itself, of the step that it reverses, do not count.
pub fn advances(steps: usize, snapshots: usize) -> u64 {
    let snapshots = snapshots.max(1);
    match runs(steps, snapshots) {
        0 => 0,
        r => (r as u64).saturating_mul(steps as u64).saturating_sub(reversible(snapshots + 1, r - 1)),
    }
}

/// How far to run from a snapshot with `steps` steps to reverse before the next one is taken, with `snapshots` slots, its own among them.
///
/// What lies behind the next snapshot, with one slot fewer, must need at most r runs of each step, as many as the whole, and what lies before
/// it r − 1, and neither fewer by two. Many distances do. These three cases, of the paper on Revolve, make the fewest snapshots too.
pub(super) fn distance(steps: usize, snapshots: usize) -> usize {
    if snapshots <= 1 {
        return steps - 1;
    }
    let (l, s, r) = (steps as u64, snapshots, runs(steps, snapshots));
    let third = reversible(s - 2, r - 1);
    let shortest = r.checked_sub(2).map_or(0, |r| reversible(s, r));
    let longest = reversible(s, r - 1);
    let distance = if l <= longest.saturating_add(third) {
        shortest
    } else if l >= reversible(s, r) - s.checked_sub(3).map_or(0, |s| reversible(s, r)) {
        longest
    } else {
        l - reversible(s - 1, r - 1) - third
    };
    // At most the number of steps, which is a `usize`.
    distance.clamp(1, l - 1) as usize
}
