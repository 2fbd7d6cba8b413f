//! Looks for elements whose derivative is that of a single point: a branch for one value (`x == 0`), an iteration that starts at its solution.
//!
//! Where all inputs move a little, a gradient hardly changes. The elements whose derivative does change are moved by themselves, however many others there are:
//! where the function has a slope on each side and the derivative lies outside of both, it is doubtful. Between them it is a kink's (`fabs` at 0).
//! Second derivatives are compared in the same way with slopes of the gradient.

use crate::error::{Error, Result};
use crate::verify::sample::{Numbers, Point, root_mean_square};
use crate::verify::{Moved, Outcome, Place, Probe, stage};
use core_ad::manifest::CheckRecord;
use std::time::Instant;

/// How far the point moves for the second gradient, relative to the size of each array.
const NEAR: [f64; 2] = [1e-5, 1e-3];

/// A change of this part of a derivative is looked into.
const CHANGED: [f64; 2] = [1e-3, 2e-2];

/// Steps of the slopes, relative to the size of each array.
const STEPS: [[f64; 2]; 2] = [[1e-4, 3e-5], [3e-2, 1e-2]];

/// A derivative that lies outside of the slopes by less than this part of the terms behind it is missed.
const LEAST: [f64; 2] = [1e-4, 5e-2];

/// A side on which slopes differ by more than this part of themselves has none.
const AGREED: f64 = 0.1;

/// How many times as far from the slopes as these are from each other a derivative has to be.
const APART: f64 = 4.0;

/// Elements that are looked into, those with the largest changes first.
const MOST: usize = 16;

/// The derivative next to the point has to agree with the slopes to this part of them: over the fine cells of a table no derivative does.
const ALIKE: f64 = 0.05;

/// An element of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Element {
    arg: usize,
    place: usize,
    /// Its derivative at the point, and next to it.
    here: f64,
    there: f64,
}

/// What is doubtful at a point where all other comparisons passed; `None` if nothing is.
///
/// # Errors
///
/// What the foreign code throws.
pub(super) fn check(probe: &mut Probe<'_>, point: &Point) -> Result<Option<Outcome>> {
    let cotangent = probe.last.0.clone();
    let gradient = |probe: &Probe<'_>, at: &Point| probe.aside(|| probe.vjp(at, &cotangent));
    let (here, changed) = changed_elements(probe, point, &gradient)?;
    let started = Instant::now();
    for (number, element) in changed.into_iter().enumerate() {
        if number > 0 && probe.is_late(started) {
            break;
        }
        let (direction, size) = along(probe, point, &here, element);
        let Some(sides) = Sides::along(probe, point, &cotangent, &direction)? else { continue };
        if sides.show_single_point(element.here * size, element.there * size, LEAST[probe.precision()]) {
            return Ok(Some(suspect(probe, element, sides.limits().map(|s| s / size), "")));
        }
    }
    Ok(None)
}

/// Whether the derivatives of the last sample, at a point, are those of a kink: each lies between the slopes on both sides. The elements whose derivative
/// changes next to the point are looked at one by one, because kinks that open upwards and downwards cancel in a sum.
///
/// # Errors
///
/// What the foreign code throws.
pub(super) fn is_kink(probe: &mut Probe<'_>, point: &Point) -> Result<bool> {
    let cotangent = probe.last.0.clone();
    let gradient = |probe: &Probe<'_>, at: &Point| probe.aside(|| probe.vjp(at, &cotangent));
    let (here, changed) = changed_elements(probe, point, &gradient)?;
    let (started, mut found) = (Instant::now(), false);
    for (number, element) in changed.into_iter().enumerate() {
        if number > 0 && probe.is_late(started) {
            break;
        }
        let (direction, size) = along(probe, point, &here, element);
        let Some(sides) = Sides::along(probe, point, &cotangent, &direction)? else { return Ok(false) };
        let least = LEAST[probe.precision()];
        if sides.show_single_point(element.here * size, element.there * size, least) {
            return Ok(false);
        }
        found |= sides.show_kink(element.here * size, least);
    }
    Ok(found)
}

