//! Finite differences: the coarse check of both modes, with several steps.

use crate::error::Result;
use crate::verify::sample::{Numbers, Point};
use crate::verify::{Moved, Place, Probe, Sample};

/// A value of the function at a step along a direction, and the sum of its terms' magnitudes.
pub(super) type Along<'f> = &'f dyn Fn(f64) -> Result<(f64, f64)>;

/// 2 h times the derivative along a direction, from both sides, and the magnitudes behind it.
pub(super) fn central(along: Along<'_>, h: f64) -> Result<(f64, f64)> {
    let (plus, size) = along(h)?;
    Ok((plus - along(-h)?.0, size))
}

/// The same from one side, of the same order.
fn one_sided(along: Along<'_>, h: f64) -> Result<(f64, f64)> {
    let (plus, size) = along(h)?;
    Ok((4.0 * plus - along(2.0 * h)?.0 - 3.0 * along(0.0)?.0, 4.0 * size))
}

/// The sum of two directions.
pub(super) fn added(one: &Numbers, other: &Numbers) -> Numbers {
    one.iter().zip(other).map(|(x, y)| x.iter().zip(y).map(|(x, y)| x + y).collect()).collect()
}

impl Probe<'_> {
    /// Differences of ⟨cotangent, f⟩ along a tangent from both sides and, where there is one, along another from one side.
    pub(super) fn difference_along(
        &self,
        point: &Point,
        cotangent: &Numbers,
        tangent: &Numbers,
        inward: Option<&Numbers>,
        sample: &mut Sample,
    ) -> Result<()> {
        let value = |along: &Numbers, h: f64| -> Result<(f64, f64)> {
            Ok(self.dot(cotangent, &self.primal(&self.moved(point, along, h))?))
        };
        let estimate = |h: f64| -> Result<(f64, f64)> {
            let (both, size) = central(&|h| value(tangent, h), h)?;
            let Some(inward) = inward else { return Ok((both, size)) };
            let (one, other) = one_sided(&|h| value(inward, h), h)?;
            Ok((both + one, size.max(other)))
        };
        self.difference(&estimate, sample)
    }

    /// Finite differences with several steps: stops at the first that agrees, else keeps the pair of
    /// neighbouring steps that agree best with each other.
    pub(super) fn difference(&self, estimate: Along<'_>, sample: &mut Sample) -> Result<()> {
        if self.allowed.moved == Moved::Nowhere {
            return Ok(());
        }
        let before = self.place.get();
        if before == Place::Given {
            self.place.set(Place::Moved);
        }
        let result = self.differences(estimate, sample);
        self.place.set(before);
        result
    }

    /// Whether differences with steps so small agree that larger ones step over cells of a table. Rounding may have no part in it.
    fn finer_differences(&self, estimate: Along<'_>, sample: &mut Sample) -> Result<bool> {
        for &h in self.tolerance.finer {
            let (difference, size) = estimate(h)?;
            sample.differences = difference / (2.0 * h);
            sample.rounding = 16.0 * self.tolerance.epsilon * size;
            sample.noise = sample.rounding / h;
            let is_clear = sample.noise <= 0.1 * self.tolerance.differences * sample.scale;
            if is_clear && sample.is_finite() && sample.differences_agree(&self.tolerance) {
                sample.converged = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn differences(&self, estimate: Along<'_>, sample: &mut Sample) -> Result<()> {
        let mut estimates: Vec<f64> = Vec::new();
        for &h in self.tolerance.steps {
            let (difference, size) = estimate(h)?;
            sample.differences = difference / (2.0 * h);
            sample.rounding = 16.0 * self.tolerance.epsilon * size;
            sample.noise = sample.rounding / h;
            if sample.is_finite() && sample.noise <= 0.1 * sample.scale && sample.differences_agree(&self.tolerance) {
                sample.converged = true;
                return Ok(());
            }
            estimates.push(sample.differences);
        }
        if self.finer_differences(estimate, sample)? {
            return Ok(());
        }
        let pairs = estimates.windows(2).map(|p| ((p[0] - p[1]).abs(), p[0]));
        let best = pairs.filter(|(gap, _)| gap.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
        sample.noise = 0.0;
        if let Some((gap, estimate)) = best {
            sample.differences = estimate;
            sample.converged = gap <= self.tolerance.differences * estimate.abs().max(sample.scale);
        }
        Ok(())
    }
}
