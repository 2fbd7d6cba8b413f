//! Calls of the derivative entry points: what stands behind each slot of the argument array.
//!
//! Shadows of inputs are results, zeroed and added to. Shadows of what the function writes are private copies of the
//! caller's, because the reverse mode consumes them.

use crate::artifact::Wanted;
use crate::call::{self, Call, Input, Results, View};
use crate::error::{Error, Result};
use crate::function::{Function, zero};
use crate::scratch::Frame;
use core_ad::diagnostics::Diagnosis;
use core_ad::plan::{Part, Slot};
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::{Arg, Role};
use std::ffi::c_void;

/// Finds the memory behind a slot that is not the argument itself.
type Place<'p> = &'p mut dyn FnMut(&Call<'_>, Slot) -> Result<*mut u8>;

impl Function {
    /// Vector-Jacobian product: for each input in `mask`, Jᵀ applied to the cotangents of the outputs
    /// (`None` is zero), written to memory from `results` in the order of the plan's inputs.
    ///
    /// # Errors
    ///
    /// Input errors; at the first call build errors, and a differentiation error where no gradient can be
    /// proven right.
    pub fn vjp(
        &self,
        inputs: &[Input<'_>],
        cotangents: &[Option<View<'_>>],
        mask: u64,
        results: &mut dyn Results,
    ) -> Result<()> {
        let resolved = self.resolve(inputs)?;
        let plan = &self.manifest.plan;
        self.check_shadows("cotangent", &plan.outputs, cotangents, &resolved)?;
        let wanted = Wanted::first(mask & plan.differentiable_mask());
        self.run_derivative(Entry::Vjp, wanted, inputs, &resolved, &mut |call, slot| {
            let memory = self.gradient_memory(slot.arg, wanted.mask, &resolved, results)?;
            match plan.args[slot.arg].role {
                Role::Input | Role::Scratch => Ok(zero(memory, call.bytes(slot.arg), call.frame)),
                // Of an argument updated in place the reverse mode turns the cotangent of the result into the
                // gradient of the input.
                _ => {
                    let output = plan.outputs.iter().position(|&o| o == slot.arg);
                    Ok(copied(call, slot.arg, memory, output.and_then(|p| cotangents[p].as_ref())))
                }
            }
        })
    }

    /// Jacobian-vector product: J applied to the tangents of the inputs (`None` is zero), written to memory
    /// from `results` in the order of the plan's outputs. Outputs that are integers get nothing.
    ///
    /// # Errors
    ///
    /// As [`Function::vjp`].
    pub fn jvp(&self, inputs: &[Input<'_>], tangents: &[Option<View<'_>>], results: &mut dyn Results) -> Result<()> {
        let resolved = self.resolve(inputs)?;
        let plan = &self.manifest.plan;
        self.check_shadows("tangent", &plan.inputs, tangents, &resolved)?;
        let wanted = Wanted::first(given_mask(tangents) & plan.differentiable_mask());
        self.run_derivative(Entry::Jvp, wanted, inputs, &resolved, &mut |call, slot| {
            let (arg, a) = (slot.arg, &plan.args[slot.arg]);
            let memory = match plan.outputs.iter().position(|&o| o == arg) {
                Some(position) => results.allocate(position, a.dtype, &resolved.shapes[arg])?,
                None => std::ptr::null_mut(),
            };
            let tangent = plan.inputs.iter().position(|&i| i == arg).and_then(|p| tangents[p]);
            match (a.role, tangent) {
                (Role::Input, Some(view)) => call.input(arg, &Input::Array(view)),
                (Role::InOut, tangent) => Ok(copied(call, arg, memory, tangent.as_ref())),
                _ => Ok(zero(memory, call.bytes(arg), call.frame)),
            }
        })
    }

    /// Second derivatives: how the gradients of [`Function::vjp`] change when the inputs move along the
    /// given tangents (`None` is zero), the cotangents held fixed. For one scalar output with cotangent 1 this
    /// is the Hessian applied to the tangent. Written to memory from `results` in the order of the plan's
    /// inputs, for the inputs in `mask`.
    ///
    /// # Errors
    ///
    /// As [`Function::vjp`].
    pub fn hvp(
        &self,
        inputs: &[Input<'_>],
        cotangents: &[Option<View<'_>>],
        tangents: &[Option<View<'_>>],
        mask: u64,
        results: &mut dyn Results,
    ) -> Result<()> {
        let resolved = self.resolve(inputs)?;
        let plan = &self.manifest.plan;
        self.check_shadows("cotangent", &plan.outputs, cotangents, &resolved)?;
        self.check_shadows("tangent", &plan.inputs, tangents, &resolved)?;
        let mask = mask & plan.differentiable_mask();
        let wanted = Wanted::second(mask | given_mask(tangents) & plan.differentiable_mask());
        self.run_derivative(Entry::Hvp, wanted, inputs, &resolved, &mut |call, slot| {
            let (arg, nowhere) = (slot.arg, std::ptr::null_mut());
            match slot.part {
                Part::ShadowChange => {
                    let memory = self.gradient_memory(arg, mask, &resolved, results)?;
                    Ok(zero(memory, call.bytes(arg), call.frame))
                }
                Part::Direction => {
                    let tangent = plan.inputs.iter().position(|&i| i == arg).and_then(|p| tangents[p]);
                    match (plan.args[arg].role, tangent) {
                        (Role::Input, Some(view)) => call.input(arg, &Input::Array(view)),
                        (_, tangent) => Ok(copied(call, arg, nowhere, tangent.as_ref())),
                    }
                }
                Part::Shadow | Part::Primal => {
                    let output = plan.outputs.iter().position(|&o| o == arg);
                    Ok(copied(call, arg, nowhere, output.and_then(|p| cotangents[p].as_ref())))
                }
            }
        })
    }

    /// Runs a derivative entry point of a proven artifact.
    fn run_derivative(
        &self,
        entry: Entry,
        wanted: Wanted,
        inputs: &[Input<'_>],
        resolved: &Resolved,
        place: Place<'_>,
    ) -> Result<()> {
        let artifact = self.derivative(wanted, inputs, resolved)?;
        let frame = Frame::open();
        let call = self.call(resolved, &frame);
        let plan = &self.manifest.plan;
        let mut slots: Vec<*mut c_void> = Vec::with_capacity(4 * plan.args.len() + 1);
        for slot in plan.slots(entry, wanted.mask) {
            let address = match slot.part {
                Part::Primal => self.working_primal(&call, inputs, slot.arg)?,
                _ => place(&call, slot)?,
            };
            slots.push(address.cast());
        }
        call.run(&artifact, entry, &mut slots)
    }

    /// Memory for the gradient of an argument, null where none is wanted.
    fn gradient_memory(
        &self,
        arg: usize,
        mask: u64,
        resolved: &Resolved,
        results: &mut dyn Results,
    ) -> Result<*mut u8> {
        let plan = &self.manifest.plan;
        match plan.inputs.iter().position(|&i| i == arg).filter(|&p| mask >> p & 1 == 1) {
            Some(position) => results.allocate(position, plan.args[arg].dtype, &resolved.shapes[arg]),
            None => Ok(std::ptr::null_mut()),
        }
    }

    /// The primal of an argument in a derivative call: what the caller gave, or working memory.
    fn working_primal(&self, call: &Call<'_>, inputs: &[Input<'_>], arg: usize) -> Result<*mut u8> {
        match self.manifest.plan.args[arg].role {
            Role::Input => call.input(arg, self.given(inputs, arg)),
            Role::Size => call.size(arg),
            Role::InOut => {
                let copy = call.frame.bytes(call.bytes(arg));
                call.copy_input(self.given(inputs, arg), arg, copy)?;
                Ok(copy)
            }
            Role::Output | Role::Scratch | Role::Return => Ok(call.frame.zeroed(call.bytes(arg))),
        }
    }

    fn check_shadows(
        &self,
        what: &str,
        args: &[usize],
        shadows: &[Option<View<'_>>],
        resolved: &Resolved,
    ) -> Result<()> {
        let function = &self.spec.function;
        if args.len() != shadows.len() {
            let headline = format!("`{function}` has {} {what}s, {} were given", args.len(), shadows.len());
            return Err(Error::Arity(Box::new(Diagnosis::new("arity", function, headline))));
        }
        for (&arg, view) in args.iter().zip(shadows) {
            let a: &Arg = &self.manifest.plan.args[arg];
            let Some(view) = view.as_ref().filter(|_| a.dtype.is_float()) else { continue };
            if view.dtype != a.dtype {
                return Err(call::wrong_type(function, a, view.dtype.name()));
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
}

/// Bit i is set where the i-th shadow was given.
fn given_mask(shadows: &[Option<View<'_>>]) -> u64 {
    shadows.iter().enumerate().map(|(p, t)| u64::from(t.is_some()) << p).sum()
}

/// A private copy of a shadow (zeros where there is none), in `memory` or where that is null in working memory.
fn copied(call: &Call<'_>, arg: usize, memory: *mut u8, view: Option<&View<'_>>) -> *mut u8 {
    let memory = if memory.is_null() { call.frame.bytes(call.bytes(arg)) } else { memory };
    call.copy_shadow(view, arg, memory);
    memory
}