/// The direction of one element, as long as its array's values are large.
fn along(probe: &Probe<'_>, point: &Point, here: &Numbers, element: Element) -> (Numbers, f64) {
    let mut direction: Numbers = here.iter().map(|all| vec![0.0; all.len()]).collect();
    let size = root_mean_square(&probe.input_values(point, element.arg));
    direction[element.arg][element.place] = size;
    (direction, size)
}

/// What is doubtful of second derivatives along a direction, where all comparisons of the whole passed: of the elements of the change of the gradient.
///
/// # Errors
///
/// What the foreign code throws.
pub(super) fn check_second(
    probe: &mut Probe<'_>,
    point: &Point,
    cotangent: &Numbers,
    direction: &Numbers,
) -> Result<Option<Outcome>> {
    let second = |probe: &Probe<'_>, at: &Point| probe.aside(|| probe.hvp(at, cotangent, direction));
    let (_, changed) = changed_elements(probe, point, &second)?;
    if changed.is_empty() {
        return Ok(None);
    }
    let gradients = Gradients::along(probe, point, cotangent, direction)?;
    let is_single = |element: &Element| {
        let sides = gradients.sides(*element, probe.tolerance.epsilon);
        sides.show_single_point(element.here, element.there, LEAST[probe.precision()])
    };
    Ok(changed.into_iter().find(is_single).map(|element| {
        let limits = gradients.sides(element, probe.tolerance.epsilon).limits();
        suspect(probe, element, limits, "the second derivative: ")
    }))
}

/// Gradients at steps along a direction.
struct Gradients {
    middle: Numbers,
    /// Each step, forward before backward, and the gradients at one and at two of it.
    steps: Vec<(f64, Numbers, Numbers)>,
}

impl Gradients {
    fn along(probe: &Probe<'_>, point: &Point, cotangent: &Numbers, direction: &Numbers) -> Result<Gradients> {
        let gradient = |h: f64| {
            let at = probe.moved(point, direction, h);
            probe.at_moved(|| probe.aside(|| probe.vjp(&at, cotangent)))
        };
        let mut steps = Vec::new();
        for step in STEPS[probe.precision()].into_iter().flat_map(|step| [step, -step]) {
            steps.push((step, gradient(step)?, gradient(2.0 * step)?));
        }
        Ok(Gradients { middle: gradient(0.0)?, steps })
    }

    /// The slopes of one element of the gradient.
    fn sides(&self, element: Element, epsilon: f64) -> Sides {
        let of =
            |all: &Numbers| all.get(element.arg).and_then(|all| all.get(element.place)).copied().unwrap_or(f64::NAN);
        let slope = |number: usize| {
            let Some((step, one, two)) = self.steps.get(number) else { return f64::NAN };
            (4.0 * of(one) - of(two) - 3.0 * of(&self.middle)) / (2.0 * step)
        };
        let smallest = self.steps.iter().map(|(step, ..)| step.abs()).fold(f64::INFINITY, f64::min);
        let noise = 64.0 * epsilon * of(&self.middle).abs() / smallest;
        Sides { forward: [slope(0), slope(2)], backward: [slope(1), slope(3)], noise }
    }
}

