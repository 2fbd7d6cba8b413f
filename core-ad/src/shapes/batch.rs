//! Batches: which leading dimensions of a call's arrays count its elements, and which are an element's own.
//!
//! In: the shapes that the caller gives, and the dimensions mapped over. Out: for each array the number of its batch
//! dimensions and the batch they make together, or a [`ShapeError`] that names the array. Batch dimensions come from
//! two sides: the caller maps over an array (vmap), and the signature has a `...`. The caller's stand first.

use super::{ShapeError, error};
use crate::{Arg, CallPlan};

/// The batch dimensions of one array, which may be fewer than the call's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// Leading dimensions that the caller maps over: all of them, or none.
    pub mapped: usize,
    /// Dimensions behind them that stand for the `...` of the signature.
    pub own: usize,
}

impl Lead {
    /// How many there are.
    pub fn count(self) -> usize {
        self.mapped + self.own
    }
}

/// The batch dimensions of an array of this shape: all of `batch` where `mapped` is set, and what `...` stands for.
///
/// # Errors
///
/// A dimension is missing, or is neither the batch's nor 1.
pub fn lead(plan: &CallPlan, arg: usize, shape: &[i64], batch: &[i64], mapped: bool) -> Result<Lead, ShapeError> {
    let arg = &plan.args[arg];
    let batch = if mapped { batch } else { &[] };
    let fits = |(&got, &expected): (&i64, &i64)| got == expected || got == 1;
    if shape.len() < batch.len() || !shape.iter().zip(batch).all(fits) {
        return Err(wrong_batch(arg, shape, batch));
    }
    // Where dimensions are missing, the check of an element's shape reports it.
    let own = if arg.batched { (shape.len() - batch.len()).saturating_sub(arg.shape.len()) } else { 0 };
    Ok(Lead { mapped: batch.len(), own })
}

/// The batch that the inputs' own batch dimensions make together, as NumPy broadcasts them.
///
/// # Errors
///
/// Two dimensions differ, and neither is 1.
pub fn broadcast(plan: &CallPlan, shapes: &[&[i64]], leads: &[Lead]) -> Result<Vec<i64>, ShapeError> {
    let rank = leads.iter().map(|l| l.own).max().unwrap_or(0);
    let mut batch = vec![1; rank];
    let mut origin = vec![0; rank];
    for (position, (shape, lead)) in shapes.iter().zip(leads).enumerate() {
        let own = &shape[lead.mapped..lead.count()];
        for (at, &got) in own.iter().enumerate().map(|(d, got)| (rank - own.len() + d, got)) {
            if got != 1 && batch[at] != 1 && got != batch[at] {
                let first = (origin[at], &shapes[origin[at]][leads[origin[at]].mapped..leads[origin[at]].count()]);
                return Err(contradiction(plan, first, (position, own)));
            }
            if got != 1 && batch[at] == 1 {
                (batch[at], origin[at]) = (got, position);
            }
        }
    }
    Ok(batch)
}

fn contradiction(plan: &CallPlan, first: (usize, &[i64]), second: (usize, &[i64])) -> ShapeError {
    let of = |position: usize| &plan.args[plan.inputs[position]];
    let (a, b) = (of(first.0), of(second.0));
    let message = format!(
        "the batch dimensions are {:?} in `{}` but {:?} in `{}`: they must be the same or 1, counted from the last",
        first.1,
        a.spelled(),
        second.1,
        b.spelled()
    );
    error(&b.name, format!("{:?}", first.1), format!("{:?}", second.1), message)
}

fn wrong_batch(arg: &Arg, shape: &[i64], batch: &[i64]) -> ShapeError {
    let (expected, got) = (format!("{batch:?}"), format!("{shape:?}"));
    let message = format!(
        "`{}` has the shape {got}, but the batch is {expected}: its shape must begin with these sizes, or with 1 in their place",
        arg.name
    );
    error(&arg.name, format!("{expected} and the shape of an element"), got, message)
}

/// Number of elements of a batch; `None` if it overflows.
pub fn count(batch: &[i64]) -> Option<usize> {
    if batch.contains(&0) {
        return Some(0);
    }
    batch.iter().try_fold(1_usize, |count, &d| count.checked_mul(usize::try_from(d).ok()?))
}
