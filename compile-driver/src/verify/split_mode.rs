//! Verifies tape mode: values and gradients of the two sweeps are compared with those of the primal and of `vjp`, which has
//! passed its own checks.

use crate::error::Result;
use crate::verify::Probe;
use crate::verify::sample::{Numbers, Point};
use core_ad::protocol::Entry;

/// What is wrong with the values or gradients that come from a tape; `None` if nothing is.
///
/// # Errors
///
/// Only what the foreign code throws.
pub(super) fn check(probe: &mut Probe<'_>, point: &Point) -> Result<Option<String>> {
    let Some(tapes) = probe.artifact.tapes else { return Ok(None) };
    let cotangent = probe.random_cotangent();
    let (mut values, mut shadows) = probe.memory(point, &vec![Vec::new(); point.len()]);
    let mut slots = probe.slots(Entry::Augmented, &mut values, &mut shadows);
    let mut tape = std::ptr::null_mut();
    probe.enter_derivative();
    probe.call.run_with(probe.artifact, Entry::Augmented, &mut slots, Some(&mut tape))?;
    let outputs = probe.results(&values);
    for (shadow, given) in shadows.iter_mut().zip(probe.filled(&cotangent)).filter(|(s, g)| s.len() == g.len()) {
        shadow.copy_from_slice(&given);
    }
    let mut slots = probe.slots(Entry::Reverse, &mut values, &mut shadows);
    let reverse = probe.call.run_with(probe.artifact, Entry::Reverse, &mut slots, Some(&mut tape));
    // SAFETY: the tape just made, dropped once.
    unsafe { (tapes.drop)(tape) };
    reverse?;
    probe.note_written(Entry::Reverse, point, &values);
    let gradients = probe.gradients(&shadows);
    if let Some(gap) = gap(&outputs, &probe.primal(point)?).filter(|gap| *gap > probe.tolerance.identity) {
        return Ok(Some(format!("values differ by {gap:.1e} where a tape is kept")));
    }
    let gap = gap(&gradients, &probe.vjp(point, &cotangent)?).filter(|gap| *gap > probe.tolerance.identity);
    Ok(gap.map(|gap| format!("gradients from the tape differ by {gap:.1e} from those without")))
}

/// The largest difference, relative to the largest number; infinite where only one side is finite.
fn gap(a: &Numbers, b: &Numbers) -> Option<f64> {
    let pairs = || a.iter().flatten().zip(b.iter().flatten()).filter(|(x, y)| !(x == y || x.is_nan() && y.is_nan()));
    let size = b.iter().flatten().filter(|v| v.is_finite()).fold(0.0_f64, |size, v| size.max(v.abs()));
    let gaps = pairs().map(|(x, y)| if (x - y).is_finite() { (x - y).abs() / size } else { f64::INFINITY });
    gaps.max_by(f64::total_cmp)
}
