//! Generates further points for a verification, from the given values and inside each array's own minimum and maximum.
//!
//! A function need not be defined anywhere else: a table's index may not be negative, nor a density. Integers stay as given.

use crate::verify::Probe;
use crate::verify::sample::{Numbers, Point, numbers, root_mean_square, words};

/// How a value of an array is replaced.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Mixed with another value of its array, whose weight is at most this.
    Mix(f64),
    /// By the value at a random place, each used once.
    Permute,
    /// By the value at the mirrored place.
    Reverse,
    /// Half of the signs flipped, where the array has both.
    Flip,
}

/// The further points of a check, the mild ones first.
pub(super) const CHANGES: [&[Change]; 8] = [
    &[Change::Mix(1.0 / 16.0)],
    &[Change::Mix(0.5)],
    &[Change::Flip],
    &[Change::Permute],
    &[Change::Reverse],
    &[Change::Permute, Change::Flip],
    &[Change::Permute, Change::Mix(1.0)],
    &[Change::Permute, Change::Mix(1.0), Change::Flip],
];

/// Values that differ by no more than this, relative to them, count as equal: at a minimum where all are one number they differ by rounding.
const ALIKE: f64 = 1e-11;
/// How far values are moved that are all equal, towards zero and relative to them; and zeros, absolutely, as by finite differences.
const EQUAL: f64 = 1e-2;
const ZERO: f64 = 1e-3;

