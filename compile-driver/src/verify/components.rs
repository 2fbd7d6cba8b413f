//! Verifies derivatives by component: the dot-product identity for parts of the inputs and outputs, each at its own scale.
//!
//! One identity over everything hides what is wrong in a small part of it: a column beside one of 1e9, or some elements among many
//! thousands. So parts are compared one by one: each argument; sets that together have every element, each about an eighth of
//! them; and all elements, each by its own size. Every part of the inputs gives one run of the forward mode, every part of the outputs
//! one of the reverse mode, and each pair of them one identity.
//!
//! The signs in a part are random, so what is rounded adds up as its root of squares does, and so does the scale here. An identity that
//! fails is repeated at points that differ in the last bits: rounding errors change there, the error of a wrong gradient does not.

use crate::error::Result;
use crate::verify::sample::{Numbers, Point, numbers, root_mean_square};
use crate::verify::{Outcome, Probe, Sample};
use std::time::Instant;

/// Sets of elements, if there are as many elements.
const SETS: usize = 8;
/// Arguments that are parts of their own.
const MOST_ARGUMENTS: usize = 8;
/// From so many elements on there are fewer sets, whose results are all kept.
const MANY: usize = 1 << 17;
/// Failing identities that are repeated.
const MOST_DOUBTS: usize = 3;
/// The tolerance of parts is not larger than this, in single precision either. An error of rounding that it would see is seen to change
/// in the last bits; a sum of so many numbers that its own error is larger would itself be wrong in its fourth digit.
const PARTS: f64 = 5e-4;
/// How often, and how much of what is wrong may change by rounding.
const REPEATS: usize = 3;
const STEADY: f64 = 0.25;

/// Which elements a part has.
#[derive(Clone, Copy)]
enum Part {
    Argument(usize),
    Set(usize),
    BySize,
}

/// A part's direction, and what the derivative gives along it.
struct Run {
    part: Part,
    direction: Numbers,
    gives: Numbers,
}

/// A failing identity: the runs of reverse and forward mode, and how wrong it is.
struct Doubt {
    reverse: usize,
    forward: usize,
    error: f64,
}

/// Checks the parts at a point where the whole passed; returns what is wrong, `None` if nothing is.
///
/// # Errors
///
/// Only what the foreign code throws.
pub(super) fn check(probe: &mut Probe<'_>, point: &Point) -> Result<Option<Outcome>> {
    let values = probe.primal(point)?;
    let inputs: Numbers = (0..point.len()).map(|arg| probe.input_values(point, arg)).collect();
    let started = Instant::now();
    let (mut forward, mut reverse) = (Vec::new(), Vec::new());
    let plan = probe.call.plan;
    let moving = (0..point.len()).filter(|&arg| probe.moves(arg)).collect();
    let results =
        (0..point.len()).filter(|arg| plan.outputs.contains(arg) && plan.args[*arg].dtype.is_float()).collect();
    let (rows, columns) = (probe.parts(&values, results), probe.parts(&inputs, moving));
    for round in 0..rows.len().max(columns.len()) {
        if round > 1 && probe.is_late(started) {
            break;
        }
        if let Some(&part) = columns.get(round) {
            let direction = probe.direction(&inputs, part, false);
            let gives = probe.jvp(point, &direction)?;
            forward.push(Run { part, direction, gives });
        }
        if let Some(&part) = rows.get(round) {
            let direction = probe.direction(&values, part, true);
            let gives = probe.vjp(point, &direction)?;
            reverse.push(Run { part, direction, gives });
        }
    }
    let mut doubts = Vec::new();
    for (r, v) in reverse.iter().enumerate() {
        let rounding = 16.0 * probe.tolerance.epsilon * probe.dot(&v.direction, &values).1;
        for (f, t) in forward.iter().enumerate() {
            let one = probe.squares(&v.direction, &t.gives);
            let other = probe.squares(&v.gives, &t.direction);
            let error = ((one.0 - other.0).abs() - rounding) / one.1.max(other.1);
            probe.note_error(error);
            if error > probe.tolerance.identity.min(PARTS) {
                doubts.push(Doubt { reverse: r, forward: f, error });
            }
        }
    }
    doubts.sort_by(|a, b| b.error.total_cmp(&a.error));
    for doubt in doubts.iter().take(MOST_DOUBTS) {
        let (v, t) = (&reverse[doubt.reverse], &forward[doubt.forward]);
        if probe.is_steady(point, &v.direction, &t.direction)? {
            let sample = probe.identity(point, &v.direction, &t.direction)?;
            let text = format!(
                "{}, {} along {}",
                super::identity_text(&sample),
                probe.part_name(v.part, &v.direction),
                probe.part_name(t.part, &t.direction)
            );
            return Ok(Some(Outcome::Wrong(sample.record(&probe.tolerance), text)));
        }
    }
    Ok(None)
}

