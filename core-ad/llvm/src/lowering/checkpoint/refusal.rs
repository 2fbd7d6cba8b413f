//! Why a loop is not checkpointed, in the user's terms.

use super::Refusal;
use super::target::Target;
use crate::ir::{Op, Value};
use crate::lowering::openmp::location;
use core_ad::diagnostics::{Diagnosis, Location};

/// The code of all of them.
const CODE: &str = "checkpoint";

/// The loop that is not found, or that is none.
pub fn no_loop(headline: String, at: Option<Location>, advice: &str) -> Refusal {
    let mut diagnosis = Diagnosis::new(CODE, "", headline).advise(advice);
    diagnosis.location = at;
    Box::new(diagnosis)
}

/// What an instruction of the loop does that it must not.
pub fn of(target: &Target, culprit: Value, what: &str, advice: &str) -> Refusal {
    // SAFETY: a live value; only instructions have a location.
    let own = culprit.is_instruction().then(|| unsafe { location(culprit.0) }).flatten().filter(|at| at.line > 0);
    let begins = target.place.as_ref().map(|at| format!(" that begins at {at}")).unwrap_or_default();
    let headline = format!("the loop{begins} cannot be checkpointed: {what}");
    let mut diagnosis = Diagnosis::new(CODE, "", headline).advise(advice);
    diagnosis.location = own.or_else(|| target.place.clone());
    Box::new(diagnosis)
}

/// The name of what a call calls, for a reader.
pub fn called(call: Value) -> String {
    let name = call.callee().map(|name| core_ad::names::short(&core_ad::names::demangle(&name)));
    name.map_or_else(|| "a function through a pointer".to_owned(), |name| format!("`{name}`"))
}

const IN_MEMORY: &str = "it uses memory whose address is itself in memory, so that its size is not known";

/// Memory of a size that is not known.
pub fn unknown_memory(target: &Target, access: Value, origin: Value) -> Refusal {
    let advice = "Allocate it in this function, or make it a parameter that the signature gives a size.";
    // An object behind an address in memory is passed through a function of our own.
    let is_ours = origin.callee().is_some_and(|name| name.starts_with("ffgrad."));
    let what = match origin.op() {
        Some(Op::LLVMLoad) => IN_MEMORY,
        _ if is_ours => IN_MEMORY,
        Some(Op::LLVMCall | Op::LLVMInvoke) => {
            let what = format!("it uses memory that {} returns, whose size is not known", called(origin));
            return of(target, access, &what, advice);
        }
        _ => "it uses memory whose size is not known",
    };
    of(target, access, what, advice)
}
