//! Diagnoses for rules that cannot be used.

use core_ad::diagnostics::Diagnosis;
use core_ad::names;

/// Why a rule cannot be used; the driver adds the text of the source line.
pub type Refusal = Box<Diagnosis>;

pub(super) fn refusal(code: &str, headline: String) -> Diagnosis {
    Diagnosis::new(code, "", headline)
}

/// The function named first in `derivatives` is neither defined nor called.
pub fn unknown_function(name: &str) -> Refusal {
    let headline = format!("`derivatives` names `{name}`, but nothing in the source defines or calls it");
    Box::new(refusal("unknown-rule-function", headline).advise("Check the spelling of the name."))
}

/// A derivative is named that the sources do not define.
pub fn missing_part(function: &str, part: &str, defined: &[String]) -> Refusal {
    let headline = format!("the derivative of `{function}` is to be `{part}`, which is not defined in the sources");
    let close = names::closest(part, defined.iter().map(String::as_str));
    let close: Vec<String> = close.iter().map(|c| format!("`{c}`")).collect();
    let diagnosis = refusal("missing-rule-part", headline);
    Box::new(match close.is_empty() {
        true => diagnosis.advise(format!("Define `{part}` beside `{function}`.")),
        false => diagnosis.advise(format!("The closest names are {}.", close.join(", "))),
    })
}

/// A C++ name with several overloads.
pub fn ambiguous(name: &str, candidates: &[String]) -> Refusal {
    let shown: Vec<String> = candidates.iter().map(|c| format!("`{c}`")).collect();
    let headline = format!("`derivatives` names `{name}`, which is {} functions", candidates.len());
    let advice = format!("Give the parameters too, as one of: {}.", shown.join(", "));
    Box::new(refusal("ambiguous-rule-function", headline).advise(advice))
}

/// A function named in `inactive` is neither defined nor called.
pub fn unknown_inactive(name: &str, all: &[String]) -> Refusal {
    let headline = format!("`{name}` is marked inactive, but nothing in the source calls or defines it");
    let close = names::closest(name, all.iter().map(String::as_str));
    let close: Vec<String> = close.iter().map(|c| format!("`{c}`")).collect();
    let diagnosis = refusal("unknown-inactive-function", headline);
    Box::new(match close.is_empty() {
        true => diagnosis,
        false => diagnosis.advise(format!("The closest names are {}.", close.join(", "))),
    })
}

/// Freed memory must live until the end of the call, which only the arena can provide.
pub fn no_arena(reason: &str) -> Refusal {
    let headline = format!(
        "a function with a derivative of its own is used together with memory that is freed, which needs the arena, but {reason}"
    );
    Box::new(refusal("rules-without-arena", headline).advise(
        "Use arrays that the caller passes (scratch in the signature), or mark a function that keeps no memory of the call inactive=[...].",
    ))
}