/// A derivative at a point, and the elements of which it is another next to it, those with the largest changes first.
fn changed_elements(
    probe: &mut Probe<'_>,
    point: &Point,
    derivative: &dyn Fn(&Probe<'_>, &Point) -> Result<Numbers>,
) -> Result<(Numbers, Vec<Element>)> {
    let is_possible = probe.artifact.ranks.is_none() && probe.allowed.moved == Moved::Anywhere && probe.allowed.other;
    if !is_possible {
        return Ok(Default::default());
    }
    let here = derivative(probe, point)?;
    let tangent = own_tangent(probe, point);
    let near = probe.moved(point, &tangent, NEAR[probe.precision()]);
    let there = probe.at(Place::Other, |probe| {
        if stage::is_watched() {
            probe.primal(&near)?;
        }
        derivative(probe, &near)
    });
    match there {
        Ok(there) => {
            let changed = changed(&here, &there, CHANGED[probe.precision()]);
            Ok((here, changed))
        }
        Err(Error::Foreign(_)) => Ok((here, Vec::new())),
        Err(other) => Err(other),
    }
}

/// A random direction that leaves the check's other random numbers as they are.
fn own_tangent(probe: &mut Probe<'_>, point: &Point) -> Numbers {
    let before = probe.random.0;
    let tangent = probe.random_tangent(point);
    probe.random.0 = before;
    tangent
}

/// The elements of which two gradients differ by more than a part of themselves. None where most do: the function is rough, or has large curvature.
fn changed(here: &Numbers, there: &Numbers, part: f64) -> Vec<Element> {
    let mut all: Vec<(f64, Element)> = Vec::new();
    let count: usize = here.iter().map(Vec::len).sum();
    for (arg, (here, there)) in here.iter().zip(there).enumerate() {
        for (place, (a, b)) in here.iter().zip(there).enumerate() {
            let change = (a - b).abs();
            if change > part * a.abs().max(b.abs()) {
                all.push((change, Element { arg, place, here: *a, there: *b }));
            }
        }
    }
    if all.len() > MOST && 2 * all.len() > count {
        return Vec::new();
    }
    all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    all.into_iter().take(MOST).map(|(_, element)| element).collect()
}

/// Slopes on both sides of a point, each with two steps, and the rounding behind them.
#[derive(Clone, Copy, Debug)]
struct Sides {
    forward: [f64; 2],
    backward: [f64; 2],
    noise: f64,
}

impl Sides {
    /// Those of ⟨cotangent, f⟩ along a direction.
    fn along(probe: &Probe<'_>, point: &Point, cotangent: &Numbers, direction: &Numbers) -> Result<Option<Sides>> {
        let (slopes, noise) = probe.slopes(point, cotangent, direction, &STEPS[probe.precision()])?;
        let [first, second, third, fourth] = slopes[..] else { return Ok(None) };
        Ok(Some(Sides { forward: [first, third], backward: [second, fourth], noise }))
    }

    /// The slopes with the shorter step, forward and backward.
    fn limits(&self) -> [f64; 2] {
        [self.forward[1], self.backward[1]]
    }

    /// Whether a derivative is that of a single point: it lies outside of the slopes, and the one next to it does not.
    fn show_single_point(&self, here: f64, there: f64, least: f64) -> bool {
        self.exclude(here, least) && !self.exclude(there, ALIKE)
    }

    /// Whether a derivative lies between slopes that differ by more than their errors.
    fn show_kink(&self, derivative: f64, least: f64) -> bool {
        let [forward, backward] = self.limits();
        let gap = (forward - backward).abs();
        let error = self.error() + least * forward.abs().max(backward.abs());
        gap > APART * error
            && derivative >= forward.min(backward) - error
            && derivative <= forward.max(backward) + error
    }

    fn error(&self) -> f64 {
        let spread = |side: [f64; 2]| (side[0] - side[1]).abs();
        spread(self.forward).max(spread(self.backward)).max(4.0 * self.noise)
    }

    /// Whether a derivative lies outside of the slopes, by more than their errors and than this part of them. Not where a slope is NaN: every comparison is false.
    fn exclude(&self, derivative: f64, least: f64) -> bool {
        let spread = |side: [f64; 2]| (side[0] - side[1]).abs();
        // Next to a pole slopes grow with each smaller step.
        let is_clear = |side: [f64; 2]| spread(side) <= AGREED * side[1].abs() + 8.0 * self.noise;
        let [forward, backward] = self.limits();
        let outside = (forward.min(backward) - derivative).max(derivative - forward.max(backward));
        let size = derivative.abs().max(forward.abs()).max(backward.abs());
        is_clear(self.forward) && is_clear(self.backward) && outside > least * size && outside > APART * self.error()
    }
}

fn suspect(probe: &Probe<'_>, at: Element, [forward, backward]: [f64; 2], what: &str) -> Outcome {
    let derivative = at.here;
    let name = &probe.call.plan.args[at.arg].name;
    let element =
        if probe.call.elements(at.arg) > 1 { format!("element {} of `{name}`", at.place) } else { format!("`{name}`") };
    let text = format!(
        "{what}forward and reverse mode agree ({derivative:.6e} along {element}), finite differences give {forward:.6e} on one side and {backward:.6e} on the other"
    );
    let tolerance = probe.tolerance.identity * derivative.abs();
    let differences = 0.5 * (forward + backward);
    Outcome::Suspect(CheckRecord { forward: derivative, reverse: derivative, differences, tolerance }, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides(forward: f64, backward: f64) -> Sides {
        Sides { forward: [forward; 2], backward: [backward; 2], noise: 0.0 }
    }

    #[test]
    fn a_derivative_between_the_slopes_is_a_kinks_and_one_outside_is_doubtful() {
        assert!(!sides(1.0, -1.0).exclude(0.0, 1e-4) && !sides(1.0, -1.0).exclude(1.0, 1e-4));
        assert!(sides(28.0, 20.0).exclude(0.0, 1e-4) && sides(1.0, 1.0).exclude(0.588, 1e-4));
        assert!(!sides(1.0, 1.0).exclude(1.000_05, 1e-4) && !sides(f64::NAN, 1.0).exclude(0.0, 1e-4));
    }

    #[test]
    fn at_a_kink_the_slopes_differ_and_the_derivative_is_between_them() {
        assert!(sides(1.0, -1.0).show_kink(0.0, 1e-4) && sides(1.0, 0.0).show_kink(0.0, 1e-4));
        assert!(!sides(28.0, 20.0).show_kink(0.0, 1e-4) && !sides(1.0, 1.0).show_kink(1.0, 1e-4));
        assert!(!sides(f64::NAN, 1.0).show_kink(1.0, 1e-4));
    }

    #[test]
    fn over_fine_cells_no_derivative_agrees_with_the_slopes() {
        assert!(sides(1.0, 1.0).show_single_point(0.0, 1.01, 1e-4));
        assert!(!sides(1.0, 1.0).show_single_point(0.0, -300.0, 1e-4));
    }

    #[test]
    fn slopes_that_disagree_or_are_rounded_decide_nothing() {
        let rough = Sides { forward: [1.0, 2.0], ..sides(1.0, 1.0) };
        assert!(!rough.exclude(0.0, 1e-4));
        let rounded = Sides { noise: 0.1, ..sides(1.0, 1.0) };
        assert!(!rounded.exclude(0.9, 1e-4) && rounded.exclude(-1.0, 1e-4));
    }

    #[test]
    fn next_to_a_pole_nothing_is_decided() {
        let pole = Sides { forward: [-1e10, -4e10], backward: [1e10, 4e10], noise: 0.0 };
        assert!(!pole.exclude(-1e12, 1e-4));
    }

    #[test]
    fn elements_whose_derivative_changes_are_few_and_the_largest_change_comes_first() {
        let here = vec![vec![1.0, 2.0, 0.0, 4.0], vec![]];
        let there = vec![vec![1.0, 2.5, 3.0, 4.000_1], vec![]];
        let found = changed(&here, &there, 1e-3);
        let places: Vec<(usize, usize, f64, f64)> = found.iter().map(|e| (e.arg, e.place, e.here, e.there)).collect();
        assert_eq!(places, [(0, 2, 0.0, 3.0), (0, 1, 2.0, 2.5)]);
        let rough = vec![(0..40).map(f64::from).collect::<Vec<f64>>()];
        assert!(changed(&rough, &vec![vec![1.0; 40]], 1e-3).is_empty());
    }
}
