//! Whether the function is continuous where the pipeline `generic` is used: that takes numbers for unequal that the function tests for equality, and
//! central differences do not see the value between them.
//!
//! The value is compared with the mean of those on both sides. A smooth function, or a kink, comes closer to it with a shorter step; a jump does not.

use crate::error::Result;
use crate::verify::sample::Point;
use crate::verify::{Moved, Place, Probe};
use core_ad::protocol::Pipeline;

/// How many times shorter the second step is.
const SHORTER: f64 = 1e-2;

/// A gap that does not fall to this part of itself is a jump.
const CLOSING: f64 = 0.1;

/// What to say of a jump at a point; `None` where there is none, and for other pipelines.
///
/// # Errors
///
/// What the foreign code throws.
pub(super) fn jump(probe: &mut Probe<'_>, point: &Point) -> Result<Option<String>> {
    if !probe.artifact.record.pipeline.is_some_and(Pipeline::is_generic) {
        return Ok(None);
    }
    if probe.allowed.moved != Moved::Anywhere {
        return Ok(Some("the function crashes next to these arguments, which it may treat by themselves".to_owned()));
    }
    let (cotangent, tangent) = (probe.last.0.clone(), probe.random_tangent(point));
    let step = 10.0 * probe.tolerance.one_sided_step();
    let (first, second, size) = probe.at(Place::Moved, |probe| {
        let value = |h: f64| -> Result<(f64, f64)> {
            Ok(probe.dot(&cotangent, &probe.primal(&probe.moved(point, &tangent, h))?))
        };
        let (here, size) = value(0.0)?;
        let gap = |h: f64| -> Result<f64> { Ok((here - 0.5 * (value(h)?.0 + value(-h)?.0)).abs()) };
        Ok((gap(step)?, gap(SHORTER * step)?, size))
    })?;
    let is_jump = second > CLOSING * first && second > 64.0 * probe.tolerance.epsilon * size;
    Ok(is_jump.then(|| "the function jumps at these arguments".to_owned()))
}
