//! Verifies derivatives in a process of its own, so that one that crashes, hangs or overwrites memory never does so in the caller's.
//!
//! The process is `ffgrad prove` ([`server`]), kept between checks ([`client`]). It forks for each check: the child opens the
//! artifact, so that statics of the user's code start fresh, and its output goes nowhere. The caller's process runs a derivative
//! only after it has passed here.
//!
//! A death is judged by what was being evaluated ([`Stage`]): a derivative's is a wrong derivative; the function's own at the caller's
//! values is the function's error; at other values it only shows that these are none of the function's, and they are left out.

mod bounds;
mod client;
mod protocol;
pub mod server;

use crate::call::arguments::Call;
use crate::call::crash_guard;
use crate::error::{Error, Result};
use crate::load::artifact::Artifact;
use crate::verify::sample::Point;
use crate::verify::stage::{Access, Stage};
use crate::verify::{self, Allowed, Checked, Moved, Outcome};
use core_ad::diagnostics::Diagnosis;
use core_ad::manifest::CheckRecord;
use protocol::{Reply, Request};
use std::process::ExitStatus;
use std::time::Duration;

pub use client::warm;
pub use protocol::Watch;

/// Code of the error where the function itself does not survive the caller's values.
const CRASH: &str = "foreign-crash";

/// Checks an artifact at the given point, as [`verify::check`], in the prover. Ranks of an MPI program check in their own processes, as
/// does everything where there is no prover.
///
/// # Errors
///
/// What the foreign code throws, or its crash at these values; the user's wish to end.
pub fn check(call: &Call<'_>, artifact: &Artifact, values: Point, single: bool, seed: u64) -> Result<Checked> {
    let here = |values| verify::check(call, artifact, values, single, seed, Allowed::ALL);
    if artifact.ranks.is_some() {
        return here(values);
    }
    let mut request = Request::new(call, artifact, &values, single, seed);
    loop {
        match client::ask(&request, &values)? {
            Some(Reply::Checked(checked)) => return Ok(checked),
            Some(Reply::Foreign(diagnosis)) => return Err(Error::Foreign(diagnosis)),
            Some(Reply::Differentiation(diagnosis)) => return Err(Error::Differentiation(diagnosis)),
            Some(Reply::Memory(diagnosis)) => return Err(Error::Memory(diagnosis)),
            Some(Reply::Died { printed, .. }) if printed == crash_guard::MIXED_BLOCKS => {
                return Err(crash_guard::mixed_blocks(call.function));
            }
            Some(Reply::Died { stage, how, printed, .. }) => match stage {
                Stage::Function => return Err(crashed(call.function, &how, &printed)),
                Stage::MovedFunction if request.allowed.moved == Moved::Anywhere => {
                    request.allowed.moved = Moved::Inside
                }
                Stage::MovedFunction if request.allowed.moved == Moved::Inside => {
                    request.allowed.moved = Moved::Nowhere
                }
                Stage::OtherFunction if request.allowed.other => request.allowed.other = false,
                _ => return Ok(Outcome::Wrong(NOTHING, text(stage, &how, &printed)).into()),
            },
            Some(Reply::Unable(_) | Reply::Timed(_) | Reply::Inside(_) | Reply::Running(..)) | None => {
                return here(values);
            }
        }
    }
}

