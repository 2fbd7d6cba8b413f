//! Opens a loop over steps: its step with the signature of one step, and around it the plan of the whole.

use crate::build::frontend::language;
use crate::cache::Cache;
use crate::call::launch::Chooser;
use crate::error::{Error, Result};
use crate::function::opened::Opened;
use crate::function::repeat::Repeat;
use crate::function::{Function, lower_sizes};
use crate::options::{Bounds, Mode, Options, Spec};
use crate::os::size;
use core_ad::SignatureError;
use core_ad::checkpoint::Placement;
use core_ad::diagnostics::Diagnosis;
use core_ad::plan::{Arg, Dim};
use core_ad::signature::repeat::{self, Repetition, Share, Step};
use std::sync::OnceLock;

/// Whether options of loops fit each other.
///
/// # Errors
///
/// One is given without `repeat`, or makes no sense.
pub(crate) fn check_options(spec: &Spec) -> Result<()> {
    let options = &spec.options;
    let given = [
        ("snapshots", options.snapshots.is_some()),
        ("memory", options.memory.is_some()),
        ("schedule", options.schedule != Placement::default()),
        ("snapshot_dir", options.snapshot_dir.is_some()),
        ("compress", options.compress),
        ("until", options.until.is_some()),
        ("progress", options.progress),
    ];
    if options.bounds == Bounds::Check && (options.repeat.is_some() || options.mpi) {
        let other = if options.mpi { "mpi" } else { "repeat" };
        let headline = format!("bounds=\"check\" and `{other}` do not go together");
        let advice = "Leave it out; or check the function of one step, or of one rank, without the other option.";
        return Err(refused(spec, headline, advice));
    }
    if options.repeat.is_none()
        && let Some((name, _)) = given.iter().find(|(_, is_given)| *is_given)
    {
        let headline = format!("the option `{name}` is about the steps of a loop, and `{}` is none", spec.function);
        let advice = "Say which dimension counts the steps, repeat=\"t\", or leave the option out.";
        return Err(refused(spec, headline, advice));
    }
    if let Some(folder) = options.snapshot_dir.as_deref().filter(|folder| !folder.is_dir()) {
        let headline = format!("snapshot_dir=\"{}\" is no folder", folder.display());
        return Err(refused(
            spec,
            headline,
            "Make it, or give another one: snapshots that do not fit memory are written there.",
        ));
    }
    if options.snapshots == Some(0) {
        let headline = "snapshots=0 keeps no state to start from".to_owned();
        return Err(refused(spec, headline, "Give 1 or more: the state at the beginning is one of them."));
    }
    if options.compress && options.snapshot_dir.is_none() {
        let headline = "compress=True is about snapshots on the disk, and there are none".to_owned();
        return Err(refused(
            spec,
            headline,
            "Give a folder for them, snapshot_dir=\"/scratch\", or leave the option out.",
        ));
    }
    if let Some(memory) = options.memory.as_deref().filter(|text| size::bytes(text).is_none()) {
        let headline = format!("memory=\"{memory}\" is no size");
        return Err(refused(spec, headline, "Write a whole number and K, M, G or T: \"500M\", \"2G\"."));
    }
    Ok(())
}

fn refused(spec: &Spec, headline: String, advice: &str) -> Error {
    Error::Arity(Box::new(Diagnosis::new("repeat", &spec.function, headline).advise(advice)))
}

/// Opens a function with the option `repeat`.
///
/// # Errors
///
/// As [`Function::open`] of its step; signature errors where it makes no loop.
pub(crate) fn open(mut spec: Spec, chooser: Option<Chooser>) -> Result<Function> {
    if language::is_fortran(&spec) {
        lower_sizes(&mut spec);
    }
    let (step, own) = step_of(&spec)?;
    // What is suggested for one step is no signature of the loop.
    let one = Function::open_launched(own, chooser).map_err(|error| match error {
        Error::Signature(wrong) => Error::Signature(SignatureError { suggestion: None, ..wrong }),
        other => other,
    })?;
    let manifest = one.manifest();
    let whole = |problems| Error::Signature(wrong(&spec, problems));
    step.check(&manifest.prototype).map_err(whole)?;
    let repetition = step.repeat(&manifest.plan, &spec.options.sizes).map_err(whole)?;
    let until = ending(&spec, &repetition)?;
    Ok(around(spec, one, repetition, until))
}

