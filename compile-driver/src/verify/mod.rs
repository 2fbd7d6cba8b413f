//! Verifies derivatives at the caller's arguments: the dot-product identity, and finite differences.
//!
//! Two checks at the caller's own arguments, for random t (tangent) and v (cotangent):
//!
//! - the dot-product identity ⟨v, J t⟩ = ⟨Jᵀ v, t⟩, J t from the forward mode and Jᵀ v from the reverse
//!   mode, which share none of the reverse mode's caching (Griewank and Walther, *Evaluating
//!   Derivatives*, 2008, section 3.3);
//! - coarsely, ⟨v, J t⟩ against central differences ⟨v, f(x + h t) - f(x - h t)⟩ / 2h.
//!
//! Where the identity fails, the gradient is wrong. Where only the differences disagree, the point may be
//! a kink: then generic points nearby are sampled, and a disagreement that stays there means that both
//! modes are wrong alike.
//!
//! So much for the whole. Parts of it: `components.rs`, `part_differences.rs`, `fine_differences.rs`, `single_points.rs`; jumps: `continuity.rs`; other points: `further.rs`, `points.rs`; functions that keep state: `repeatable.rs`.
//!
//! The check has memory of its own for every argument and shadow. A call may not: see `call/aliasing.rs`. Second derivatives:
//! `second_order.rs`; the reverse mode in two halves: `split_mode.rs`.

pub(crate) mod aliased_direction;
mod clock;
mod compared;
mod components;
mod constant_outputs;
mod continuity;
mod differences;
mod fine_differences;
mod further;
mod memory;
mod one_side;
mod outcome;
mod part_differences;
mod points;
pub mod precision;
pub(crate) mod repeatable;
pub(crate) mod sample;
pub(crate) mod second_order;
mod single_points;
pub(crate) mod split_mode;
pub mod stage;
mod stationary;

use crate::call::arguments::Call;
use crate::error::Result;
use crate::load::artifact::Artifact;
use crate::verify::compared::{Sample, disagreement_text, identity_text};
use crate::verify::one_side::Slope;
pub use crate::verify::outcome::{Allowed, Checked, Moved, Outcome};
use crate::verify::outcome::{NO_DIFFERENCES, NOTHING, Place, THROWS_BESIDE};
use crate::verify::sample::{Numbers, Point, Random, dot};
use crate::verify::stage::Stage;
use core_ad::DType;
use core_ad::path_set::PathSet;
use core_ad::protocol::Entry;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Tolerances of the comparisons.
#[derive(Clone, Copy)]
struct Tolerance {
    identity: f64,
    differences: f64,
    steps: &'static [f64],
    /// Steps for functions that change within those: tables with fine cells.
    finer: &'static [f64],
    epsilon: f64,
}

impl Tolerance {
    /// For second derivatives, which amplify rounding once more.
    fn coarser(self) -> Self {
        Tolerance { identity: 10.0 * self.identity, differences: 2.0 * self.differences, ..self }
    }

    /// The step of a single one-sided difference: the largest of the usual ones but one, above the rounding of quotients of small numbers.
    fn one_sided_step(self) -> f64 {
        if self.epsilon > f64::EPSILON { 3e-2 } else { 1e-4 }
    }

    const DOUBLE: Tolerance = Tolerance {
        identity: 1e-7,
        differences: 1e-3,
        steps: &[1e-5, 1e-6, 1e-4, 1e-3, 1e-7],
        finer: &[1e-8, 1e-9, 1e-10],
        epsilon: f64::EPSILON,
    };
    const SINGLE: Tolerance = Tolerance {
        identity: 3e-3,
        differences: 5e-2,
        steps: &[1e-2, 3e-3, 3e-2, 1e-3, 1e-1],
        finer: &[],
        epsilon: f32::EPSILON as f64,
    };
}

