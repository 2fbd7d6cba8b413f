//! Compares the forward mode of parts of the inputs with finite differences: what both modes drop, only these can see.
//!
//! Differences of the whole are dominated by what has the largest derivative. So each argument is moved by itself, and then the elements whose
//! derivatives are faint beside the others: Enzyme's usual mistake that both modes have in common is a derivative that is
//! taken for zero. A disagreement counts where the differences converge, and stays at two generic points nearby: no kink, and no rounding.
//!
//! Programs have branches for zeros, other whole numbers and equal neighbours (`x == 0 ? 1 : x / (exp(x) - 1)`). One such element among thousands is
//! lost in a difference of the whole, and no point nearby has it. So these are moved by themselves, and count where both one-sided differences agree with
//! each other: there is no kink, and the derivative is another.

use crate::error::{Error, Result};
use crate::verify::sample::{Numbers, Point, root_mean_square};
use crate::verify::{Moved, Outcome, Place, Probe, Sample, disagreement_text};
use std::collections::HashMap;
use std::time::Instant;

/// Arguments that are moved by themselves.
const MOST_ARGUMENTS: usize = 8;

/// A derivative is faint where it changes the result by less than this part of what the strongest one does.
const FAINT: f64 = 1e-3;

/// Above this, numbers are whole by their size.
const MOST_WHOLE: f64 = 1e6;

/// Generic points at which a disagreement has to stay.
const POINTS: usize = 2;

/// How many times as far as each other one-sided differences have to be from the derivative.
const APART: f64 = 4.0;

/// Which elements are moved, for each argument, and how to call them.
struct Moving {
    elements: Vec<Vec<bool>>,
    name: String,
    /// Whether these values are special: points nearby say nothing.
    is_special: bool,
}

/// What is wrong in a part, at a point where the whole passed; `None` if nothing is.
///
/// # Errors
///
/// Only what the foreign code throws at the point itself.
pub(super) fn check(probe: &mut Probe<'_>, point: &Point) -> Result<Option<Outcome>> {
    let can_move = probe.allowed.moved != Moved::Nowhere && probe.allowed.other;
    if probe.artifact.ranks.is_some() || !can_move {
        return Ok(None);
    }
    let started = Instant::now();
    for (round, moving) in parts(probe, point).into_iter().enumerate() {
        if round > 1 && probe.is_late(started) {
            break;
        }
        let sample = sample(probe, point, &moving)?;
        if !disagrees(probe, &sample) {
            continue;
        }
        let stays = match moving.is_special {
            true => Ok(false),
            false => probe.at(Place::Other, |probe| stays_nearby(probe, point, &moving)),
        };
        match stays {
            Ok(true) => {
                let text = format!("{} along {}, here and at points nearby", disagreement_text(&sample), moving.name);
                return Ok(Some(Outcome::Wrong(sample.record(&probe.tolerance), text)));
            }
            // A kink, or a branch for these values alone.
            Ok(false) | Err(Error::Foreign(_)) => {
                if let Some(text) = smooth_text(probe, point, &moving, &sample)? {
                    return Ok(Some(Outcome::Suspect(sample.record(&probe.tolerance), text)));
                }
            }
            Err(other) => return Err(other),
        }
    }
    Ok(None)
}

/// Each argument, where there are several, the faint elements, and special ones.
fn parts(probe: &Probe<'_>, point: &Point) -> Vec<Moving> {
    let all: Vec<usize> = (0..point.len()).filter(|&arg| probe.moves(arg)).collect();
    let strength = strengths(probe, point);
    let strongest = strength.iter().flatten().fold(0.0, |most: f64, s| most.max(*s));
    let mut parts = Vec::new();
    if strongest > 0.0 && strongest.is_finite() {
        let is_faint = |s: &f64| *s < FAINT * strongest;
        let elements: Vec<Vec<bool>> = strength.iter().map(|all| all.iter().map(is_faint).collect()).collect();
        if elements.iter().flatten().any(|faint| *faint) {
            let name = "the elements with the smallest derivatives".to_owned();
            parts.push(Moving { elements, name, is_special: false });
        }
    }
    parts.extend(special(probe, point));
    if all.len() > 1 {
        parts.extend(all.iter().take(MOST_ARGUMENTS).map(|&only| Moving {
            elements: strength.iter().enumerate().map(|(arg, s)| vec![arg == only; s.len()]).collect(),
            name: format!("`{}`", probe.call.plan.args[only].name),
            is_special: false,
        }));
    }
    parts
}

