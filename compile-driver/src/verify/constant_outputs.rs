//! Outputs whose derivative is exactly zero beside others that have one: the solution of a search by comparisons (Nelder-Mead, bisection), beside the
//! value that it has found.
//!
//! ```text
//! nelmin(objective, 2, start, x, &f, ...);      // f depends on the parameters by arithmetic, x by comparisons alone
//! ```
//!
//! Small steps change no comparison and agree with the zero, and the difference of the whole is that of the other outputs. So the outputs without
//! derivative are compared by themselves, with steps as wide as those of the caller's own use: where two of them agree on a slope, the zero is doubtful.

use crate::error::{Error, Result};
use crate::verify::differences::{AGREED, central};
use crate::verify::sample::{Numbers, Point};
use crate::verify::{Moved, Outcome, Probe, Sample, disagreement_text};

/// The two steps, relative to the size of each array.
const STEPS: [f64; 2] = [1e-2, 1e-3];

/// How many times as large as what rounding makes of it a slope has to be.
const CLEAR: f64 = 1e3;

/// What is doubtful at a point where all comparisons of the whole passed; `None` if nothing is.
///
/// # Errors
///
/// Only what the foreign code throws at the point itself.
pub(super) fn check(probe: &mut Probe<'_>, point: &Point) -> Result<Option<Outcome>> {
    if probe.artifact.ranks.is_some() || probe.allowed.moved != Moved::Anywhere {
        return Ok(None);
    }
    let mut cotangent = probe.random_cotangent();
    let outputs: Vec<usize> = (0..cotangent.len()).filter(|arg| !cotangent[*arg].is_empty()).collect();
    if outputs.len() < 2 {
        return Ok(None);
    }
    let tangent = probe.random_tangent(point);
    let tangents = probe.jvp(point, &tangent)?;
    let (constant, others): (Vec<usize>, Vec<usize>) =
        outputs.into_iter().partition(|arg| tangents[*arg].iter().all(|t| *t == 0.0));
    if constant.is_empty() || others.is_empty() {
        return Ok(None);
    }
    others.into_iter().for_each(|arg| cotangent[arg].fill(0.0));
    match probe.at_moved(|| slope(probe, point, &cotangent, &tangent)) {
        Ok(Some(slope)) => {
            let names: Vec<String> =
                constant.iter().map(|arg| format!("`{}`", probe.call.plan.args[*arg].name)).collect();
            let sample = Sample { differences: slope, ..Sample::of(0.0, 0.0, slope.abs()) };
            let text = format!("{} for {}", disagreement_text(&sample), names.join(", "));
            Ok(Some(Outcome::Suspect(sample.record(&probe.tolerance), text)))
        }
        Ok(None) | Err(Error::Foreign(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The slope of these outputs, where both steps agree on one.
fn slope(probe: &Probe<'_>, point: &Point, cotangent: &Numbers, direction: &Numbers) -> Result<Option<f64>> {
    let value = |h: f64| Ok(probe.dot(cotangent, &probe.primal(&probe.moved(point, direction, h))?));
    let (mut slopes, mut least) = ([0.0; 2], 0.0_f64);
    for (slope, step) in slopes.iter_mut().zip(STEPS) {
        let (difference, size) = central(&value, step)?;
        *slope = difference / (2.0 * step);
        least = least.max(CLEAR * probe.tolerance.epsilon * size / step);
    }
    let [coarse, fine] = slopes;
    let is_clear = coarse.abs().min(fine.abs()) > least;
    Ok((is_clear && (coarse - fine).abs() <= AGREED * fine.abs()).then_some(fine))
}
