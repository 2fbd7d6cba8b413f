//! Variants of a function that serve its calls where they are faster: tuned, specialised for sizes, or from a pack.

pub(crate) mod packed;
pub(crate) mod specialize;
pub(crate) mod tune;

use crate::os::interrupt::InterruptibleLock;
use core_ad::DerivativeSet;
use packed::PackedVariant;
use specialize::Specialised;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use tune::Winner;

/// The variants that were chosen for a function.
#[derive(Default)]
pub(crate) struct Variants {
    /// By `tune`.
    pub tuned: RwLock<HashMap<DerivativeSet, Arc<Winner>>>,
    /// One thread tunes at a time.
    pub tuning: InterruptibleLock,
    /// By `specialize`.
    pub specialised: Specialised,
    /// Before it was packed.
    pub packed: Vec<PackedVariant>,
}
