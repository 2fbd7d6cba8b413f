//! Differences from the one side on which a function is defined: `sqrt(x)` at 0, `acos(x)` at 1, `log1p(x) * sqrt(1 + x)` at -1.
//!
//! Central differences are not finite there, and a derivative says nothing by itself: Enzyme's rule for a root gives 0 at 0, whether the slope
//! is infinite (`sqrt(x)`), finite (`sqrt(x) * sqrt(x)`) or zero (`x * sqrt(x)`). What decides is whether the gap between the difference and the
//! derivative closes as the step falls.

use crate::error::Result;
use crate::verify::differences::one_sided;
use crate::verify::sample::Numbers;
use crate::verify::{Moved, Place, Probe, Sample};

/// Steps, largest first, relative to the size of each array.
const DOUBLE: [f64; 3] = [1e-3, 1e-5, 1e-7];
const SINGLE: [f64; 3] = [1e-1, 1e-2, 1e-3];
/// A gap that falls to less than this part of itself with the last step is closing. Curvature makes a large one of the first step.
const CLOSING: f64 = 0.5;
/// Functions of more numbers have the directions with equal signs only.
const MOST: usize = 64;

/// A number, and the sum of the magnitudes behind it.
type Terms = (f64, f64);

/// Of a step along a direction.
type Value<'f> = dyn Fn(&Probe<'_>, &Numbers, f64) -> Result<Terms> + 'f;
/// Of a direction.
type Derivative<'f> = dyn Fn(&Probe<'_>, &Numbers) -> Result<Terms> + 'f;

/// A derivative along a direction, in two ways: what differs is a derivative of one side that is not the function's.
pub(super) struct Slope<'f> {
    /// ⟨v, f(x + h d)⟩, and the magnitudes behind it.
    pub value: &'f Value<'f>,
    /// The derivative of it along d, and the magnitudes behind it.
    pub derivative: &'f Derivative<'f>,
}

/// What differences on one side show.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OneSide {
    /// Nothing: central differences are finite, or the function is defined on no side.
    Unknown,
    /// The derivative is the one of that side.
    Agrees,
    /// It is not; what to say.
    Apart(String),
}

impl Sample {
    /// Looks at one side, where central differences along the tangent are not finite and the derivatives are.
    ///
    /// # Errors
    ///
    /// What the foreign code throws.
    pub(super) fn look_at_one_side(&mut self, probe: &Probe<'_>, tangent: &Numbers, slope: &Slope<'_>) -> Result<()> {
        let is_possible = probe.allowed.moved == Moved::Anywhere && probe.artifact.ranks.is_none();
        if !is_possible || self.differences.is_finite() || !self.is_finite() {
            return Ok(());
        }
        let before = probe.place.get();
        probe.place.set(if before == Place::Given { Place::Moved } else { before });
        let found = compare(probe, tangent, slope);
        probe.place.set(before);
        self.one_side = found?;
        Ok(())
    }
}

fn compare(probe: &Probe<'_>, tangent: &Numbers, slope: &Slope<'_>) -> Result<OneSide> {
    let steps = if probe.tolerance.epsilon > f64::EPSILON { SINGLE } else { DOUBLE };
    let (here, _) = (slope.value)(probe, tangent, 0.0)?;
    let is_defined = |along: &Numbers| Ok((slope.value)(probe, along, 2.0 * steps[0])?.0.is_finite());
    let Some(along) = side(tangent, &is_defined)?.filter(|_| here.is_finite()) else { return Ok(OneSide::Unknown) };
    let (derivative, mut size) = (slope.derivative)(probe, &along)?;
    let (mut gaps, mut last, mut rounding) = (Vec::new(), 0.0, 0.0);
    for h in steps {
        let (difference, terms) = one_sided(&|h| (slope.value)(probe, &along, h), h)?;
        last = difference / (2.0 * h);
        size = size.max(last.abs());
        rounding = 16.0 * probe.tolerance.epsilon * terms / h;
        gaps.push((last - derivative).abs());
    }
    let [first, middle, end] = gaps[..] else { return Ok(OneSide::Unknown) };
    if !(end.is_finite() && derivative.is_finite()) {
        return Ok(OneSide::Unknown);
    }
    if end <= probe.tolerance.differences * size + rounding || end <= CLOSING * middle {
        return Ok(OneSide::Agrees);
    }
    // A slope that grows with each smaller step has no limit.
    let limit = if end > 2.0 * first { "grow without bound".to_owned() } else { format!("give {last:.6e}") };
    Ok(OneSide::Apart(format!(
        "the derivative is {derivative:.6e}, but the function is defined on one side of these arguments only, and differences there {limit}"
    )))
}

/// The direction, of those with the magnitudes of `tangent`, in which the function is defined.
fn side(tangent: &Numbers, is_defined: &dyn Fn(&Numbers) -> Result<bool>) -> Result<Option<Numbers>> {
    let mapped = |change: &dyn Fn(f64) -> f64| -> Numbers {
        tangent.iter().map(|all| all.iter().map(|x| change(*x)).collect()).collect()
    };
    for change in [&|x: f64| x, &|x: f64| -x, &|x: f64| x.abs(), &|x: f64| -x.abs()] as [&dyn Fn(f64) -> f64; 4] {
        let along = mapped(change);
        if is_defined(&along)? {
            return Ok(Some(along));
        }
    }
    if tangent.iter().map(Vec::len).sum::<usize>() > MOST {
        return Ok(None);
    }
    let mut along = mapped(&f64::abs);
    for arg in 0..along.len() {
        for place in 0..along[arg].len() {
            let mut alone = mapped(&|_| 0.0);
            alone[arg][place] = along[arg][place];
            if !is_defined(&alone)? {
                along[arg][place] = -along[arg][place];
            }
        }
    }
    Ok(is_defined(&along)?.then_some(along))
}