/// The zeros, the other whole numbers, and values that an array has twice, where most elements are none of them.
fn special(probe: &Probe<'_>, point: &Point) -> Vec<Moving> {
    let values: Numbers = (0..point.len())
        .map(|arg| if probe.moves(arg) { probe.input_values(point, arg) } else { Vec::new() })
        .collect();
    let count: usize = values.iter().map(Vec::len).sum();
    let is_whole = |x: &f64| *x != 0.0 && x.abs() < MOST_WHOLE && x.fract() == 0.0;
    let of_kind = |name: &str, elements: Vec<Vec<bool>>| {
        let found = elements.iter().flatten().filter(|one| **one).count();
        (found > 0 && 2 * found < count).then(|| Moving {
            elements,
            name: format!("the elements that are {name}"),
            is_special: true,
        })
    };
    let those = |is_one: &dyn Fn(&f64) -> bool| values.iter().map(|all| all.iter().map(is_one).collect()).collect();
    let kinds = [
        of_kind("zeros", those(&|x| *x == 0.0)),
        of_kind("whole numbers", those(&is_whole)),
        of_kind("equal to another one", values.iter().map(|all| ties(all)).collect()),
    ];
    kinds.into_iter().flatten().collect()
}

/// Which values of an array are in it more than once.
fn ties(values: &[f64]) -> Vec<bool> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    values.iter().for_each(|x| *counts.entry(x.to_bits()).or_default() += 1);
    values.iter().map(|x| counts.get(&x.to_bits()).is_some_and(|count| *count > 1)).collect()
}

/// What to say where the function is smooth along a part, and its slope another than the derivative.
fn smooth_text(probe: &mut Probe<'_>, point: &Point, moving: &Moving, sample: &Sample) -> Result<Option<String>> {
    // Both sides are looked at, which may be beyond what the function survives.
    if probe.allowed.moved != Moved::Anywhere {
        return Ok(None);
    }
    let cotangent = probe.last.0.clone();
    let direction = masked(probe.random_tangent(point), moving);
    let derivative = probe.dot(&cotangent, &probe.jvp(point, &direction)?).0;
    let (slopes, _) = probe.slopes(point, &cotangent, &direction, &[probe.tolerance.one_sided_step()])?;
    let [forward, backward] = slopes[..] else { return Ok(None) };
    let gap = (forward - derivative).abs().min((backward - derivative).abs());
    let is_smooth = APART * (forward - backward).abs() < gap;
    Ok(is_smooth.then(|| format!("{} along {}", disagreement_text(sample), moving.name)))
}

/// By how much each element changes the last sample's number, moved by the size of its array.
fn strengths(probe: &Probe<'_>, point: &Point) -> Numbers {
    let gradients = &probe.last.1;
    let of = |arg: usize| {
        let size = root_mean_square(&probe.input_values(point, arg));
        gradients.get(arg).map_or(Vec::new(), |all| all.iter().map(|g| g.abs() * size).collect())
    };
    (0..point.len()).map(of).collect()
}

/// The forward mode along a part, weighed as in the last sample, and its differences.
fn sample(probe: &mut Probe<'_>, point: &Point, moving: &Moving) -> Result<Sample> {
    let (tangent, inward) = match probe.tangent_inside(point).filter(|_| probe.allowed.moved == Moved::Inside) {
        Some((tangent, inward)) => (masked(tangent, moving), Some(masked(inward, moving))),
        None => (masked(probe.random_tangent(point), moving), None),
    };
    let whole = match &inward {
        Some(inward) => super::differences::added(&tangent, inward),
        None => tangent.clone(),
    };
    let cotangent = probe.last.0.clone();
    let (forward, size) = probe.dot(&cotangent, &probe.jvp(point, &whole)?);
    let mut sample = Sample::of(forward, forward, size);
    probe.difference_along(point, &cotangent, &tangent, inward.as_ref(), &mut sample)?;
    Ok(sample)
}

fn masked(mut direction: Numbers, moving: &Moving) -> Numbers {
    for (numbers, moves) in direction.iter_mut().zip(&moving.elements) {
        numbers.iter_mut().zip(moves).filter(|(_, moves)| !**moves).for_each(|(number, _)| *number = 0.0);
    }
    direction
}

/// Whether the differences converge, to something else.
fn disagrees(probe: &Probe<'_>, sample: &Sample) -> bool {
    let is_seen = sample.differences.abs() > 10.0 * sample.rounding / probe.tolerance.steps[0];
    sample.forward.is_finite() && sample.converged && is_seen && !sample.differences_agree(&probe.tolerance)
}

fn stays_nearby(probe: &mut Probe<'_>, point: &Point, moving: &Moving) -> Result<bool> {
    for _ in 0..POINTS {
        let near = probe.nearby(point);
        if super::stage::is_watched() {
            probe.primal(&near)?;
        }
        let there = sample(probe, &near, moving)?;
        if !disagrees(probe, &there) {
            return Ok(false);
        }
    }
    Ok(true)
}