/// The argument that ends the loop, by the option `until`.
///
/// # Errors
///
/// It is no integer that is carried, or a step has a slice of its own of an array that it updates: what becomes of the slices behind
/// the last step is not defined.
fn ending(spec: &Spec, repetition: &Repetition) -> Result<Option<usize>> {
    let Some(name) = &spec.options.until else { return Ok(None) };
    let is_flag = |(arg, share): (&Arg, &Share)| {
        let is_number = arg.shape.iter().all(|dim| *dim == Dim::Int(1));
        *share == Share::Carried && !arg.dtype.is_float() && is_number && arg.name == *name
    };
    let Some(at) = repetition.plan.args.iter().zip(&repetition.shares).position(is_flag) else {
        let headline = format!("until=\"{name}\" is no integer that `{}` carries from step to step", spec.function);
        let advice = match name.as_str() {
            "return" => {
                "Give the number back through a pointer parameter, and name that: \"done, u[n] -> done, u[n]\"."
                    .to_owned()
            }
            _ => format!("It is one number on both sides of `->`: \"{name}, u[n] -> {name}, u[n]\"."),
        };
        return Err(refused(spec, headline, &advice));
    };
    if let Some(arg) = repetition.shares.iter().position(|share| *share == Share::SlicedInPlace) {
        let headline = format!(
            "until=\"{name}\" does not go with `{}`, of which each step updates its own slice",
            repetition.plan.args[arg].name
        );
        return Err(refused(spec, headline, "Give input and output names of their own."));
    }
    Ok(Some(at))
}

/// The signature of one step, and how it is opened.
fn step_of(spec: &Spec) -> Result<(Step, Spec)> {
    if spec.options.mpi {
        let headline = format!("`{}` cannot be repeated by ranks of MPI together", spec.function);
        return Err(refused(spec, headline, "Write the loop over the steps in the source, or leave out `mpi`."));
    }
    let symbol = spec.options.repeat.clone().unwrap_or_default();
    let Some(text) = spec.signature.clone() else {
        let headline =
            format!("repeat=\"{symbol}\" needs a signature, which says what of `{}` has that dimension", spec.function);
        let advice =
            format!("Write it: \"u[n], q[{symbol},n] -> u[n]\" carries u from step to step and gives each its own q.");
        return Err(refused(spec, headline, &advice));
    };
    // As every name in Fortran.
    let (text, symbol) = match language::is_fortran(spec) {
        true => (text.to_lowercase(), symbol.to_lowercase()),
        false => (text, symbol),
    };
    let step = repeat::step(&text, &symbol).map_err(|problems| Error::Signature(wrong(spec, problems)))?;
    let mut sizes = spec.options.sizes.clone();
    sizes.retain(|name, _| *name != symbol);
    let options = Options {
        sizes,
        repeat: None,
        snapshots: None,
        memory: None,
        schedule: Placement::default(),
        snapshot_dir: None,
        compress: false,
        until: None,
        progress: false,
        // A tape of each step would be all that snapshots save.
        mode: Mode::Recompute,
        ..spec.options.clone()
    };
    let own = Spec { signature: Some(step.signature.clone()), options, ..spec.clone() };
    Ok((step, own))
}

fn wrong(spec: &Spec, problems: Vec<String>) -> SignatureError {
    let (signature, symbol) = (spec.signature.as_deref().unwrap_or_default(), spec.options.repeat.as_deref());
    let prototype = format!("\"{signature}\", repeat=\"{}\"", symbol.unwrap_or_default());
    SignatureError { problems, prototype, suggestion: None, needed_sizes: Vec::new() }
}

/// The loop as a function: it has the step's manifest, but for the plan, and no code of its own.
fn around(spec: Spec, step: Function, repetition: Repetition, until: Option<usize>) -> Function {
    let mut manifest = step.manifest().clone();
    manifest.plan = repetition.plan.clone();
    // Warnings of steps are those of the loop.
    let cache: Cache = step.opened.cache.clone();
    let opened = Opened::of_entry(spec, manifest, cache, None, OnceLock::new(), None);
    let mut function = Function::of(opened, Vec::new());
    function.repeat = Some(Repeat {
        step: Box::new(step),
        repetition,
        until,
        checked: std::sync::Mutex::default(),
        last: std::sync::Mutex::default(),
    });
    function
}
