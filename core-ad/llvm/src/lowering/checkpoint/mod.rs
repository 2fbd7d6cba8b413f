//! Checkpointed loops inside the user's function: `FFGRAD_CHECKPOINT(snapshots)` of `ffgrad/derivatives.h`, or the option `checkpoint`.
//!
//! When the code is loaded, unoptimised, each such loop gets an anchor, a call in its latch ([`anchor`]). Before LLVM's pipeline for Enzyme
//! ([`install`]) the function is inlined into the wrapper, where the size of each argument is known, and its variables become values. Then an iteration becomes a
//! function of its own, and the loop a function with a custom derivative (`rules/mod.rs`):
//!
//! ```text
//! ffgrad.step.0(control, numbers, u, v, k, n)      ; one iteration
//! ffgrad.loop.0(..)      runs the steps            ; its derivatives are those of steps, in the order of revolve:
//! ffgrad.loop.save.0     runs and keeps snapshots  ; compile-driver/runtime/checkpoint.c
//! ffgrad.loop.reverse.0  restores, runs, and calls the derivative of a step
//! ```
//!
//! What goes from iteration to iteration is in memory: numbers in one structure, which has derivatives; integers, the exit that the loop took and pointers in
//! another one. A pointer that changes (two buffers that are swapped) is an address and the number of the region that it points into
//! ([`regions`]). All that the loop writes is its state. What may be written unseen is refused.
//!
//! Second derivatives differentiate the loop as it stands.

mod anchor;
mod expected;
mod inputs;
mod latest;
mod outline;
mod promote;
mod refusal;
mod regions;
mod rule;
mod sizes;
mod slots;
mod target;

pub use anchor::{anchor, forget, is_used, within};
pub use rule::{link, needs_runtime};
pub(super) use sizes::{extent, extent_of, size_of_allocation};

use crate::ir::markers::WRAPPER;
use crate::ir::{self, Result};
use crate::llvm::pipelines;
use crate::rules::{self, Installed, Rule};
use core_ad::CallPlan;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::Entry;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use std::collections::HashSet;

/// Why a loop cannot be checkpointed.
pub type Refusal = Box<Diagnosis>;

/// What is left to do after Enzyme, and the names of the parts.
pub type Done<'ctx> = (Vec<Installed<'ctx>>, Vec<String>);

/// Objects that hold objects that hold arrays: how deep.
const MOST_NESTED: usize = 4;

/// Gives the loops their derivatives where these entry points reverse them; second derivatives, and forward mode alone, take them as they
/// stand. `others` names the functions that have derivatives already.
///
/// # Errors
///
/// A loop that cannot have one, or LLVM's.
pub fn install<'ctx>(
    module: &Module<'ctx>,
    plan: &CallPlan,
    entries: &[Entry],
    others: &[String],
) -> Result<std::result::Result<Done<'ctx>, Refusal>> {
    let reverses = |e: &Entry| matches!(e, Entry::Vjp | Entry::Augmented | Entry::Reverse);
    let second = |e: &Entry| matches!(e, Entry::Hvp | Entry::Jvp2);
    if !entries.iter().any(reverses) || entries.iter().any(second) {
        forget(module);
        return Ok(Ok((Vec::new(), Vec::new())));
    }
    let found = match run(module, plan, others)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let installed = rules::install(module, &found)?;
    rules::keep(module, &installed);
    Ok(Ok((installed, rules::parts(&found))))
}

/// Makes the loops functions with custom derivatives.
fn run<'ctx>(
    module: &Module<'ctx>,
    plan: &CallPlan,
    others: &[String],
) -> Result<std::result::Result<Vec<Rule<'ctx>>, Refusal>> {
    inline_into_wrapper(module, others);
    pipelines::inline_marked(module)?;
    pipelines::before_checkpoints(module)?;
    // What an object held may be an object itself.
    for _ in 0..MOST_NESTED {
        if !promote::run(module) {
            break;
        }
        pipelines::before_checkpoints(module)?;
    }
    let mut rules = Vec::new();
    loop {
        let found = match target::next(module) {
            Ok(Some(found)) => found,
            Ok(None) => break,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let number = rules.len();
        found.anchors.iter().for_each(|anchor| anchor.erase());
        match outline::outline(module, plan, &found, number) {
            Ok(outlined) => rules.push(rule::build(module, &outlined, number)?),
            Err(refusal) => return Ok(Err(refusal)),
        }
    }
    Ok(Ok(rules))
}

/// Has the functions with such loops, what leads to them and what all of these call inlined: all sizes are known in the wrapper only.
fn inline_into_wrapper(module: &Module<'_>, others: &[String]) {
    let mut chosen: HashSet<String> = HashSet::new();
    let calls = |function: FunctionValue<'_>| -> Vec<String> {
        ir::blocks(function).into_iter().flat_map(|b| b.instructions()).filter_map(|i| i.callee()).collect()
    };
    let all: Vec<(String, FunctionValue<'_>, Vec<String>)> = ir::functions(module)
        .into_iter()
        .map(|f| (f.get_name().to_string_lossy().into_owned(), f, calls(f)))
        .filter(|(name, _, _)| !others.contains(name) && (name == WRAPPER || !name.starts_with("ffgrad.shim.")))
        .collect();
    let anchored: Vec<&String> =
        all.iter().filter(|(_, _, calls)| calls.iter().any(|c| c == anchor::ANCHOR)).map(|(name, _, _)| name).collect();
    // Callers first, then all that they call too: what a caller has made (a vector) is known only where its constructor is inlined.
    let mut open: Vec<&String> = anchored;
    while let Some(name) = open.pop() {
        if chosen.insert(name.clone()) {
            open.extend(all.iter().filter(|(_, _, calls)| calls.contains(name)).map(|(caller, _, _)| caller));
        }
    }
    let mut open: Vec<String> = chosen.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let Some((_, _, calls)) = all.iter().find(|(own, _, _)| *own == name) else { continue };
        open.extend(calls.iter().filter(|called| chosen.insert((*called).clone())).cloned());
    }
    let context = module.get_context();
    for (_, function, _) in all.iter().filter(|(name, _, _)| name != WRAPPER && chosen.contains(name)) {
        if crate::ir::is_inactive(*function) {
            continue;
        }
        for name in ["noinline", "optnone"] {
            function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
        }
        let kind = Attribute::get_named_enum_kind_id("alwaysinline");
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
}

/// The first function that still has an anchor, the wrapper before others.
fn anchored<'ctx>(module: &Module<'ctx>) -> Option<FunctionValue<'ctx>> {
    let wrapper = module.get_function(WRAPPER).map(|f| f.as_value_ref());
    let mut all = ir::functions(module);
    all.sort_by_key(|f| Some(f.as_value_ref()) != wrapper);
    all.into_iter().find(|f| !anchor::in_function(*f).is_empty())
}
