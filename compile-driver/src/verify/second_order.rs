//! Checks second derivatives on top of first ones that passed.
//!
//! - Forward over reverse: the Hessian H of ⟨v, f⟩ is symmetric, ⟨s, H t⟩ = ⟨t, H s⟩, and coarsely it is the central difference of
//!   gradients that have been checked before.
//! - Forward over forward: ⟨v, f''(s, t)⟩ = ⟨s, H t⟩, and coarsely it is the central difference of J t.

use crate::error::Result;
use crate::verify::differences::central;
use crate::verify::one_side::{OneSide, Slope};
use crate::verify::sample::{Numbers, Point};
use crate::verify::{Outcome, Place, Probe, Sample, Tolerance, aliased_direction, single_points, stage};
use core_ad::Role;
use core_ad::plan::Part;
use core_ad::protocol::Entry;
use std::ffi::c_void;

/// How many operations are rounded in a gradient, for what is left of one that cancels.
const OPERATIONS: f64 = 256.0;

/// The outcome for second derivatives, where `first` is that of the first derivatives at this point.
///
/// # Errors
///
/// Only what the foreign code throws.
pub(super) fn check(probe: &mut Probe<'_>, point: &Point, first: Outcome) -> Result<Outcome> {
    let mut outcome = first;
    for entry in [Entry::Hvp, Entry::Jvp2] {
        if outcome.record_if_usable().is_some() && probe.artifact.entry(entry).is_some() {
            outcome = judge(probe, point, outcome, entry)?;
        }
    }
    if outcome.is_right() && probe.artifact.entry(Entry::Hvp).is_some() {
        let (cotangent, direction) = (probe.random_cotangent(), probe.random_tangent(point));
        if let Some(doubt) = single_points::check_second(probe, point, &cotangent, &direction)? {
            return Ok(doubt);
        }
    }
    Ok(outcome)
}

/// The words for what must be equal and is not.
fn unequal(entry: Entry) -> &'static str {
    match entry {
        Entry::Jvp2 => "the forward mode of the forward mode is not that of the reverse mode",
        _ => "second derivatives are not symmetric",
    }
}

fn judge(probe: &mut Probe<'_>, point: &Point, first: Outcome, entry: Entry) -> Result<Outcome> {
    let here = probe.sample_second(point, entry)?;
    let tolerance = probe.tolerance.coarser();
    if here.is_informative() {
        return judge_sample(probe, point, here, first, entry);
    }
    if !here.is_finite() {
        probe.singular = probe.is_finite_at(point)?;
    }
    // Zeros are inconclusive, since the function may be linear only here; so are infinities. A generic point decides.
    if !probe.allowed.other {
        return Ok(Outcome::Inconclusive("second derivatives are zero or not finite at these arguments".to_owned()));
    }
    let near = probe.nearby(point);
    let sample = probe.sample_second_elsewhere(&near, entry)?;
    if sample.is_informative() {
        let scale = sample.scale;
        let outcome = judge_sample(probe, &near, sample, first, entry)?;
        return Ok(match outcome {
            Outcome::Passed(_) | Outcome::Suspect(..) | Outcome::AllZero if !here.is_finite() => {
                Outcome::Inconclusive("second derivatives are not finite at these arguments".to_owned())
            }
            // Zero here, right nearby, and the gradient changes: of `exp(-r * r)` with `r = sqrt(x * x + y * y)` at the origin.
            Outcome::Passed(_) | Outcome::AllZero if misses_a_change(&here, scale, &tolerance) => {
                Outcome::Suspect(here.record(&tolerance), text_of_differences(&here))
            }
            other => other,
        });
    }
    if !here.is_finite() || !sample.is_finite() {
        return Ok(Outcome::Inconclusive(
            "second derivatives are not finite at these arguments or near them".to_owned(),
        ));
    }
    // Of a linear function all second derivatives are zero.
    if !sample.differences_agree(&tolerance) {
        return Ok(Outcome::Wrong(sample.record(&tolerance), text(&sample, entry)));
    }
    match here.differences_agree(&tolerance) {
        true => Ok(first),
        false => Ok(Outcome::Suspect(here.record(&tolerance), text_of_differences(&here))),
    }
}

/// Where second derivatives are finite and not all zero.
fn judge_sample(probe: &mut Probe<'_>, point: &Point, sample: Sample, first: Outcome, entry: Entry) -> Result<Outcome> {
    let tolerance = probe.tolerance.coarser();
    let record = sample.record(&tolerance);
    if sample.identity_error() > tolerance.identity {
        return Ok(Outcome::Wrong(record, text(&sample, entry)));
    }
    if let Some(text) = aliased_direction::check_second(probe, point, entry, sample.scale)? {
        return Ok(Outcome::Wrong(record, text));
    }
    if sample.is_apart_on_one_side() {
        return Ok(Outcome::Suspect(record, text_of_differences(&sample)));
    }
    if sample.differences_agree(&tolerance) || !sample.converged {
        return Ok(first);
    }
    let text = text_of_differences(&sample);
    // A kink is at one point; what stays wrong nearby is wrong.
    for _ in 0..2 {
        if !probe.allowed.other {
            return Ok(Outcome::Suspect(record, text));
        }
        let near = probe.nearby(point);
        let again = probe.sample_second_elsewhere(&near, entry)?;
        if !(again.forward.is_finite() && again.converged) || again.differences_agree(&tolerance) {
            return Ok(Outcome::Suspect(record, text));
        }
    }
    Ok(Outcome::Wrong(record, format!("{text}, here and at points nearby")))
}