/// Checks an artifact at the given point. `values[i]` are the contiguous bytes of `args[i]` where it is an
/// input, in 8-byte words.
///
/// # Errors
///
/// Only what the foreign code throws; a wrong gradient is an [`Outcome`].
pub fn check(
    call: &Call<'_>,
    artifact: &Artifact,
    values: Point,
    single: bool,
    seed: u64,
    allowed: Allowed,
) -> Result<Checked> {
    let mut probe = Probe { allowed, ..Probe::new(call, artifact, single, seed) };
    let outcome = probe.check(values)?;
    let record = outcome.record_if_usable();
    let outcome = match (probe.written_text(), record) {
        (Some(text), record) => Outcome::Wrong(record.unwrap_or(NOTHING), text),
        (None, _) => outcome,
    };
    let paths = if outcome.is_right() { probe.paths.take() } else { PathSet::default() };
    Ok(Checked { outcome, paths, coarsest: probe.coarsest.get(), singular: probe.singular, kink: probe.kink })
}

/// The shortest time of one vjp at a point, measured for about `budget`; a first run that is not counted warms up.
///
/// # Errors
///
/// What the foreign code throws.
pub fn time_vjp(call: &Call<'_>, artifact: &Artifact, values: &Point, budget: Duration) -> Result<Duration> {
    let mut probe = Probe::new(call, artifact, false, 1);
    let cotangent = probe.random_cotangent();
    let mut best = Duration::MAX;
    let start = Instant::now();
    let mut runs = 0;
    while runs < 3 || start.elapsed() < budget {
        let time = probe.timed_vjp(values, &cotangent)?;
        if runs > 0 {
            best = best.min(time);
        }
        runs += 1;
    }
    Ok(best)
}

struct Probe<'a> {
    call: &'a Call<'a>,
    artifact: &'a Artifact,
    tolerance: Tolerance,
    random: Random,
    /// Cotangent and gradients of the last sample.
    last: (Numbers, Numbers),
    /// What was run when an input was first found changed, and which.
    written: Cell<Option<(Entry, usize)>>,
    /// Whether no derivative has run yet.
    is_first: bool,
    /// What is wrong with gradients of one point that differ.
    unsteady: Option<String>,
    /// What a forward and a reverse sweep took in the first sample.
    pair: Duration,
    allowed: Allowed,
    /// Where it is evaluating.
    place: Cell<Place>,
    /// The paths of derivatives so far, where values decide them.
    paths: RefCell<PathSet>,
    /// Whether those that run now are compared, and not only used for differences.
    is_compared: Cell<bool>,
    /// Whether a solver that has not solved is an error, which the caller is told: at his values alone. Elsewhere there is no derivative.
    tells_unsolved: Cell<bool>,
    /// How far forward and reverse mode were apart at most, relative to the terms compared.
    coarsest: Cell<f64>,
    /// At the given values the function is finite, and a derivative is not.
    singular: bool,
    /// The derivative lies between the slopes on both sides.
    kink: bool,
    /// The function has thrown at values of the check's own making.
    has_thrown: Cell<bool>,
}

impl<'a> Probe<'a> {
    fn new(call: &'a Call<'a>, artifact: &'a Artifact, single: bool, seed: u64) -> Self {
        let single = single || call.plan.args.iter().any(|a| a.dtype == DType::F32);
        let tolerance = if single { Tolerance::SINGLE } else { Tolerance::DOUBLE };
        Probe {
            call,
            artifact,
            tolerance,
            random: Random(seed),
            last: Default::default(),
            written: Cell::default(),
            is_first: true,
            unsteady: None,
            pair: Duration::ZERO,
            allowed: Allowed::ALL,
            place: Cell::new(Place::Given),
            paths: RefCell::default(),
            is_compared: Cell::new(true),
            singular: false,
            kink: false,
            tells_unsolved: Cell::new(false),
            coarsest: Cell::new(0.0),
            has_thrown: Cell::new(false),
        }
    }

    /// Notes that the function is evaluated next.
    fn enter_function(&self) {
        stage::enter(match self.place.get() {
            Place::Given => Stage::Function,
            Place::Moved => Stage::MovedFunction,
            Place::Other => Stage::OtherFunction,
        });
    }

    /// Notes that a derivative is evaluated next.
    fn enter_derivative(&self) {
        stage::enter(if self.place.get() == Place::Other { Stage::OtherDerivative } else { Stage::Derivative });
    }

    /// Evaluates somewhere else.
    fn at<T>(&mut self, place: Place, evaluate: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.place.replace(place);
        let result = evaluate(self);
        self.place.set(before);
        result
    }

