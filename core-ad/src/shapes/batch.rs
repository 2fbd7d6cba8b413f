//! Batches: which leading dimensions of a call's arrays count its elements, and which are an element's own.
//!
//! In: the shapes that the caller gives, and the dimensions mapped over. Out: for each array the number of its batch
//! dimensions, or a [`ShapeError`] that names it.

use super::{ShapeError, error};
use crate::{Arg, CallPlan};

/// The batch dimensions of one array, which may be fewer than the call's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// Leading dimensions that are mapped over by the caller (all of them, or none).
    pub mapped: usize,
}

impl Lead {
    /// How many there are.
    pub fn count(self) -> usize {
        self.mapped
    }
}

/// The batch dimensions of an array: all that are mapped over where `mapped` is set.
///
/// # Errors
///
/// A dimension is missing, or is neither the batch's nor 1.
pub fn lead(plan: &CallPlan, arg: usize, shape: &[i64], batch: &[i64], mapped: bool) -> Result<Lead, ShapeError> {
    let arg = &plan.args[arg];
    if !mapped {
        return Ok(Lead::default());
    }
    let fits = |(&got, &expected): (&i64, &i64)| got == expected || got == 1;
    if shape.len() < batch.len() || !shape.iter().zip(batch).all(fits) {
        return Err(wrong_batch(arg, shape, batch));
    }
    Ok(Lead { mapped: batch.len() })
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
