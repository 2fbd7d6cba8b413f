//! Checkpointing schedules: in which order the steps of a loop are run, kept and reversed with few snapshots of the state.
//!
//! In: how many steps there are and how many snapshots may be held. Out: an iterator of [`Action`]s that reverses every step from the
//! last to the first. Nothing here knows what a state is.
//!
//! The binomial schedule is that of Griewank and Walther, "Algorithm 799: Revolve", ACM Transactions on Mathematical Software 26
//! (2000): no other one with so many snapshots runs fewer steps forward ([`binomial::advances`]).

pub mod binomial;
pub mod periodic;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// How snapshots are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// The fewest forward steps that so many snapshots allow.
    #[default]
    Binomial,
    /// At equal distances: each step runs forward at most once more.
    Periodic,
}

/// What to do next. The current state is that before a step; [`Action::Reverse`] uses it up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Keep the current state, that before `step`, in a slot.
    Store {
        /// The step before which it is.
        step: usize,
        /// Where: below the number of snapshots.
        slot: usize,
    },
    /// Run the steps from `from` up to, but not including, `to` on the current state.
    Advance {
        /// The first of them.
        from: usize,
        /// The one behind the last.
        to: usize,
    },
    /// Make a kept state the current one.
    Restore {
        /// The step before which it is.
        step: usize,
        /// Where it is kept.
        slot: usize,
        /// Whether the slot is free from now on.
        last: bool,
    },
    /// Differentiate a step at the current state, which is lost.
    Reverse {
        /// Which one.
        step: usize,
    },
}

/// The actions that reverse a loop.
#[derive(Clone, Debug)]
pub struct Schedule {
    rule: Rule,
    slots: usize,
    /// The steps whose states are held, one a slot, increasing.
    held: Vec<usize>,
    /// The step before which the current state is; `None` behind a reversal.
    at: Option<usize>,
    /// How many steps are not reversed yet.
    left: usize,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    Binomial,
    Periodic { period: usize },
}

impl Schedule {
    /// The binomial schedule for `steps` steps with at most `snapshots` snapshots, of which the first is of the initial state. With none
    /// given there is one all the same.
    pub fn binomial(steps: usize, snapshots: usize) -> Self {
        Schedule::new(Rule::Binomial, steps, useful(steps, snapshots))
    }

    /// Snapshots at equal distances, and inside the interval that is being reversed at every step.
    ///
    /// # Errors
    ///
    /// The least number of snapshots that do.
    pub fn periodic(steps: usize, snapshots: usize) -> Result<Self, usize> {
        let snapshots = useful(steps, snapshots);
        let period = periodic::period(steps, snapshots)?;
        Ok(Schedule::new(Rule::Periodic { period }, steps, snapshots))
    }

    /// The schedule of a placement.
    ///
    /// # Errors
    ///
    /// As [`Schedule::periodic`].
    pub fn placed(placement: Placement, steps: usize, snapshots: usize) -> Result<Self, usize> {
        match placement {
            Placement::Binomial => Ok(Schedule::binomial(steps, snapshots)),
            Placement::Periodic => Schedule::periodic(steps, snapshots),
        }
    }

    fn new(rule: Rule, steps: usize, slots: usize) -> Self {
        Schedule { rule, slots, held: Vec::new(), at: Some(0), left: steps }
    }

    /// Snapshots that are ever held at once: as many as were given, or fewer where more bring nothing.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How far to run from a state that is held and has `left` steps before it.
    fn distance(&self, at: usize, left: usize) -> usize {
        match self.rule {
            Rule::Binomial => binomial::distance(left, self.slots - self.held.len() + 1),
            Rule::Periodic { period } if at.is_multiple_of(period) && left > period => period,
            Rule::Periodic { .. } => 1,
        }
    }

    fn restore(&mut self) -> Option<Action> {
        let slot = self.held.len().checked_sub(1)?;
        let step = self.held[slot];
        let last = step + 1 == self.left;
        if last {
            self.held.pop();
        }
        self.at = Some(step);
        Some(Action::Restore { step, slot, last })
    }
}

impl Iterator for Schedule {
    type Item = Action;

    fn next(&mut self) -> Option<Action> {
        if self.left == 0 {
            return None;
        }
        let Some(at) = self.at else { return self.restore() };
        if at + 1 == self.left {
            (self.at, self.left) = (None, at);
            return Some(Action::Reverse { step: at });
        }
        if self.held.last() != Some(&at) && self.held.len() < self.slots {
            self.held.push(at);
            return Some(Action::Store { step: at, slot: self.held.len() - 1 });
        }
        // Where no slot is free the step before the last one is reached from the newest snapshot each time.
        let is_held = self.held.last() == Some(&at);
        let distance = if is_held { self.distance(at, self.left - at) } else { self.left - at - 1 };
        self.at = Some(at + distance);
        Some(Action::Advance { from: at, to: at + distance })
    }
}

/// As many snapshots as help: the state before the last step is never kept.
pub fn useful(steps: usize, snapshots: usize) -> usize {
    snapshots.min(steps.saturating_sub(1)).max(1)
}

/// The cost of a schedule, counted without running anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Steps run forward, beside those that a reversal runs itself.
    pub advanced: u64,
    /// Snapshots written.
    pub stores: u64,
    /// Snapshots read.
    pub restores: u64,
}

impl Cost {
    /// Counts the actions that are left.
    pub fn of(schedule: Schedule) -> Cost {
        let mut cost = Cost::default();
        for action in schedule {
            match action {
                Action::Store { .. } => cost.stores += 1,
                Action::Advance { from, to } => cost.advanced += (to - from) as u64,
                Action::Restore { .. } => cost.restores += 1,
                Action::Reverse { .. } => {}
            }
        }
        cost
    }
}