    fn check(&mut self, values: Point) -> Result<Outcome> {
        repeatable::check(self, &values)?;
        if self.has_nothing_to_move(&values) {
            // A gradient of no elements is right whatever happens inside.
            let cotangent = self.random_cotangent();
            self.vjp(&values, &cotangent)?;
            return Ok(Outcome::AllZero);
        }
        // A rank that fails where others do not would leave them waiting.
        self.tells_unsolved.set(self.artifact.ranks.is_none());
        let mut here = self.sample(&values)?;
        // Of the first derivative of all: a later sample has nothing to say of it.
        let unsteady = self.unsteady.take();
        if here.is_informative() && self.is_of_double_precision(&values, &here)? {
            self.tolerance = Tolerance::DOUBLE;
            here = self.sample(&values)?;
        }
        self.tells_unsolved.set(false);
        if self.artifact.ranks.map_or(unsteady.is_some(), |ranks| !ranks.all(unsteady.is_none())) {
            let text = unsteady.unwrap_or_else(|| "another rank's gradients differ".to_owned());
            return Ok(Outcome::Wrong(here.record(&self.tolerance), text));
        }
        if let Some(text) = continuity::jump(self, &values)? {
            return Ok(Outcome::Wrong(here.record(&self.tolerance), text));
        }
        // The point of all other comparisons: where first derivatives are informative.
        let (mut first, point) = match here.is_informative() {
            true => (self.judge(&values, here)?, values.clone()),
            false => self.sample_nearby(&values, &here)?,
        };
        if matches!(first, Outcome::Passed(_) | Outcome::Suspect(..)) {
            if let Some(wrong) = components::check(self, &point)? {
                return Ok(wrong);
            }
            match part_differences::check(self, &point)? {
                Some(Outcome::Suspect(record, text)) if first.is_right() => first = Outcome::Suspect(record, text),
                Some(Outcome::Suspect(..)) | None => {}
                Some(wrong) => return Ok(wrong),
            }
            if first.is_right()
                && let Some(doubt) = fine_differences::check(self, &point)?
            {
                first = doubt;
            }
            if first.is_right()
                && let Some(doubt) = constant_outputs::check(self, &point)?
            {
                first = doubt;
            }
            if first.is_right()
                && let Some(doubt) = single_points::check(self, &values)?
            {
                first = doubt;
            }
            if let Some(wrong) = further::check(self, &values)? {
                return Ok(wrong);
            }
        }
        if let Some(record) = first.record_if_usable()
            && self.artifact.entry(Entry::Reverse).is_some()
            && let Some(text) = split_mode::check(self, &point)?
        {
            return Ok(Outcome::Wrong(record, text));
        }
        second_order::check(self, &values, first)
    }

    /// Whether one of the three searches beyond the first sample, `started` then, has taken its time: as much as five gradients
    /// with as many directional derivatives, or 40 ms. Ranks of an MPI program would have to agree: they take a fixed number of samples.
    fn is_late(&self, started: Instant) -> bool {
        self.artifact.ranks.is_none() && started.elapsed() > (5 * self.pair).max(Duration::from_millis(40))
    }

    /// Dot product of two sets of values, and the sum of its terms' magnitudes; of an MPI program over all ranks, so that all come
    /// to one decision.
    fn dot(&self, a: &Numbers, b: &Numbers) -> (f64, f64) {
        let (product, size) = dot(a, b);
        match self.artifact.ranks {
            Some(ranks) => ranks.sum([product, size]).into(),
            None => (product, size),
        }
    }

    /// Notes how far both modes are apart in one identity.
    fn note_error(&self, error: f64) {
        self.coarsest.set(self.coarsest.get().max(error));
    }

    fn mask(&self) -> u64 {
        self.artifact.record.mask
    }

    /// The place in tables of limits: 0 in double precision, 1 in single precision.
    fn precision(&self) -> usize {
        usize::from(self.tolerance.epsilon > f64::EPSILON)
    }

    /// Arguments along which the point moves: differentiated inputs.
    fn moves(&self, arg: usize) -> bool {
        let position = self.call.plan.inputs.iter().position(|&i| i == arg);
        position.is_some_and(|p| self.mask() >> p & 1 == 1)
    }