/// Whether second derivatives are zero where those of a point nearby, of size `scale`, are not, and the gradient changes.
fn misses_a_change(here: &Sample, scale: f64, tolerance: &Tolerance) -> bool {
    match here.one_side {
        OneSide::Unknown => here.converged && here.differences.abs() > tolerance.differences * scale,
        OneSide::Agrees => false,
        OneSide::Apart(_) => true,
    }
}

fn text_of_differences(sample: &Sample) -> String {
    if let OneSide::Apart(text) = &sample.one_side {
        return format!("of the gradient {text}");
    }
    format!(
        "second derivatives give {:.6e}, finite differences of the gradient {:.6e}",
        sample.forward, sample.differences
    )
}

fn text(sample: &Sample, entry: Entry) -> String {
    format!(
        "{}: {:.6e} against {:.6e}, finite differences {:.6e}",
        unequal(entry),
        sample.forward,
        sample.reverse,
        sample.differences
    )
}

impl Probe<'_> {
    /// The same at other values, after the function itself.
    fn sample_second_elsewhere(&mut self, point: &Point, entry: Entry) -> Result<Sample> {
        self.at(Place::Other, |probe| {
            if stage::is_watched() {
                probe.primal(point)?;
            }
            probe.sample_second(point, entry)
        })
    }

    /// The value that the check compares, computed in three ways.
    fn sample_second(&mut self, point: &Point, entry: Entry) -> Result<Sample> {
        let v = self.random_cotangent();
        let (s, t) = (self.random_tangent(point), self.random_tangent(point));
        let ((forward, size_forward), (reverse, size_reverse)) = match entry {
            Entry::Jvp2 => (self.dot(&v, &self.jvp2(point, &t, &s)?), self.dot(&s, &self.hvp(point, &v, &t)?)),
            _ => (self.dot(&s, &self.hvp(point, &v, &t)?), self.dot(&t, &self.hvp(point, &v, &s)?)),
        };
        let mut sample = Sample::of(forward, reverse, size_forward.max(size_reverse));
        let value = |h: f64| -> Result<(f64, f64)> {
            Ok(match entry {
                Entry::Jvp2 => self.dot(&v, &self.aside(|| self.jvp(&self.moved(point, &s, h), &t))?),
                _ => self.dot(&s, &self.aside(|| self.vjp(&self.moved(point, &t, h), &v))?),
            })
        };
        self.difference(&|h| central(&value, h), &mut sample)?;
        if entry == Entry::Hvp {
            let slope = Slope {
                value: &|probe, along, h| {
                    Ok(probe.dot(&s, &probe.aside(|| probe.vjp(&probe.moved(point, along, h), &v))?))
                },
                derivative: &|probe, along| Ok(probe.dot(&s, &probe.hvp(point, &v, along)?)),
            };
            sample.look_at_one_side(self, &t, &slope)?;
        }
        // A gradient is not one operation: where its parts cancel, more is left of them than the rounding of its sum.
        sample.rounding *= OPERATIONS;
        sample.noise *= OPERATIONS;
        Ok(sample)
    }

    /// Runs the second derivative along `direction`: how the gradients change.
    pub(super) fn hvp(&self, point: &Point, cotangent: &Numbers, direction: &Numbers) -> Result<Numbers> {
        Ok(self.gradients(&self.run_second(Entry::Hvp, point, cotangent, direction)?))
    }

    /// Runs the second derivative along two directions: how the outputs change.
    pub(super) fn jvp2(&self, point: &Point, tangent: &Numbers, direction: &Numbers) -> Result<Numbers> {
        Ok(self.results(&self.run_second(Entry::Jvp2, point, tangent, direction)?))
    }

    /// Runs a second derivative and returns the changes of the shadows.
    fn run_second(&self, entry: Entry, point: &Point, shadow: &Numbers, direction: &Numbers) -> Result<Point> {
        let (shadows, directions) = (self.filled(shadow), self.filled(direction));
        self.run_slots(entry, point, shadows, directions, false).map(|(_, changes)| changes)
    }

    /// Runs a derivative and returns the shadows and their changes. `in_own_memory` passes the inputs themselves for their
    /// tangents.
    pub(super) fn run_slots(
        &self,
        entry: Entry,
        point: &Point,
        mut shadows: Point,
        mut directions: Point,
        in_own_memory: bool,
    ) -> Result<(Point, Point)> {
        let plan = self.call.plan;
        let mut values = point.clone();
        self.add_produced(&mut values);
        let mut changes = self.filled(&vec![Vec::new(); plan.args.len()]);
        let mut slots: Vec<*mut c_void> = Vec::new();
        for slot in plan.slots(entry, self.mask()) {
            let is_tangent = slot.part == Part::Direction || slot.part == Part::Shadow && entry != Entry::Hvp;
            let memory = match slot.part {
                _ if in_own_memory && is_tangent && plan.args[slot.arg].role == Role::Input => &mut values[slot.arg],
                Part::Primal => &mut values[slot.arg],
                Part::Direction => &mut directions[slot.arg],
                Part::Shadow => &mut shadows[slot.arg],
                Part::ShadowChange => &mut changes[slot.arg],
            };
            slots.push(memory.as_mut_ptr().cast());
        }
        self.enter_derivative();
        let outcome = self.run_counted(entry, &mut slots);
        if self.is_spoilt(outcome, point, &mut changes)? {
            return Ok((shadows, changes));
        }
        self.note_written(entry, point, &values);
        Ok((shadows, changes))
    }
}