/// The shortest time of one vjp, as [`verify::time_vjp`], in the prover: some thousand calls, of which nobody wants to read what the
/// function prints.
///
/// # Errors
///
/// As [`check`].
pub fn time_vjp(call: &Call<'_>, artifact: &Artifact, values: &Point, budget: Duration) -> Result<Duration> {
    if artifact.ranks.is_none() {
        let mut request = Request::new(call, artifact, values, false, 1);
        request.budget = Some(budget);
        match client::ask(&request, values)? {
            Some(Reply::Timed(time)) => return Ok(time),
            Some(Reply::Foreign(diagnosis)) => return Err(Error::Foreign(diagnosis)),
            Some(Reply::Differentiation(diagnosis)) => return Err(Error::Differentiation(diagnosis)),
            Some(Reply::Memory(diagnosis)) => return Err(Error::Memory(diagnosis)),
            Some(Reply::Died { how, printed, .. }) => return Err(crashed(call.function, &how, &printed)),
            Some(Reply::Unable(_) | Reply::Checked(_) | Reply::Inside(_) | Reply::Running(..)) | None => {}
        }
    }
    verify::time_vjp(call, artifact, values, budget)
}

/// What one run of a function between pages without access shows.
pub enum Bounds {
    /// It stays inside of its arrays. For each argument how many of its first words it wrote, where it wrote no others.
    Inside(Vec<Option<usize>>),
    /// It reads or writes memory that is none of its.
    Outside(Access),
    /// It ended its process in another way, which the error says.
    Ended(Error),
    /// Nothing: it threw, or took long.
    Unknown,
    /// Nothing: there is no prover.
    Unwatched,
}

/// Runs the function of an artifact once, in the prover, on arguments between pages without access.
///
/// # Errors
///
/// The user's wish to end.
pub fn bounds(call: &Call<'_>, primal: &Artifact, values: &Point, watch: Watch) -> Result<Bounds> {
    let mut request = Request { bounds: Some(watch), ..Request::new(call, primal, values, false, 1) };
    if watch == Watch::Fully {
        request.threads = 1;
    }
    Ok(match client::ask(&request, values)? {
        Some(Reply::Inside(written)) => Bounds::Inside(written),
        Some(Reply::Died { access: Some(access), .. }) => Bounds::Outside(access),
        Some(Reply::Died { stage: Stage::AllBounds, how, printed, .. }) => {
            Bounds::Ended(crashed(call.function, &how, &printed))
        }
        None => Bounds::Unwatched,
        _ => Bounds::Unknown,
    })
}

/// The error for a function that has ended the process in which a command ran it at arguments of its own making.
pub fn ended(function: &str, status: ExitStatus) -> Error {
    let headline = format!("`{function}` {} at arguments that were drawn at random", server::how(status));
    Error::Foreign(Box::new(
        Diagnosis::new(CRASH, function, headline)
            .advise("Give it arguments that suit it: --range NAME=LO:HI, --value NAME=X, --dim NAME=N.")
            .advise("A function that ends its process (exit, abort) has no gradient there: let it return."),
    ))
}

/// The record of a check that came to no numbers.
const NOTHING: CheckRecord =
    CheckRecord { forward: f64::NAN, reverse: f64::NAN, differences: f64::NAN, tolerance: f64::NAN };

fn text(stage: Stage, how: &str, printed: &str) -> String {
    let what = match stage {
        Stage::Loading => "the library with the derivative",
        Stage::Derivative => "the derivative",
        Stage::OtherDerivative => "the derivative, at other values inside the range of those given,",
        Stage::Function | Stage::MovedFunction | Stage::OtherFunction | Stage::Bounds | Stage::AllBounds => {
            "the function"
        }
    };
    let printed = if printed.is_empty() { String::new() } else { format!(": {printed}") };
    format!("{what} {how}{printed}")
}

fn crashed(function: &str, how: &str, printed: &str) -> Error {
    let mut diagnosis = Diagnosis::new(CRASH, function, format!("`{function}` itself {how} at these arguments"))
        .advise("The function was tried in a process of its own before any derivative: the gradient is not to blame.")
        .advise(
            "Check sizes and indices: compile it with -fsanitize=address and run it alone. Local arrays of megabytes and deep recursion need a \
             larger stack (`ulimit -s` shows it, in KiB).",
        );
    diagnosis.output = (!printed.is_empty()).then(|| printed.to_owned());
    Error::Foreign(Box::new(diagnosis))
}
