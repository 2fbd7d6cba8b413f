//! Periodic checkpointing: snapshots at equal distances, and of every state inside the interval that is being reversed.

/// Snapshots held at once with this period: one an interval, and inside one interval every state but the first, which is held already,
/// and the last, which is reversed as it is reached.
fn needed(steps: usize, period: usize) -> usize {
    (steps.div_ceil(period) + period.saturating_sub(2)).max(1)
}

/// The longest period for which the snapshots do: the fewest are then written on the way.
///
/// # Errors
///
/// The least number of snapshots that do.
pub(super) fn period(steps: usize, snapshots: usize) -> Result<usize, usize> {
    let steps = steps.max(1);
    let fits = (1..=steps).rev().find(|&period| needed(steps, period) <= snapshots);
    fits.ok_or_else(|| (1..=steps).map(|period| needed(steps, period)).min().unwrap_or(1))
}
