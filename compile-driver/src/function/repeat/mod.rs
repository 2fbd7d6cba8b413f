//! Loops over steps: a function with the option `repeat` is called for each index of a dimension, in one native call.
//!
//! The loop is a function of its own, with the plan of the whole ([`core_ad::signature::repeat`]), over the function of one step, which is
//! opened, cached, differentiated and verified as any other. What is updated in place is carried from step to step. Forward derivatives
//! carry tangents; the reverse mode runs by a schedule of snapshots of the state (`sweep.rs`). The derivative of the loop is checked once
//! more, at a few of its steps (`check.rs`).

mod budget;
mod check;
mod disk;
mod evaluate;
mod memory;
pub(super) mod open;
mod places;
mod progress;
mod snapshots;
mod sweep;

use crate::function::Function;
use core_ad::signature::repeat::Repetition;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A loop over the steps of a function.
pub(crate) struct Repeat {
    /// One step.
    pub step: Box<Function>,
    /// What its arguments are to the loop.
    repetition: Repetition,
    /// The argument of the step that ends the loop: a carried integer that is not zero.
    until: Option<usize>,
    /// At which derivatives and sizes the loop was checked.
    checked: Mutex<HashSet<(core_ad::DerivativeSet, u64)>>,
    /// The last reverse sweep.
    last: Mutex<Option<Checkpointing>>,
}

/// What the last reverse sweep of a loop did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpointing {
    /// Steps of the loop.
    pub steps: usize,
    /// Snapshots that it could hold.
    pub snapshots: usize,
    /// Of these, those on the disk.
    pub on_disk: usize,
    /// The most bytes that were in use there at once.
    pub disk: usize,
    /// Steps that ran forward, beside those that a reversal runs itself: revolve's t(n, s).
    pub advanced: u64,
    /// Bytes of a state.
    pub state: usize,
    /// Bytes that it held at once.
    pub peak: usize,
    /// How long it took.
    pub time: Duration,
}

impl Checkpointing {
    /// Of these, those beyond the one sweep that every gradient needs.
    pub fn recomputed(&self) -> u64 {
        self.advanced.saturating_sub(self.steps.saturating_sub(1) as u64)
    }
}

impl Repeat {
    /// The inputs of a step to differentiate by, for those of the loop: what is carried always.
    pub(crate) fn step_mask(&self, mask: u64) -> u64 {
        match self.repetition.mask_of_step(mask) {
            0 => 0,
            mask => mask | self.repetition.carried(&self.step.opened.manifest.plan),
        }
    }
}

impl Function {
    /// What the last reverse sweep did, where the function is a loop over steps, or has one that is checkpointed.
    pub fn checkpointing(&self) -> Option<Checkpointing> {
        let Some(repeat) = &self.repeat else { return self.inner_checkpointing() };
        *repeat.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The same of a loop inside the function, by the derivative that has run last of those in use.
    fn inner_checkpointing(&self) -> Option<Checkpointing> {
        let known = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner);
        let reports = known.values().filter_map(|derivative| derivative.artifact.checkpoint_report());
        let [steps, snapshots, advanced, state, peak, nanoseconds, _] = reports.max_by_key(|report| report[6])?;
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        Some(Checkpointing {
            steps: count(steps),
            snapshots: count(snapshots),
            on_disk: 0,
            disk: 0,
            advanced: u64::try_from(advanced).unwrap_or(0),
            state: count(state),
            peak: count(peak),
            time: Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0)),
        })
    }
}
