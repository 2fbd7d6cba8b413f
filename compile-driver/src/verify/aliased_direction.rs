//! Checks derivatives whose tangent is the input's own array, as in `jvp(f, x, x)`.
//!
//! Everything else is checked with memory of its own for each argument, and so cannot see what goes wrong where two are one:
//! custom derivatives take a shadow pointer that is the pointer itself for no derivative. `call/aliasing.rs` sees to that in
//! every call, those of this check among them.

use crate::error::Result;
use crate::verify::Probe;
use crate::verify::sample::{Numbers, Point, numbers, words};
use core_ad::Role;
use core_ad::protocol::Entry;

/// Says what is wrong with the forward mode along the inputs themselves; `None` if nothing is. `scale` is that of the last sample,
/// which was at this point: of functions that only depend on ratios these derivatives are all rounding.
///
/// # Errors
///
/// Only what the foreign code throws.
pub(super) fn check(probe: &Probe<'_>, point: &Point, scale: f64) -> Result<Option<(f64, String)>> {
    let (cotangent, gradients) = &probe.last;
    let along = own_values(probe, point);
    let forward = probe.dot(cotangent, &probe.results(&run(probe, Entry::Jvp, point, &Vec::new())?));
    Ok(compare(forward, probe.dot(gradients, &along), probe.tolerance.identity, scale))
}

/// The same for second derivatives.
///
/// # Errors
///
/// Only what the foreign code throws.
pub(super) fn check_second(probe: &mut Probe<'_>, point: &Point, entry: Entry, scale: f64) -> Result<Option<String>> {
    let v = probe.random_cotangent();
    let along = own_values(probe, point);
    let apart = probe.hvp(point, &v, &along)?;
    let changes = run(probe, entry, point, &v)?;
    let (forward, reverse) = match entry {
        Entry::Jvp2 => (probe.dot(&v, &probe.results(&changes)), probe.dot(&along, &apart)),
        _ => (probe.dot(&along, &probe.gradients(&changes)), probe.dot(&along, &apart)),
    };
    Ok(compare(forward, reverse, probe.tolerance.coarser().identity, scale).map(|(_, text)| text))
}

/// How far two computations of one value are apart, each with the scale of its sum, and what to say, where that is too far. Zeros and infinities are inconclusive.
fn compare(
    (one, size_one): (f64, f64),
    (other, size_other): (f64, f64),
    tolerance: f64,
    scale: f64,
) -> Option<(f64, String)> {
    let gap = (one - other).abs();
    let error = gap / size_one.max(size_other).max(scale);
    (error > tolerance).then(|| {
        (
            gap,
            format!(
                "along an input itself, in the same memory, derivatives give {one:.6e}, in memory apart {other:.6e}"
            ),
        )
    })
}

/// The values of the inputs that are only read, and move; nothing of the others.
fn own_values(probe: &Probe<'_>, point: &Point) -> Numbers {
    let plan = probe.call.plan;
    (0..plan.args.len())
        .map(|arg| match plan.args[arg].role == Role::Input && probe.moves(arg) {
            true => numbers(&point[arg], plan.args[arg].dtype, probe.call.elements(arg)),
            false => Vec::new(),
        })
        .collect()
}

/// Runs a derivative with tangents in the memory of their own inputs; returns the shadows, of second derivatives their
/// changes.
fn run(probe: &Probe<'_>, entry: Entry, point: &Point, cotangent: &Numbers) -> Result<Point> {
    let plan = probe.call.plan;
    let directions = probe.filled(&vec![Vec::new(); plan.args.len()]);
    let mut shadows = directions.clone();
    if entry == Entry::Hvp {
        for (arg, given) in cotangent.iter().enumerate().filter(|(_, given)| !given.is_empty()) {
            shadows[arg] = words(given, plan.args[arg].dtype);
        }
    }
    let (shadows, changes) = probe.run_slots(entry, point, shadows, directions, true)?;
    Ok(if entry == Entry::Jvp { shadows } else { changes })
}
