//! Sets of derivatives that are built together: which inputs are differentiated, and which entry points there are.

use crate::protocol::Entry;
use serde::{Deserialize, Serialize};

/// Which derivatives an artifact has, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DerivativeSet {
    /// Bit i: the i-th input is differentiated.
    pub mask: u64,
    /// Which of them.
    pub order: Order,
}

/// Sets of derivative entry points that are built together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Vjp and jvp.
    First,
    /// With hvp.
    Second,
    /// With hvp and jvp2: few callers differentiate the forward mode forwards, so only they build it.
    Forward,
    /// First, with the reverse mode in two halves too.
    Taped,
}

impl DerivativeSet {
    /// First derivatives of the inputs in `mask`.
    pub fn first(mask: u64) -> Self {
        DerivativeSet { mask, order: Order::First }
    }

    /// First and second derivatives of the inputs in `mask`.
    pub fn second(mask: u64) -> Self {
        DerivativeSet { mask, order: Order::Second }
    }

    /// First and second derivatives, and the forward mode of the forward mode.
    pub fn forward(mask: u64) -> Self {
        DerivativeSet { mask, order: Order::Forward }
    }

    /// First derivatives, with the reverse mode in two halves too.
    pub fn taped(mask: u64) -> Self {
        DerivativeSet { mask, order: Order::Taped }
    }

    /// Whether what was built for this serves the other too.
    pub fn serves(self, other: DerivativeSet) -> bool {
        self.mask & other.mask == other.mask && other.entries().iter().all(|e| self.entries().contains(e))
    }

    /// Entry points beside the primal that are compiled. With a tape the two halves are the reverse mode: a call runs one after the
    /// other for a vjp, so that a gradient has the same bits whether its tape was kept or not.
    pub fn compiled(self) -> &'static [Entry] {
        match self.order {
            Order::Taped => &[Entry::Jvp, Entry::Augmented, Entry::Reverse],
            _ => self.entries(),
        }
    }

    /// Entry points beside the primal that can be called.
    pub fn entries(self) -> &'static [Entry] {
        match self.order {
            Order::First => &[Entry::Vjp, Entry::Jvp],
            Order::Second => &[Entry::Vjp, Entry::Jvp, Entry::Hvp],
            Order::Forward => &[Entry::Vjp, Entry::Jvp, Entry::Hvp, Entry::Jvp2],
            Order::Taped => &[Entry::Vjp, Entry::Jvp, Entry::Augmented, Entry::Reverse],
        }
    }

    /// Its part of file names, `d1-3`.
    pub fn name(self) -> String {
        let order = match self.order {
            Order::First => "d1",
            Order::Second => "d2",
            Order::Forward => "f2",
            Order::Taped => "d1t",
        };
        format!("{order}-{:x}", self.mask)
    }
}
