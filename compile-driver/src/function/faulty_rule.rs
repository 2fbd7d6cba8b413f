//! Finds the custom derivative that makes a function's gradient wrong.
//!
//! The verification of the whole function has failed. Here the function is built again with one of the given
//! derivatives left aside, so that Enzyme differentiates that function's own code: if the gradient is right then, that
//! derivative is wrong. Where Enzyme cannot, the check's values still show which half disagrees with finite differences.

use crate::call::arguments::Input;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::opened::Opened;
use crate::options::Verify;
use crate::source_text;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::CheckRecord;
use core_ad::names;
use core_ad::shapes::Resolved;

/// Code of the refusal.
pub const WRONG_DERIVATIVE: &str = "wrong-derivative";

/// Which half of a rule a failed check speaks against.
pub fn half(record: &CheckRecord) -> &'static str {
    let gap = |value: f64| (value - record.differences).abs();
    // Forward and reverse against differences; a value that is a hundred times closer counts as right.
    match (gap(record.forward), gap(record.reverse)) {
        (forward, reverse) if forward < 0.01 * reverse => "reverse",
        (forward, reverse) if reverse < 0.01 * forward => "forward",
        _ => "forward and the reverse",
    }
}

/// The refusal of a gradient that failed its check, where it goes through derivatives that the user gave.
///
/// # Errors
///
/// What has nothing to do with them, see [`passes_without`].
pub(crate) fn find(
    opened: &Opened,
    wanted: DerivativeSet,
    inputs: &[Input<'_>],
    resolved: &Resolved,
    record: Option<&CheckRecord>,
) -> Result<Option<Diagnosis>> {
    let rules = &opened.manifest.rules;
    if rules.is_empty() || !opened.spec.options.ignored_derivatives.is_empty() {
        return Ok(None);
    }
    let mut faulty = None;
    for rule in rules {
        if passes_without(opened, &rule.symbol, wanted, inputs, resolved)? {
            faulty = Some(rule);
            break;
        }
    }
    let function = &opened.spec.function;
    let half = record.map_or("given", half);
    let diagnosis = match faulty.or(rules.first().filter(|_| rules.len() == 1)) {
        Some(rule) => {
            let name = readable(&rule.symbol);
            let headline = format!(
                "the {half} derivative given for `{name}` is wrong: the gradient of `{function}` fails its check"
            );
            let mut diagnosis = Diagnosis::new(WRONG_DERIVATIVE, function, headline);
            let place = if half == "forward" { &rule.forward } else { &rule.reverse };
            diagnosis.location = place.clone().map(source_text::with_text);
            match faulty {
                Some(_) => diagnosis.advise(format!("Without it, when ffgrad differentiates `{name}` itself, the gradient passes.")),
                None => diagnosis,
            }
            .advise(format!("Check `{name}` alone: enzyme(source, \"{name}\", signature, derivatives=...), `ffgrad explain custom-derivatives`."))
        }
        None => {
            let names: Vec<String> = rules.iter().map(|r| format!("`{}`", readable(&r.symbol))).collect();
            let headline = format!(
                "the gradient of `{function}` fails its check: a {half} derivative among those given for {} is wrong",
                names.join(", ")
            );
            Diagnosis::new(WRONG_DERIVATIVE, function, headline).advise(
                "Check each alone: enzyme(source, \"NAME\", signature, derivatives=...), `ffgrad explain custom-derivatives`.",
            )
        }
    };
    let diagnosis = match half {
        "reverse" => diagnosis.advise(
            "The reverse derivative sees memory as the function leaves it at its end: what is overwritten by then must be kept by a saving function.",
        ),
        _ => diagnosis,
    };
    Ok(Some(match record {
        Some(r) => diagnosis.mismatch(
            format!("{:.6e} (finite differences)", r.differences),
            format!("{:.6e} (forward), {:.6e} (reverse)", r.forward, r.reverse),
        ),
        None => diagnosis,
    }))
}

/// Whether the gradient passes verification without the given derivative of one function. `false` where the function cannot be
/// built or differentiated then; an interrupt or a full disk is inconclusive, and an error.
fn passes_without(
    opened: &Opened,
    rule: &str,
    wanted: DerivativeSet,
    inputs: &[Input<'_>],
    resolved: &Resolved,
) -> Result<bool> {
    let mut spec = opened.spec.clone();
    spec.options.ignored_derivatives = vec![rule.to_owned()];
    // Otherwise an earlier verification at other arguments would count for these.
    if spec.options.verify == Verify::Once {
        spec.options.verify = Verify::Always;
    }
    let checked = Function::open(spec).and_then(|other| {
        other.derivative(wanted, inputs, resolved)?;
        Ok(other.selection().is_verified(wanted))
    });
    match checked {
        Err(error @ (Error::Interrupted | Error::Cache(_))) => Err(error),
        outcome => Ok(outcome.unwrap_or(false)),
    }
}

fn readable(symbol: &str) -> String {
    let full = names::demangle(symbol);
    full.split('(').next().unwrap_or(&full).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(forward: f64, reverse: f64) -> CheckRecord {
        CheckRecord { forward, reverse, differences: 1.0, tolerance: 1e-7 }
    }

    #[test]
    fn the_half_that_disagrees_with_finite_differences_is_named() {
        assert_eq!(half(&record(1.0 + 1e-9, 2.0)), "reverse");
        assert_eq!(half(&record(3.0, 1.0 - 1e-9)), "forward");
        assert_eq!(half(&record(2.0, 2.0)), "forward and the reverse");
    }
}