    /// Whether the differentiated inputs are empty arrays. Other ranks of an MPI program may have elements.
    fn has_nothing_to_move(&self, values: &Point) -> bool {
        let is_empty = |arg: usize| !self.moves(arg) || self.call.elements(arg) == 0;
        self.artifact.ranks.is_none() && (0..values.len()).all(is_empty)
    }

    /// A sample at other values. The function goes first: what it does not survive is not the derivative's fault.
    fn sample_elsewhere(&mut self, point: &Point) -> Result<Sample> {
        self.at(Place::Other, |probe| {
            if stage::is_watched() && probe.value_unless_thrown(point)?.is_none() {
                return Ok(Sample::of(f64::NAN, f64::NAN, f64::NAN));
            }
            probe.sample(point)
        })
    }

    fn sample(&mut self, point: &Point) -> Result<Sample> {
        let inside = if self.allowed.moved == Moved::Inside { self.tangent_inside(point) } else { None };
        match inside {
            Some((tangent, inward)) => self.sample_along(point, &tangent, Some(&inward)),
            None => {
                let tangent = self.random_tangent(point);
                self.sample_along(point, &tangent, None)
            }
        }
    }

    /// A sample along a tangent and, where there is one, a further one with finite differences on that side only.
    fn sample_along(&mut self, point: &Point, tangent: &Numbers, inward: Option<&Numbers>) -> Result<Sample> {
        let cotangent = self.random_cotangent();
        let sum = inward.map(|inward| differences::added(tangent, inward));
        let whole = sum.as_ref().unwrap_or(tangent);
        // The first derivative of all: later ones find what it has left.
        let early = if std::mem::take(&mut self.is_first) { Some(self.vjp(point, &cotangent)?) } else { None };
        let started = Instant::now();
        let outputs = self.jvp(point, whole)?;
        let gradients = self.vjp(point, &cotangent)?;
        self.pair = started.elapsed();
        self.unsteady = early.and_then(|early| repeatable::compare(&early, &gradients, self.tolerance.identity));
        let (forward, size_forward) = self.dot(&cotangent, &outputs);
        let (reverse, size_reverse) = self.dot(&gradients, whole);
        let mut sample = Sample::of(forward, reverse, size_forward.max(size_reverse));
        self.difference_along(point, &cotangent, tangent, inward, &mut sample)?;
        let slope = Slope {
            value: &|probe, along, h| Ok(probe.dot(&cotangent, &probe.primal(&probe.moved(point, along, h))?)),
            derivative: &|probe, along| Ok(probe.dot(&gradients, along)),
        };
        sample.look_at_one_side(self, whole, &slope)?;
        self.last = (cotangent, gradients);
        Ok(sample)
    }

    /// What a sample at a point shows where derivatives are finite and not all zero.
    fn judge(&mut self, point: &Point, sample: Sample) -> Result<Outcome> {
        self.note_error(sample.identity_error());
        let tolerance = self.tolerance;
        let (is_apart, agrees) = (sample.identity_error() > tolerance.identity, sample.differences_agree(&tolerance));
        let aliased = aliased_direction::check(self, point, sample.scale)?;
        let around = if is_apart || !agrees || aliased.is_some() { stationary::look(self, point)? } else { None };
        let is_excused = |gap: f64| around.is_some_and(|around| around.excuses(gap, &tolerance));
        if is_apart && !is_excused((sample.forward - sample.reverse).abs()) {
            return Ok(Outcome::Wrong(sample.record(&tolerance), identity_text(&sample)));
        }
        if let Some((_, text)) = aliased.filter(|(gap, _)| !is_excused(*gap)) {
            return Ok(Outcome::Wrong(sample.record(&tolerance), text));
        }
        match agrees || around.is_some_and(|around| around.excuses_differences(&sample, &tolerance)) {
            true => Ok(Outcome::Passed(sample.record(&self.tolerance))),
            false if self.allowed.moved == Moved::Nowhere => {
                Ok(Outcome::Suspect(sample.record(&self.tolerance), NO_DIFFERENCES.to_owned()))
            }
            // What is so at an end of the function's domain need not be so anywhere else.
            false if sample.is_apart_on_one_side() => {
                Ok(Outcome::Suspect(sample.record(&self.tolerance), disagreement_text(&sample)))
            }
            false => self.judge_disagreement(point, sample),
        }
    }