impl Probe<'_> {
    /// Random numbers as large as the inputs that move.
    pub(super) fn random_tangent(&mut self, point: &Point) -> Numbers {
        (0..self.call.plan.args.len())
            .map(|arg| {
                if !self.moves(arg) {
                    return Vec::new();
                }
                let values = numbers(&point[arg], self.call.plan.args[arg].dtype, self.call.elements(arg));
                let size = root_mean_square(&values);
                values.iter().map(|_| size * self.random.normal()).collect()
            })
            .collect()
    }

    /// Random numbers, one for each number of a result.
    pub(super) fn random_cotangent(&mut self) -> Numbers {
        let plan = self.call.plan;
        (0..plan.args.len())
            .map(|arg| {
                let is_result = plan.outputs.contains(&arg) && plan.args[arg].dtype.is_float();
                let count = if is_result { self.call.elements(arg) } else { 0 };
                (0..count).map(|_| self.random.normal()).collect()
            })
            .collect()
    }

    /// A point moved along a direction.
    pub(super) fn moved(&self, point: &Point, direction: &Numbers, step: f64) -> Point {
        let mut moved = point.clone();
        for (arg, direction) in direction.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
            let dtype = self.call.plan.args[arg].dtype;
            let values = numbers(&point[arg], dtype, direction.len());
            let values: Vec<f64> = values.iter().zip(direction).map(|(x, d)| x + step * d).collect();
            moved[arg] = words(&values, dtype);
        }
        moved
    }

    /// A generic point near a point: every differentiated value mixed with another one of its array. Where all are equal they move a
    /// little towards zero, and where all are zero away from it.
    pub(super) fn nearby(&mut self, point: &Point) -> Point {
        self.changed(point, &[Change::Mix(1.0 / 16.0)], ZERO)
    }

    /// Directions for finite differences that stay inside each array's range: one for the values between its extremes, to be followed
    /// to both sides, and one that leads the extremes inwards. `None` where no array has a range.
    pub(super) fn tangent_inside(&mut self, point: &Point) -> Option<(Numbers, Numbers)> {
        let (mut tangent, mut found) = (self.random_tangent(point), false);
        let mut inward: Numbers = tangent.iter().map(|t| vec![0.0; t.len()]).collect();
        for arg in (0..point.len()).filter(|&arg| self.moves(arg)) {
            let values = numbers(&point[arg], self.call.plan.args[arg].dtype, self.call.elements(arg));
            let Some((low, high)) = (values.len() > 2).then(|| range(&values)).filter(|(low, high)| low < high) else {
                continue;
            };
            found = true;
            for (i, x) in values.iter().enumerate().filter(|(_, x)| **x == low || **x == high) {
                let size = tangent[arg][i].abs();
                inward[arg][i] = if *x == low { size } else { -size };
                tangent[arg][i] = 0.0;
            }
        }
        found.then_some((tangent, inward))
    }

    /// A point made of the same values by these changes, and of no other sign where all are equal.
    pub(super) fn made_of(&mut self, point: &Point, changes: &[Change]) -> Point {
        self.changed(point, changes, 0.0)
    }

    /// A point that differs by some last bits, towards the middle of each array; towards zero where all are equal.
    pub(super) fn rounded(&mut self, point: &Point) -> Point {
        let step = 4.0 * self.tolerance.epsilon;
        self.each_array(point, &mut |probe, values| {
            let (low, high) = range(values);
            let has_range = are_apart(low, high);
            for x in values.iter_mut() {
                let sign = match has_range {
                    true if *x > 0.5 * (low + high) => -1.0,
                    true => 1.0,
                    false => -x.signum(),
                };
                let moved = *x + sign * x.abs() * step * (1.0 + 8.0 * probe.random.uniform());
                *x = if has_range { moved.clamp(low, high) } else { moved };
            }
        })
    }

    fn changed(&mut self, point: &Point, changes: &[Change], zero: f64) -> Point {
        let keeps_order = self.has_unsorted(point);
        self.each_array(point, &mut |probe, values| {
            let (low, high) = range(values);
            if are_apart(low, high) {
                // A sorted array beside others is a grid or has knots: only mixed, neighbour with neighbour, it stays sorted.
                if keeps_order && is_sorted(values) {
                    return probe.mix_neighbours(values);
                }
                changes.iter().for_each(|change| probe.change(values, *change, (low, high)));
            } else if low == 0.0 && high == 0.0 {
                values.iter_mut().for_each(|x| *x = zero * probe.random.normal());
            } else {
                values.iter_mut().for_each(|x| *x *= 1.0 - EQUAL * probe.random.uniform());
            }
        })
    }

    /// Whether there are arrays that are not sorted.
    fn has_unsorted(&mut self, point: &Point) -> bool {
        let mut found = false;
        self.each_array(point, &mut |_, values| found |= values.len() > 1 && !is_sorted(values));
        found
    }

    fn each_array(&mut self, point: &Point, change: &mut dyn FnMut(&mut Self, &mut [f64])) -> Point {
        let mut changed = point.clone();
        for arg in 0..self.call.plan.args.len() {
            let count = self.call.elements(arg);
            if self.moves(arg) && count > 0 {
                let dtype = self.call.plan.args[arg].dtype;
                let mut values = numbers(&point[arg], dtype, count);
                change(self, &mut values);
                changed[arg] = words(&values, dtype);
            }
        }
        changed
    }

    fn change(&mut self, values: &mut [f64], change: Change, (low, high): (f64, f64)) {
        match change {
            Change::Mix(most) => {
                let given = values.to_vec();
                for x in values {
                    let other = given[self.random.below(given.len())];
                    // What is equal is not moved: an end of the range is another value.
                    let other = if other != *x {
                        other
                    } else if *x == low {
                        high
                    } else {
                        low
                    };
                    // Never nothing, so that ties come apart.
                    let weight = most * (0.1 + 0.9 * self.random.uniform());
                    *x = (*x + weight * (other - *x)).clamp(low, high);
                }
            }
            Change::Permute => {
                for i in (1..values.len()).rev() {
                    values.swap(i, self.random.below(i + 1));
                }
            }
            Change::Reverse => values.reverse(),
            Change::Flip => {
                for x in values.iter_mut().filter(|x| (low..=high).contains(&-**x)) {
                    if self.random.uniform() < 0.5 {
                        *x = -*x;
                    }
                }
            }
        }
    }

    fn mix_neighbours(&mut self, values: &mut [f64]) {
        for i in 0..values.len() - 1 {
            values[i] += 0.4 * self.random.uniform() * (values[i + 1] - values[i]);
        }
    }
}

/// Minimum and maximum; NaN where a value is.
fn range(values: &[f64]) -> (f64, f64) {
    let first = (values[0], values[0]);
    let (low, high) = values.iter().fold(first, |(low, high), &x| (low.min(x), high.max(x)));
    if values.iter().all(|x| x.is_finite()) { (low, high) } else { (f64::NAN, f64::NAN) }
}

/// Whether the least and the greatest value of an array are two values.
fn are_apart(low: f64, high: f64) -> bool {
    high - low > ALIKE * low.abs().max(high.abs())
}

/// Whether every value is above the one before, or every one below.
fn is_sorted(values: &[f64]) -> bool {
    values.len() > 2 && (values.windows(2).all(|p| p[0] < p[1]) || values.windows(2).all(|p| p[0] > p[1]))
}
