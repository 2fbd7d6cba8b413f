//! Points where a gradient is small beside the terms that it is made of: the minimum of a fit, of an energy.
//!
//! There the terms cancel, so both modes agree to fewer digits of what is left, and finite differences have an error larger than the
//! gradient. A comparison that fails is excused where what disagrees is rounding, by two measures at once:
//!
//! - It is no larger than the change of the derivative among points that differ in the last bits (of finite differences: than the
//!   rounding of the function's values that they have). No better derivative can be had of such inputs.
//! - It is within the tolerance of the derivative at a generic point nearby, which passes both comparisons itself.
//!
//! The second does not excuse a kink, or a branch that one value alone takes: derivatives on its sides differ by as much as derivatives nearby are large.

use crate::error::Result;
use crate::verify::sample::Point;
use crate::verify::{Place, Probe, Sample, Tolerance};

/// Points that differ in the last bits.
const POINTS: usize = 3;
/// The part of the tolerance of finite differences that their rounding may take.
const SHARE: f64 = 0.1;

/// How derivatives are around a point.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// How much a derivative changes in the last bits of the inputs.
    spread: f64,
    /// The scale of a derivative at a generic point nearby.
    scale: f64,
}

/// Looks around a point where a comparison failed; `None` where no point nearby passes, or none may be tried.
///
/// # Errors
///
/// Only what the foreign code throws.
pub(super) fn look(probe: &mut Probe<'_>, point: &Point) -> Result<Option<Around>> {
    if !probe.allowed.other {
        return Ok(None);
    }
    let (last, pair) = (probe.last.clone(), probe.pair);
    let near = probe.nearby(point);
    let sample = probe.sample_elsewhere(&near)?;
    (probe.last, probe.pair) = (last, pair);
    let is_right = sample.is_informative()
        && sample.identity_error() <= probe.tolerance.identity
        && sample.differences_agree(&probe.tolerance);
    if !is_right {
        return Ok(None);
    }
    Ok(Some(Around { spread: spread(probe, point)?, scale: sample.scale }))
}

/// The change of one derivative among points that differ in the last bits. The point itself is not among them: a branch that it alone
/// takes has no part in this.
fn spread(probe: &mut Probe<'_>, point: &Point) -> Result<f64> {
    let (cotangent, tangent) = (probe.random_cotangent(), probe.random_tangent(point));
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..POINTS {
        let near = probe.rounded(point);
        let outputs = probe.at(Place::Moved, |probe| probe.aside(|| probe.jvp(&near, &tangent)))?;
        let derivative = probe.dot(&cotangent, &outputs).0;
        (least, most) = (least.min(derivative), most.max(derivative));
    }
    Ok(if most >= least { most - least } else { 0.0 })
}

impl Around {
    /// Whether two computations of one derivative may be so far apart.
    pub(super) fn excuses(&self, gap: f64, tolerance: &Tolerance) -> bool {
        gap <= self.spread && gap <= tolerance.identity * self.scale
    }

    /// Whether finite differences agree with a derivative as far as they can see it.
    pub(super) fn excuses_differences(&self, sample: &Sample, tolerance: &Tolerance) -> bool {
        let least = SHARE * tolerance.differences * self.scale;
        let is_seen = |&(gap, noise): &(f64, f64)| {
            noise <= least && self.spread <= least && gap <= tolerance.differences * sample.scale + noise + self.spread
        };
        sample.extrapolated.iter().any(is_seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Around = Around { spread: 1e-12, scale: 10.0 };

    #[test]
    fn a_gap_of_rounding_is_excused_and_no_other() {
        assert!(AROUND.excuses(1e-13, &Tolerance::DOUBLE));
        assert!(!AROUND.excuses(1e-11, &Tolerance::DOUBLE), "more than the last bits make");
        let kink = Around { spread: 2.0, scale: 1.0 };
        assert!(!kink.excuses(1.0, &Tolerance::DOUBLE), "a derivative that jumps in the last bits is no rounding");
    }

    #[test]
    fn differences_are_excused_as_far_as_rounding_hides_the_derivative() {
        let sample = |gap: f64, noise: f64| Sample { extrapolated: vec![(gap, noise)], ..Sample::of(1e-9, 1e-9, 1e-9) };
        assert!(AROUND.excuses_differences(&sample(1e-10, 4e-10), &Tolerance::DOUBLE));
        assert!(!AROUND.excuses_differences(&sample(1e-8, 4e-10), &Tolerance::DOUBLE), "they see another derivative");
        assert!(!AROUND.excuses_differences(&sample(0.0, 1.0), &Tolerance::DOUBLE), "they see nothing");
    }
}
