//! A request for an evaluation: the derivative, and the caller's inputs, cotangents and tangents.

use crate::call::arguments::{Input, View, wrong_type};
use crate::error::{Error, Result};
use core_ad::diagnostics::Diagnosis;
use core_ad::names;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::{Arg, CallPlan, DerivativeSet};

/// What a call computes, with all that the caller gives to it.
#[derive(Clone, Copy)]
pub(crate) struct Task<'t> {
    pub entry: Entry,
    pub inputs: &'t [Input<'t>],
    pub cotangents: &'t [Option<View<'t>>],
    pub tangents: &'t [Option<View<'t>>],
    /// Second tangents, of the forward mode of the forward mode.
    pub directions: &'t [Option<View<'t>>],
    /// Inputs whose gradient is wanted; for the primal: will be wanted.
    pub mask: u64,
}

impl<'t> Task<'t> {
    fn of(entry: Entry, inputs: &'t [Input<'t>]) -> Self {
        Task { entry, inputs, cotangents: &[], tangents: &[], directions: &[], mask: 0 }
    }

    pub(crate) fn hvp(
        inputs: &'t [Input<'t>],
        cotangents: &'t [Option<View<'t>>],
        tangents: &'t [Option<View<'t>>],
        mask: u64,
    ) -> Self {
        Task { cotangents, tangents, mask, ..Self::of(Entry::Hvp, inputs) }
    }

    pub(crate) fn jvp2(
        inputs: &'t [Input<'t>],
        tangents: &'t [Option<View<'t>>],
        directions: &'t [Option<View<'t>>],
    ) -> Self {
        Task { tangents, directions, ..Self::of(Entry::Jvp2, inputs) }
    }

    pub(crate) fn primal(inputs: &'t [Input<'t>], expected: u64) -> Self {
        Task { mask: expected, ..Self::of(Entry::Primal, inputs) }
    }

    pub(crate) fn vjp(inputs: &'t [Input<'t>], cotangents: &'t [Option<View<'t>>], mask: u64) -> Self {
        Task { cotangents, mask, ..Self::of(Entry::Vjp, inputs) }
    }

    pub(crate) fn jvp(inputs: &'t [Input<'t>], tangents: &'t [Option<View<'t>>]) -> Self {
        Task { tangents, ..Self::of(Entry::Jvp, inputs) }
    }

    /// The derivatives that it needs, of inputs that can be differentiated: those in `possible`.
    pub(crate) fn wanted(&self, possible: u64) -> DerivativeSet {
        match self.entry {
            Entry::Primal | Entry::Vjp => DerivativeSet::first(self.mask & possible),
            Entry::Augmented | Entry::Reverse => DerivativeSet::taped(self.mask & possible),
            Entry::Jvp => DerivativeSet::first(given_mask(self.tangents) & possible),
            Entry::Hvp => DerivativeSet::second((self.mask | given_mask(self.tangents)) & possible),
            Entry::Jvp2 => DerivativeSet::forward((given_mask(self.tangents) | given_mask(self.directions)) & possible),
        }
    }

    /// Checks number, types and shapes of cotangents, tangents and directions.
    ///
    /// # Errors
    ///
    /// Arity and dtype errors that name the argument.
    pub(crate) fn check(&self, function: &str, plan: &CallPlan, resolved: &Resolved) -> Result<()> {
        let check = |what: &str, args: &[usize], views| check_shadows(function, plan, what, args, views, resolved);
        if matches!(self.entry, Entry::Vjp | Entry::Hvp) {
            check("cotangent", &plan.outputs, self.cotangents)?;
        }
        if matches!(self.entry, Entry::Jvp | Entry::Hvp | Entry::Jvp2) {
            check("tangent", &plan.inputs, self.tangents)?;
        }
        if self.entry == Entry::Jvp2 {
            check("direction", &plan.inputs, self.directions)?;
        }
        Ok(())
    }
}

/// The error for a wrong number of cotangents, tangents or directions.
pub(crate) fn wrong_count(function: &str, what: &str, expected: usize, given: usize) -> Error {
    let headline = format!("`{function}` has {}, {}", names::counted(expected, what), names::given(given));
    Error::Arity(Box::new(Diagnosis::new("arity", function, headline)))
}

fn check_shadows(
    function: &str,
    plan: &CallPlan,
    what: &str,
    args: &[usize],
    shadows: &[Option<View<'_>>],
    resolved: &Resolved,
) -> Result<()> {
    if args.len() != shadows.len() {
        return Err(wrong_count(function, what, args.len(), shadows.len()));
    }
    for (&arg, view) in args.iter().zip(shadows) {
        let a: &Arg = &plan.args[arg];
        let Some(view) = view.as_ref().filter(|_| a.dtype.is_float()) else { continue };
        if view.dtype != a.dtype {
            return Err(wrong_type(function, a, view.dtype.name()));
        }
        let shape = &resolved.shapes[arg];
        if view.shape != shape.as_slice() {
            let headline = format!("the {what} of `{}` of `{function}` has the wrong shape", a.name);
            return Err(Error::Arity(Box::new(
                Diagnosis::new("shadow-shape", function, headline)
                    .mismatch(format!("{shape:?}"), format!("{:?}", view.shape)),
            )));
        }
    }
    Ok(())
}

/// Bit i is set where the i-th shadow was given.
fn given_mask(shadows: &[Option<View<'_>>]) -> u64 {
    shadows.iter().enumerate().map(|(p, t)| u64::from(t.is_some()) << p).sum()
}