    /// Where the check at a point is inconclusive, a generic point nearby decides. Returns the point that did.
    fn sample_nearby(&mut self, values: &Point, here: &Sample) -> Result<(Outcome, Point)> {
        self.singular = !here.is_finite() && self.is_finite_at(values)?;
        let kink = here.is_finite() && single_points::is_kink(self, values)?;
        let is_beside = self.has_thrown.get() && here.is_finite() && here.scale > 0.0 && here.differences.is_nan();
        let reason = if is_beside {
            THROWS_BESIDE
        } else if here.is_finite() {
            "all derivatives are zero, or lost in rounding"
        } else {
            "values or derivatives are not finite"
        };
        if !self.allowed.other {
            return Ok((Outcome::Inconclusive(format!("{reason} at these arguments")), values.clone()));
        }
        let near = self.nearby(values);
        let sample = self.sample_elsewhere(&near)?;
        let is_silent = sample.is_finite() && !sample.is_informative();
        if here.is_finite()
            && here.differences_vanish(&self.tolerance)
            && is_silent
            && sample.differences_vanish(&self.tolerance)
        {
            // At these arguments the function does not depend on its inputs (an empty array, a loop that has no
            // iteration, an unused input), and its gradient is zero. That is inconclusive for other arguments.
            return Ok((Outcome::AllZero, values.clone()));
        }
        if here.is_finite() && is_silent && !sample.differences_vanish(&self.tolerance) {
            // Both modes give zero, but finite differences do not.
            return Ok((self.judge_disagreement(&near, sample)?, near));
        }
        if here.is_half_finite() && sample.is_half_finite() && self.is_finite_at(values)? && self.is_finite_at(&near)? {
            let text = "the derivatives of one mode are finite, those of the other are not, here and at a point nearby";
            return Ok((Outcome::Wrong(here.record(&self.tolerance), text.to_owned()), near));
        }
        if !sample.is_informative() {
            return Ok((Outcome::Inconclusive(format!("{reason} at these arguments and near them")), near));
        }
        let scale = sample.scale;
        let outcome = match self.judge(&near, sample)? {
            // Derivatives that are zero here and right nearby are right; an infinity stays inconclusive.
            Outcome::Passed(_) if !here.is_finite() => {
                Outcome::Inconclusive(format!("{reason} at these arguments; near them the gradient is right"))
            }
            // A branch for this value alone, or a kink.
            Outcome::Passed(_)
                if here.is_apart_on_one_side()
                    || here.converged && here.differences.abs() > self.tolerance.differences * scale =>
            {
                self.kink = kink;
                Outcome::Suspect(here.record(&self.tolerance), disagreement_text(here))
            }
            other => other,
        };
        Ok((outcome, near))
    }

    /// Finite differences disagree although the identity holds: a kink, or both modes are wrong alike.
    fn judge_disagreement(&mut self, values: &Point, here: Sample) -> Result<Outcome> {
        if let Some((tangent, inward)) = self.tangent_inside(values) {
            let sample = self.sample_along(values, &tangent, Some(&inward))?;
            let is_right = sample.identity_error() <= self.tolerance.identity;
            if sample.is_informative() && is_right && sample.differences_agree(&self.tolerance) {
                return Ok(Outcome::Passed(sample.record(&self.tolerance)));
            }
        }
        let kink = single_points::is_kink(self, values)?;
        let mut disagreements = 0;
        for _ in 0..if self.allowed.other { 2 } else { 0 } {
            let near = self.nearby(values);
            let sample = self.sample_elsewhere(&near)?;
            let decisive = sample.forward.is_finite() && sample.converged;
            if decisive && !sample.differences_agree(&self.tolerance) {
                disagreements += 1;
            }
        }
        let record = here.record(&self.tolerance);
        let text = match self.has_thrown.get() && here.differences.is_nan() {
            true => THROWS_BESIDE.to_owned(),
            false => disagreement_text(&here),
        };
        if disagreements == 2 && here.converged {
            return Ok(Outcome::Wrong(record, format!("{text}, here and at points nearby")));
        }
        self.kink = kink;
        Ok(Outcome::Suspect(record, text))
    }

    /// Whether the function's values are numbers.
    fn is_finite_at(&self, point: &Point) -> Result<bool> {
        Ok(self.primal(point)?.iter().flatten().all(|value| value.is_finite()))
    }
}
