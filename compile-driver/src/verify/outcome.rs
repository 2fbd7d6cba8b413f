//! What a check finds, and which values it may use. The process that checks sends them to the one that asked.

use core_ad::manifest::CheckRecord;
use core_ad::path_set::PathSet;
use serde::{Deserialize, Serialize};

/// Which values a check may use. What a function did not survive elsewhere is left out when it is checked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// The caller's, moved by the steps of finite differences.
    pub moved: Moved,
    /// Other values inside the range of the caller's.
    pub other: bool,
}

/// How far finite differences may move values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moved {
    /// To both sides.
    Anywhere,
    /// Not beyond the least and the greatest value of each array.
    Inside,
    /// Not at all.
    Nowhere,
}

impl Allowed {
    /// All of them.
    pub const ALL: Allowed = Allowed { moved: Moved::Anywhere, other: true };
}

/// Where a check evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Given,
    Moved,
    Other,
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// Every check passed.
    Passed(CheckRecord),
    /// The identity holds; finite differences disagree at this point only.
    Suspect(CheckRecord, String),
    /// The check decides nothing at these arguments (not finite, or all derivatives zero).
    Inconclusive(String),
    /// Right here, where everything is zero; inconclusive for other arguments.
    AllZero,
    /// Wrong.
    Wrong(CheckRecord, String),
}

/// What is left to say where the function did not survive finite differences.
pub(super) const NO_DIFFERENCES: &str =
    "finite differences cannot be taken, because the function crashes at values next to these";

/// The same where it throws there.
pub(super) const THROWS_BESIDE: &str =
    "finite differences cannot be taken, because the function throws an exception at values next to these";

/// The record where all derivatives are zero.
pub(super) const NOTHING: CheckRecord = CheckRecord { forward: 0.0, reverse: 0.0, differences: 0.0, tolerance: 0.0 };

/// What a check found, and the paths of the derivative that passed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// What was found.
    pub outcome: Outcome,
    /// The paths at all points that were compared and are right, where values decide them; none where the outcome is doubtful.
    pub paths: PathSet,
    /// How far forward and reverse mode were apart at most, relative to the terms compared.
    pub coarsest: f64,
    /// At the given arguments the value is finite, and a derivative is not.
    pub singular: bool,
    /// Finite differences disagree as at a kink: the derivative lies between the slopes on both sides.
    pub kink: bool,
}

impl From<Outcome> for Checked {
    /// Without paths.
    fn from(outcome: Outcome) -> Checked {
        Checked { outcome, paths: PathSet::default(), coarsest: 0.0, singular: false, kink: false }
    }
}

impl Outcome {
    /// Whether the derivative is right at the point given.
    pub(super) fn is_right(&self) -> bool {
        matches!(self, Outcome::Passed(_) | Outcome::AllZero)
    }

    /// Whether finite differences, or the other mode, contradict a derivative.
    pub(crate) fn is_contradicted(&self) -> bool {
        matches!(self, Outcome::Suspect(..) | Outcome::Wrong(..))
    }

    /// The record, where the derivatives would be used; all zero for a function that is constant here.
    pub(super) fn record_if_usable(&self) -> Option<CheckRecord> {
        match self {
            Outcome::Passed(record) | Outcome::Suspect(record, _) => Some(record.clone()),
            Outcome::AllZero => Some(NOTHING),
            Outcome::Inconclusive(_) | Outcome::Wrong(..) => None,
        }
    }
}