impl Probe<'_> {
    /// The parts of these arguments, in the order of comparison. The same on all ranks of an MPI program.
    fn parts(&self, all: &Numbers, arguments: Vec<usize>) -> Vec<Part> {
        let count: usize = all.iter().map(Vec::len).sum();
        let sets = match count {
            _ if self.artifact.ranks.is_some() => 2,
            MANY.. => 2,
            0 | 1 => 0,
            _ => SETS.min(count),
        };
        let mut parts = vec![Part::BySize];
        parts.extend((0..sets.min(2)).map(Part::Set));
        if arguments.len() > 1 {
            parts.extend(arguments.iter().take(MOST_ARGUMENTS).map(|&arg| Part::Argument(arg)));
        }
        parts.extend((2..sets).map(Part::Set));
        parts
    }

    /// The values of an input that moves.
    pub(super) fn input_values(&self, point: &Point, arg: usize) -> Vec<f64> {
        match self.moves(arg) {
            true => numbers(&point[arg], self.call.plan.args[arg].dtype, self.call.elements(arg)),
            false => Vec::new(),
        }
    }

    /// Random values in a part, zeros elsewhere. Of inputs they have the size of the array, or of each value; of results they are
    /// of the order of one, or weigh each result by its size.
    fn direction(&mut self, values: &Numbers, part: Part, is_weight: bool) -> Numbers {
        let count: usize = values.iter().map(Vec::len).sum();
        let sets = SETS.min(count.max(1));
        // Elements go to the sets round-robin, from an offset that differs by round: neighbours and equal columns are in different sets.
        let mut dealt = 0usize;
        let mut deal = || {
            let pass = dealt / sets;
            let set = (dealt + pass * 5 % sets + pass / sets * 3) % sets;
            dealt += 1;
            set
        };
        let mut all = Vec::with_capacity(values.len());
        for (arg, given) in values.iter().enumerate() {
            let size = root_mean_square(given);
            let mut numbers = Vec::with_capacity(given.len());
            for x in given {
                let set = deal();
                let is_in = match part {
                    Part::Argument(only) => arg == only,
                    Part::Set(only) => set == only,
                    Part::BySize => true,
                };
                let own = if x.abs() > 1e-12 * size && x.is_finite() { x.abs() } else { size };
                let scale = match (part, is_weight) {
                    (Part::BySize, true) => 1.0 / own,
                    (Part::BySize, false) => own,
                    (_, true) => 1.0,
                    (_, false) => size,
                };
                numbers.push(if is_in { scale * self.random.weight() } else { 0.0 });
            }
            all.push(numbers);
        }
        all
    }

    /// Dot product of two sets of values, and the root of the sum of the squared terms.
    pub(super) fn squares(&self, a: &Numbers, b: &Numbers) -> (f64, f64) {
        let pairs = a.iter().zip(b).filter(|(x, y)| x.len() == y.len()).flat_map(|(x, y)| x.iter().zip(y));
        let add = |(sum, squares): (f64, f64), (x, y): (&f64, &f64)| match *x * *y {
            _ if *x == 0.0 || *y == 0.0 => (sum, squares),
            product => (sum + product, squares + product * product),
        };
        let (sum, squares) = pairs.fold((0.0, 0.0), add);
        match self.artifact.ranks {
            Some(ranks) => {
                let [sum, squares] = ranks.sum([sum, squares]);
                (sum, squares.sqrt())
            }
            None => (sum, squares.sqrt()),
        }
    }

    /// By how much reverse mode differs from forward mode.
    fn gap(&self, point: &Point, v: &Numbers, t: &Numbers) -> Result<f64> {
        let forward = self.squares(v, &self.jvp(point, t)?).0;
        Ok(forward - self.squares(&self.vjp(point, v)?, t).0)
    }

    /// Whether the two modes differ by as much at points that differ by some last bits: then it is not by rounding.
    pub(super) fn is_steady(&mut self, point: &Point, v: &Numbers, t: &Numbers) -> Result<bool> {
        let gap = self.gap(point, v, t)?;
        let mut is_steady = true;
        for _ in 0..REPEATS {
            let near = self.rounded(point);
            let change = self.aside(|| self.gap(&near, v, t))? - gap;
            is_steady &= change.abs() <= STEADY * gap.abs();
        }
        Ok(is_steady)
    }

    /// The check's values for one part of outputs and one of inputs.
    pub(super) fn identity(&self, point: &Point, v: &Numbers, t: &Numbers) -> Result<Sample> {
        let (forward, one) = self.squares(v, &self.jvp(point, t)?);
        let (reverse, other) = self.squares(&self.vjp(point, v)?, t);
        let mut sample = Sample::of(forward, reverse, one.max(other));
        let along = |h: f64| Ok(self.dot(v, &self.primal(&self.moved(point, t, h))?));
        self.difference(&along, &mut sample)?;
        Ok(sample)
    }

    fn part_name(&self, part: Part, direction: &Numbers) -> String {
        let of = |arg: usize| format!("`{}`", self.call.plan.args[arg].name);
        let names: Vec<String> = (0..direction.len()).filter(|&arg| !direction[arg].is_empty()).map(of).collect();
        match part {
            Part::Argument(arg) => of(arg),
            Part::Set(_) => format!("some elements of {}", names.join(", ")),
            Part::BySize => format!("the elements of {}, each by its size", names.join(", ")),
        }
    }
}
