//! Differences on both sides of a point with a small error: what is wrong with one element of thousands is too little for the coarse comparison.
//!
//! An iteration may end at once for one element alone (Kepler's equation at pi), or a branch be taken for one pair of equal neighbours: the derivative of the whole is
//! then off by its share. Slopes of second order on each side, with two steps, agree with each other to many digits where the
//! function is smooth. If all four do, and the derivative is another, there is no kink, no noise and no chaos, and the derivative is doubtful.

use crate::error::Result;
use crate::verify::sample::Point;
use crate::verify::{Moved, Outcome, Probe};
use core_ad::manifest::CheckRecord;

/// Steps, relative to the size of each array.
const STEPS: [f64; 2] = [1e-4, 3e-5];

/// A share of the magnitudes behind a derivative that is missed here, and seen above: solvers stop by tolerances of this size.
const LEAST: f64 = 5e-5;

/// How many times as far as from each other the slopes have to be from the derivative.
const APART: f64 = 8.0;

/// How far the slopes may be from each other, as a part of themselves: over the cells of a table they are noise.
const AGREED: f64 = 1e-3;

/// What is doubtful at a point where the coarse comparison passed; `None` if nothing is.
///
/// # Errors
///
/// What the foreign code throws.
pub(super) fn check(probe: &mut Probe<'_>, point: &Point) -> Result<Option<Outcome>> {
    let is_double = probe.tolerance.epsilon <= f64::EPSILON;
    if probe.artifact.ranks.is_some() || probe.allowed.moved != Moved::Anywhere || !is_double {
        return Ok(None);
    }
    let direction = probe.random_tangent(point);
    let (cotangent, gradients) = &probe.last;
    let (derivative, scale) = probe.dot(gradients, &direction);
    let (slopes, noise) = probe.slopes(point, cotangent, &direction, &STEPS)?;
    let (least, most) = slopes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    let gap = (least - derivative).abs().min((most - derivative).abs());
    // Not where a slope is NaN: every comparison is false.
    let (spread, size) = (most - least, least.abs().max(most.abs()));
    if !(gap > LEAST * scale && gap > APART * spread && gap > APART * noise && spread <= AGREED * size) {
        return Ok(None);
    }
    let mean = slopes.iter().sum::<f64>() / slopes.len() as f64;
    let record = CheckRecord {
        forward: derivative,
        reverse: derivative,
        differences: mean,
        tolerance: probe.tolerance.identity * scale,
    };
    let text = format!(
        "forward and reverse mode agree ({derivative:.9e}), finite differences on both sides give {mean:.9e}, which is more than their error"
    );
    Ok(Some(Outcome::Suspect(record, text)))
}
