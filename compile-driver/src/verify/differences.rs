//! Finite differences: the coarse check of both modes, with several steps.

use crate::error::Result;
use crate::verify::sample::{Numbers, Point};
use crate::verify::{Moved, Place, Probe, Sample};
use core_ad::DType;

/// A value of the function at a step along a direction, and the sum of its terms' magnitudes.
pub(super) type Along<'f> = &'f dyn Fn(f64) -> Result<(f64, f64)>;

/// Steps whose estimates are apart by no more than this part of themselves, and of their gap to the derivative, agree on another number.
pub(super) const AGREED: f64 = 0.25;

/// Steps of two differences, and how far they are apart at most, relative to the terms compared, where no rounding to single precision is behind them.
const SMOOTH: ([f64; 2], f64) = ([1e-4, 1e-5], 1e-5);

/// A step over many cells of a table, or many steps of a search: wider than the usual ones.
const WIDER: f64 = 1e-2;

/// The estimate of a derivative with one step, and the rounding of the function's values behind it.
#[derive(Clone, Copy)]
struct Difference {
    step: f64,
    value: f64,
    rounding: f64,
}

/// 2 h times the derivative along a direction, from both sides, and the magnitudes behind it.
pub(super) fn central(along: Along<'_>, h: f64) -> Result<(f64, f64)> {
    let (plus, size) = along(h)?;
    Ok((plus - along(-h)?.0, size))
}

