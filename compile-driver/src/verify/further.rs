//! Verifies at further points: the given values are often special (zero, constant, sorted) and then exercise few paths.
//!
//! Only the dot-product identity is tested there, and only a failure counts. A point at which the function throws or its results
//! are not finite is inconclusive and ends the series, since the later points are even less like the given values.
//!
//! Where values decide the path, a point may take one that the given values do not. It counts as verified only if finite differences agree
//! there too: a derivative that both modes have wrong satisfies the identity. Else the first call on that path is verified by itself.

use crate::error::{Error, Result};
use crate::verify::sample::Point;
use crate::verify::{Outcome, Place, Probe, points, stage};
use std::time::{Duration, Instant};

/// How much longer a point may take than the first sample before the series ends.
const MOST_TIMES: u32 = 10;
const LEAST: Duration = Duration::from_millis(20);

/// What is wrong at points made of the values given; `None` if nothing is.
///
/// # Errors
///
/// None of the foreign code's.
pub(super) fn check(probe: &mut Probe<'_>, values: &Point) -> Result<Option<Outcome>> {
    // A rank that throws where others do not would leave them waiting.
    if probe.artifact.ranks.is_some() || !probe.allowed.other {
        return Ok(None);
    }
    let usual = probe.pair;
    let started = Instant::now();
    for (round, changes) in points::CHANGES.iter().enumerate() {
        if round > 1 && probe.is_late(started) {
            break;
        }
        let point = probe.made_of(values, changes);
        if point == *values {
            continue;
        }
        let began = Instant::now();
        let before = probe.paths.borrow().clone();
        match probe.at(Place::Other, |probe| identity_at(probe, &point)) {
            Ok(Finding::Right) => {
                let is_new = !before.contains(&probe.paths.borrow());
                if is_new && !differences_agree_at(probe, &point)? {
                    probe.paths.replace(before);
                }
            }
            Ok(Finding::Wrong(outcome)) => return Ok(Some(outcome)),
            Ok(Finding::Silent) | Err(Error::Foreign(_)) => {
                // What was not compared there counts for nothing.
                probe.paths.replace(before);
                break;
            }
            Err(other) => return Err(other),
        }
        if began.elapsed() > LEAST.max(MOST_TIMES * usual) {
            break;
        }
    }
    Ok(None)
}

/// Whether finite differences agree along one direction; not where the function throws next to the point.
fn differences_agree_at(probe: &mut Probe<'_>, point: &Point) -> Result<bool> {
    let (v, t) = (probe.random_cotangent(), probe.random_tangent(point));
    match probe.at(Place::Other, |probe| probe.aside(|| probe.identity(point, &v, &t))) {
        Ok(sample) => Ok(sample.is_finite() && sample.differences_agree(&probe.tolerance)),
        Err(Error::Foreign(_)) => Ok(false),
        Err(other) => Err(other),
    }
}

enum Finding {
    Right,
    Wrong(Outcome),
    Silent,
}

fn identity_at(probe: &mut Probe<'_>, point: &Point) -> Result<Finding> {
    // What the function itself does not survive is not the derivative's fault.
    if stage::is_watched() {
        probe.primal(point)?;
    }
    let t = probe.random_tangent(point);
    let v = probe.random_cotangent();
    let (forward, one) = probe.squares(&v, &probe.jvp(point, &t)?);
    let (reverse, other) = probe.squares(&probe.vjp(point, &v)?, &t);
    let scale = one.max(other);
    if !(forward.is_finite() && reverse.is_finite() && scale.is_finite()) {
        return Ok(Finding::Silent);
    }
    if (forward - reverse).abs() <= probe.tolerance.identity * scale {
        return Ok(Finding::Right);
    }
    // Here the result may be all rounding error; the rounding of the function's own values bounds it.
    let rounding = 16.0 * probe.tolerance.epsilon * probe.dot(&v, &probe.primal(point)?).1;
    if (forward - reverse).abs() <= probe.tolerance.identity * scale + rounding || !probe.is_steady(point, &v, &t)? {
        return Ok(Finding::Right);
    }
    let sample = probe.identity(point, &v, &t)?;
    let text = format!("{}, at other values inside the range of those given", super::identity_text(&sample));
    Ok(Finding::Wrong(Outcome::Wrong(sample.record(&probe.tolerance), text)))
}
