//! Evaluates the function twice at the same point: what differs depends on earlier calls, and has no gradient to check.
//!
//! Some units in the last place are no difference. Whether a vectorised loop runs, or the scalar one beside it, is decided by how far apart two arrays
//! are, and the function's own memory is elsewhere in each call; the C library's vector functions round otherwise.

use crate::error::{Error, Result};
use crate::verify::sample::{Numbers, Point, root_mean_square};
use crate::verify::{Probe, clock, stage};
use core_ad::diagnostics::Diagnosis;
use std::time::Instant;

/// Code of the refusal.
pub(crate) const DEPENDS_ON_EARLIER_CALLS: &str = "depends-on-earlier-calls";

/// Refuses a function of which two evaluations with the same arguments differ: bit for bit, or by more than rounding where threads or
/// ranks add up in an order of their own.
///
/// # Errors
///
/// The refusal, and what the foreign code throws.
pub(super) fn check(probe: &Probe<'_>, point: &Point) -> Result<()> {
    let first = probe.primal(point)?;
    clock::let_tick(&probe.artifact.path);
    let started = Instant::now();
    let second = probe.primal(point)?;
    stage::set_usual(started.elapsed());
    let may_round = probe.artifact.teams.is_some() || probe.artifact.ranks.is_some();
    let differs = |arg: &usize| {
        let (one, other) = (&first[*arg], &second[*arg]);
        let allowed = if may_round { probe.tolerance.identity * root_mean_square(one) } else { 0.0 };
        one.iter().zip(other).any(|(x, y)| !(x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= allowed))
    };
    let is_rounding = |arg: &usize| differ_by_rounding(&first[*arg], &second[*arg], probe.tolerance.epsilon);
    let changed = (0..first.len()).find(|arg| differs(arg) && !is_rounding(arg));
    if probe.artifact.ranks.map_or(changed.is_none(), |ranks| ranks.all(changed.is_none())) {
        clock::is_steady(&probe.artifact.path);
        return Ok(());
    }
    let function = probe.call.function;
    let output =
        changed.map_or("another rank's result".to_owned(), |arg| match probe.call.plan.args[arg].name.as_str() {
            "" | "return" => "its value".to_owned(),
            name => format!("`{name}`"),
        });
    let headline = format!("`{function}` has no gradient: the result depends on earlier calls");
    let diagnosis = Diagnosis::new(DEPENDS_ON_EARLIER_CALLS, function, headline)
        .quote(format!("two calls with the same arguments differ in {output}"))
        .advise("Pass what is carried over as an input, and return it as an output; give random numbers and times as inputs.")
        .advise("If it carries nothing over, it reads memory that it has not written, or beyond an array: is a dimension too small for it?");
    Err(Error::Differentiation(Box::new(diagnosis)))
}

/// Compares the gradients of the first and of a later call at one point: a derivative that leaves something for the next one (memory that a
/// global container keeps) must not be used. `None`: they agree.
pub(super) fn compare(first: &Numbers, later: &Numbers, tolerance: f64) -> Option<String> {
    let apart = |(one, other): (&Vec<f64>, &Vec<f64>)| {
        let largest = one.iter().filter(|x| x.is_finite()).fold(0.0_f64, |most, x| most.max(x.abs()));
        let differ = |x: &f64, y: &f64| !(x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * largest);
        one.iter().zip(other).find(|(x, y)| differ(x, y)).map(|(x, y)| (*x, *y))
    };
    let (one, other) = first.iter().zip(later).find_map(apart)?;
    Some(format!(
        "two calls with the same arguments give {one:.6e} and {other:.6e} for the same number of the gradient"
    ))
}

/// Whether two results differ by no more than some units in the last place of the largest number.
fn differ_by_rounding(one: &[f64], other: &[f64], epsilon: f64) -> bool {
    let largest = one.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    one.iter().zip(other).all(|(x, y)| x == y || x.is_nan() && y.is_nan() || (x - y).abs() <= 16.0 * epsilon * largest)
}

#[cfg(test)]
mod tests {
    use super::{compare, differ_by_rounding};
    const EPSILON: f64 = f64::EPSILON;

    #[test]
    fn gradients_that_a_later_call_does_not_give_again_are_told() {
        let first = vec![vec![1.0, f64::NAN], vec![2.0]];
        assert_eq!(compare(&first, &vec![vec![1.0 + 1e-9, f64::NAN], vec![2.0]], 1e-7), None);
        let text = compare(&first, &vec![vec![1.0, f64::NAN], vec![f64::NAN]], 1e-7);
        let expected = "two calls with the same arguments give 2.000000e0 and NaN for the same number of the gradient";
        assert_eq!(text.as_deref(), Some(expected));
    }

    #[test]
    fn some_units_in_the_last_place_of_the_largest_number_are_rounding() {
        let one = [1e3, 1e-3];
        assert!(!differ_by_rounding(&one, &[1e3 + 1e-9, 1e-3], EPSILON));
        assert!(differ_by_rounding(&one, &[1e3 * (1.0 + 2.0 * f64::EPSILON), 1e-3 + 1e-15], EPSILON));
        assert!(!differ_by_rounding(&one, &[f64::NAN, 1e-3], EPSILON));
    }
}