/// The same from one side, of the same order.
pub(super) fn one_sided(along: Along<'_>, h: f64) -> Result<(f64, f64)> {
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

    /// The slopes of ⟨cotangent, f⟩ on both sides of a point with each step, forward before backward, and the rounding behind them.
    pub(super) fn slopes(
        &self,
        point: &Point,
        cotangent: &Numbers,
        direction: &Numbers,
        steps: &[f64],
    ) -> Result<(Vec<f64>, f64)> {
        self.at_moved(|| self.slopes_here(point, cotangent, direction, steps))
    }

    /// Whether a function that has single precision somewhere in it, but not in its arguments, computes in double precision all the same: its
    /// differences with short steps agree. A library converts a constant somewhere, and is compared as finely as others then.
    pub(super) fn is_of_double_precision(&mut self, point: &Point, here: &Sample) -> Result<bool> {
        let is_taken_for_single = self.tolerance.epsilon > f64::EPSILON;
        let has_single = self.call.plan.args.iter().any(|arg| arg.dtype == DType::F32);
        // Ranks would have to agree on it.
        if !is_taken_for_single || has_single || self.allowed.moved == Moved::Nowhere || self.artifact.ranks.is_some() {
            return Ok(false);
        }
        let (tangent, cotangent) = (self.random_tangent(point), self.last.0.clone());
        let value = |h: f64| Ok(self.dot(&cotangent, &self.primal(&self.moved(point, &tangent, h))?));
        let (steps, apart) = SMOOTH;
        let slopes: Result<Vec<f64>> =
            self.at_moved(|| steps.into_iter().map(|h| Ok(central(&value, h)?.0 / (2.0 * h))).collect());
        let slopes = slopes?;
        let scale = slopes.iter().fold(here.scale, |largest, slope| largest.max(slope.abs()));
        Ok((slopes[0] - slopes[1]).abs() <= apart * scale)
    }

    /// Evaluates at values moved by a step.
    pub(super) fn at_moved<T>(&self, evaluate: impl FnOnce() -> T) -> T {
        let before = self.place.replace(Place::Moved);
        let found = evaluate();
        self.place.set(before);
        found
    }

    fn slopes_here(
        &self,
        point: &Point,
        cotangent: &Numbers,
        direction: &Numbers,
        steps: &[f64],
    ) -> Result<(Vec<f64>, f64)> {
        let value = |h: f64| Ok(self.dot(cotangent, &self.primal(&self.moved(point, direction, h))?));
        let here = value(0.0)?;
        let (mut slopes, mut rounding) = (Vec::new(), 0.0_f64);
        for (step, side) in steps.iter().flat_map(|step| [(*step, 1.0), (*step, -1.0)]) {
            let along = |h: f64| if h == 0.0 { Ok(here) } else { value(side * h) };
            let (difference, size) = one_sided(&along, step)?;
            slopes.push(side * difference / (2.0 * step));
            rounding = rounding.max(self.tolerance.epsilon * size / step);
        }
        Ok((slopes, rounding))
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

    /// Whether differences with steps so small agree that larger ones step over cells of a table. Rounding may have no part in it, and those over many
    /// cells may not agree on another number: a search that ends with a tolerance has steps of its own, and its derivative is not theirs.
    fn finer_differences(&self, estimate: Along<'_>, by_step: &[Difference], sample: &mut Sample) -> Result<bool> {
        let forward = sample.forward;
        if self.tolerance.finer.is_empty() || contradict(by_step, forward) {
            return Ok(false);
        }
        let wider = Difference { step: WIDER, value: estimate(WIDER)?.0 / (2.0 * WIDER), rounding: 0.0 };
        let largest: Vec<Difference> = std::iter::once(wider).chain(by_step.iter().copied().take(2)).collect();
        if contradict(&largest, forward) {
            return Ok(false);
        }
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

    /// Whether differences agree once their leading error, which falls with the square of the step, is extrapolated to zero
    /// (Richardson). At the minimum of a fit the gradient is small beside that error with any step, and beside rounding with a shorter one.
    /// A jump or a kink has no such error, and stays.
    fn extrapolated_differences(&self, by_step: &[Difference], sample: &mut Sample) -> bool {
        let before = sample.rounding;
        sample.extrapolated.clear();
        for pair in by_step.windows(2) {
            let [coarse, fine] = pair else { continue };
            let weight = 1.0 / ((coarse.step / fine.step).powi(2) - 1.0);
            sample.differences = fine.value + weight * (fine.value - coarse.value);
            sample.rounding = coarse.rounding.max(fine.rounding);
            sample.noise = (1.0 + weight) * fine.rounding / fine.step + weight * coarse.rounding / coarse.step;
            if sample.is_finite() && sample.noise <= 0.1 * sample.scale && sample.differences_agree(&self.tolerance) {
                sample.converged = true;
                return true;
            }
            sample.extrapolated.push(((sample.differences - sample.forward).abs(), sample.noise));
        }
        sample.rounding = before;
        false
    }

    fn differences(&self, estimate: Along<'_>, sample: &mut Sample) -> Result<()> {
        let mut by_step: Vec<Difference> = Vec::new();
        for &h in self.tolerance.steps {
            let (difference, size) = estimate(h)?;
            sample.differences = difference / (2.0 * h);
            sample.rounding = 16.0 * self.tolerance.epsilon * size;
            sample.noise = sample.rounding / h;
            let is_near = sample.is_finite() && sample.noise <= 0.1 * sample.scale;
            let larger = by_step.partition_point(|larger| larger.step > h);
            if is_near && sample.differences_agree(&self.tolerance) && !contradict(&by_step[..larger], sample.forward) {
                sample.converged = true;
                return Ok(());
            }
            by_step.insert(larger, Difference { step: h, value: sample.differences, rounding: sample.rounding });
        }
        if self.extrapolated_differences(&by_step, sample) || self.finer_differences(estimate, &by_step, sample)? {
            return Ok(());
        }
        if let Some(slope) = slope_beyond(&by_step, sample.scale, self.tolerance.differences) {
            (sample.differences, sample.noise, sample.converged) = (slope, 0.0, true);
            return Ok(());
        }
        let pairs = by_step.windows(2).map(|pair| ((pair[0].value - pair[1].value).abs(), pair[0].value));
        let best = pairs.filter(|(gap, _)| gap.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
        sample.noise = 0.0;
        if let Some((gap, estimate)) = best {
            sample.differences = estimate;
            sample.converged = gap <= self.tolerance.differences * estimate.abs().max(sample.scale);
        }
        Ok(())
    }
}

/// Whether three steps, largest first, agree with each other on another number than the derivative. That a smaller one does not may be the rounding of
/// a quotient of small numbers (`x / (exp(x) - 1)`), or a branch for these arguments alone.
fn contradict(by_step: &[Difference], derivative: f64) -> bool {
    by_step.windows(3).any(|three| {
        let [coarse, middle, fine] = three else { return false };
        let limit = AGREED * (middle.value - derivative).abs().min(middle.value.abs());
        (coarse.value - middle.value).abs() < limit && (middle.value - fine.value).abs() < limit
    })
}

/// The slope on which two larger steps agree where all derivatives are zero: these arguments are in a gap that the function treats by itself
/// (`fabs(x) < 1e-6 ? 1 : (exp(x) - 1) / x`), and smaller steps do not leave it.
fn slope_beyond(by_step: &[Difference], scale: f64, tolerance: f64) -> Option<f64> {
    let agree = |pair: &&[Difference]| {
        let size = pair[1].value.abs();
        (pair[0].value - pair[1].value).abs() <= 2.0 * tolerance * size && size > 10.0 * pair[1].rounding / pair[1].step
    };
    let found = by_step.windows(2).find(agree)?;
    (scale == 0.0).then_some(found[1].value)
}
