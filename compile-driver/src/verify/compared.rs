//! The numbers that a check compares at one point, along one tangent: one derivative from both modes and from finite differences.

use crate::verify::Tolerance;
use crate::verify::one_side::OneSide;
use core_ad::manifest::CheckRecord;

/// The values that a check compares at one point.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub forward: f64,
    pub reverse: f64,
    /// Sum of magnitudes behind the two sums: what rounding is relative to.
    pub scale: f64,
    /// Best estimate of the same value from finite differences, and whether the estimates converge.
    pub differences: f64,
    pub converged: bool,
    pub noise: f64,
    /// What rounding of the function's own values makes of a derivative that is zero: smaller ones cannot be distinguished from it.
    pub rounding: f64,
    /// Of extrapolated differences: how far they are from the forward mode, and their rounding.
    pub extrapolated: Vec<(f64, f64)>,
    /// What differences on one side show, where those from both are not finite.
    pub one_side: OneSide,
}

impl Sample {
    /// The value from both modes, before finite differences.
    pub fn of(forward: f64, reverse: f64, scale: f64) -> Self {
        let (differences, extrapolated, one_side) = (f64::NAN, Vec::new(), OneSide::Unknown);
        Sample {
            forward,
            reverse,
            scale,
            differences,
            converged: false,
            noise: 0.0,
            rounding: 0.0,
            extrapolated,
            one_side,
        }
    }

    pub fn is_finite(&self) -> bool {
        self.forward.is_finite() && self.reverse.is_finite() && self.scale.is_finite()
    }

    /// Whether one mode gives a number and the other none.
    pub fn is_half_finite(&self) -> bool {
        self.forward.is_finite() != self.reverse.is_finite()
    }

    /// Whether there is a derivative to compare.
    pub fn is_informative(&self) -> bool {
        self.is_finite() && self.scale > self.rounding
    }

    pub fn identity_error(&self) -> f64 {
        ((self.forward - self.reverse).abs() - self.rounding).max(0.0) / self.scale
    }

    pub fn differences_agree(&self, tolerance: &Tolerance) -> bool {
        let scale = self.scale.max(self.differences.abs());
        self.one_side == OneSide::Agrees
            || (self.differences - self.forward).abs() <= tolerance.differences * scale + self.noise + self.rounding
    }

    /// Whether the derivative is not that of the only side on which the function is defined.
    pub fn is_apart_on_one_side(&self) -> bool {
        matches!(self.one_side, OneSide::Apart(_))
    }

    /// Whether finite differences see no derivative either.
    pub fn differences_vanish(&self, tolerance: &Tolerance) -> bool {
        self.differences.abs() <= self.rounding / tolerance.steps[0]
    }

    pub fn record(&self, tolerance: &Tolerance) -> CheckRecord {
        CheckRecord {
            forward: self.forward,
            reverse: self.reverse,
            differences: self.differences,
            tolerance: tolerance.identity * self.scale,
        }
    }
}

/// What to say where forward and reverse mode differ.
pub(super) fn identity_text(sample: &Sample) -> String {
    format!(
        "reverse mode gives {:.6e}, forward mode {:.6e}, finite differences {:.6e} for the same number",
        sample.reverse, sample.forward, sample.differences
    )
}

/// What to say where finite differences do.
pub(super) fn disagreement_text(sample: &Sample) -> String {
    if let OneSide::Apart(text) = &sample.one_side {
        return text.clone();
    }
    format!(
        "forward and reverse mode agree ({:.6e}), finite differences give {:.6e}",
        sample.forward, sample.differences
    )
}
