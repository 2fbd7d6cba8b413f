//! Calls of the entry points: what stands behind each slot of the argument array.
//!
//! Shadows of inputs are results, zeroed and added to. Shadows of what the function writes are private copies of the
//! caller's, because the reverse mode consumes them.

use crate::artifact::{Artifact, Wanted};
use crate::batch::Batch;
use crate::call::{self, Call, Input, Results, View};
use crate::error::{Error, Result};
use crate::function::{Function, zero};
use crate::landing::Landing;
use crate::scratch::Frame;
use core_ad::diagnostics::Diagnosis;
use core_ad::plan::{Part, Slot};
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::{Arg, Role};
use std::ffi::c_void;
use std::sync::Arc;

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
}

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
        self.perform(&Task::vjp(inputs, cotangents, mask), results)
    }

    /// Jacobian-vector product: J applied to the tangents of the inputs (`None` is zero), written to memory
    /// from `results` in the order of the plan's outputs. Outputs that are integers get nothing.
    ///
    /// # Errors
    ///
    /// As [`Function::vjp`].
    pub fn jvp(&self, inputs: &[Input<'_>], tangents: &[Option<View<'_>>], results: &mut dyn Results) -> Result<()> {
        self.perform(&Task::jvp(inputs, tangents), results)
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
        self.perform(&Task::hvp(inputs, cotangents, tangents, mask), results)
    }

    /// Second derivatives of the outputs along two directions: how J t of [`Function::jvp`] changes when the inputs move
    /// along `directions` (`None` is zero), t held fixed. The same with both swapped. Written to memory from `results` in the order
    /// of the plan's outputs; outputs that are integers get nothing.
    ///
    /// # Errors
    ///
    /// As [`Function::vjp`].
    pub fn jvp2(
        &self,
        inputs: &[Input<'_>],
        tangents: &[Option<View<'_>>],
        directions: &[Option<View<'_>>],
        results: &mut dyn Results,
    ) -> Result<()> {
        self.perform(&Task::jvp2(inputs, tangents, directions), results)
    }

    /// One call: checked, proven, run.
    pub(crate) fn perform(&self, task: &Task<'_>, results: &mut dyn Results) -> Result<()> {
        if self.facts.batched {
            return self.perform_over(&Batch::default(), task, results);
        }
        let wanted = self.wanted(task);
        self.perform_by(task, wanted, results)
    }

    /// The same by the derivatives `wanted`, which may be more than the task needs.
    pub(crate) fn perform_by(&self, task: &Task<'_>, wanted: Wanted, results: &mut dyn Results) -> Result<()> {
        let resolved = self.resolve_element(task.inputs)?;
        self.check_task(task, &resolved)?;
        let artifact = self.artifact_for(task, wanted, &resolved)?;
        let frame = Frame::open();
        let call = self.call(&resolved, &frame);
        let mut slots: Vec<*mut c_void> = Vec::with_capacity(4 * self.manifest.plan.args.len() + 1);
        let mut landing = Landing::new(results, &call, task.entry);
        self.fill(&call, task, wanted, &mut landing, &mut slots)?;
        call.run(&artifact, task.entry, &mut slots)?;
        landing.finish();
        Ok(())
    }

    pub(crate) fn check_task(&self, task: &Task<'_>, resolved: &Resolved) -> Result<()> {
        let plan = &self.manifest.plan;
        if matches!(task.entry, Entry::Vjp | Entry::Hvp) {
            self.check_shadows("cotangent", &plan.outputs, task.cotangents, resolved)?;
        }
        if matches!(task.entry, Entry::Jvp | Entry::Hvp | Entry::Jvp2) {
            self.check_shadows("tangent", &plan.inputs, task.tangents, resolved)?;
        }
        if task.entry == Entry::Jvp2 {
            self.check_shadows("direction", &plan.inputs, task.directions, resolved)?;
        }
        Ok(())
    }

    /// The derivatives that a task needs.
    pub(crate) fn wanted(&self, task: &Task<'_>) -> Wanted {
        let possible = self.facts.differentiable;
        self.serving(match task.entry {
            // One code for all gradients of a function whose gradients may come from a tape.
            Entry::Primal | Entry::Vjp if self.is_taped() => Wanted::taped(task.mask & possible),
            Entry::Primal | Entry::Vjp => Wanted::first(task.mask & possible),
            Entry::Augmented | Entry::Reverse => Wanted::taped(task.mask & possible),
            Entry::Jvp => Wanted::first(given_mask(task.tangents) & possible),
            Entry::Hvp => Wanted::second((task.mask | given_mask(task.tangents)) & possible),
            Entry::Jvp2 => Wanted::forward((given_mask(task.tangents) | given_mask(task.directions)) & possible),
        })
    }

    /// The derivatives to use for those wanted: of a pack, which cannot be added to, perhaps some with more.
    pub(crate) fn serving(&self, wanted: Wanted) -> Wanted {
        self.pack.as_ref().map_or(wanted, |pack| pack.serving(wanted))
    }

    /// The artifact that serves a task, proven at its arguments where it is a derivative's.
    pub(crate) fn artifact_for(&self, task: &Task<'_>, wanted: Wanted, resolved: &Resolved) -> Result<Arc<Artifact>> {
        let derivative = || match task.entry {
            Entry::Primal | Entry::Vjp => self.reverse_artifact(wanted, task.inputs, resolved),
            _ => self.derivative(wanted, task.inputs, resolved),
        };
        if task.entry != Entry::Primal {
            return derivative();
        }
        if wanted.mask != 0 && !self.has_primal() {
            derivative()?;
        }
        self.primal_artifact()
    }

    /// Finds the memory behind every slot of the entry point, and prepares it.
    pub(crate) fn fill(
        &self,
        call: &Call<'_>,
        task: &Task<'_>,
        wanted: Wanted,
        results: &mut dyn Results,
        slots: &mut Vec<*mut c_void>,
    ) -> Result<()> {
        for slot in self.manifest.plan.slots(task.entry, wanted.mask) {
            let address = match (task.entry, slot.part) {
                (Entry::Primal, _) => self.primal_slot(call, task, slot.arg, results)?,
                (_, Part::Primal) => self.working_primal(call, task.inputs, slot.arg)?,
                (Entry::Vjp | Entry::Augmented | Entry::Reverse, _) => {
                    self.vjp_slot(call, task, wanted.mask & task.mask, slot.arg, results)?
                }
                (Entry::Jvp, _) => self.jvp_slot(call, task, slot.arg, results)?,
                (Entry::Hvp, _) => self.hvp_slot(call, task, slot, results)?,
                (Entry::Jvp2, _) => self.jvp2_slot(call, task, slot, results)?,
            };
            slots.push(address.cast());
        }
        Ok(())
    }

    fn primal_slot(&self, call: &Call<'_>, task: &Task<'_>, arg: usize, results: &mut dyn Results) -> Result<*mut u8> {
        let memory = self.output_memory(call, arg, results)?;
        match self.manifest.plan.args[arg].role {
            Role::Input => call.input(arg, self.given(task.inputs, arg)),
            Role::Size => call.size(arg),
            Role::InOut => {
                let memory = if memory.is_null() { call.frame.bytes(call.bytes(arg)) } else { memory };
                call.copy_input(self.given(task.inputs, arg), arg, memory)?;
                Ok(memory)
            }
            Role::Output | Role::Return | Role::Scratch => Ok(zero(memory, call.bytes(arg), call.frame)),
        }
    }

    fn vjp_slot(
        &self,
        call: &Call<'_>,
        task: &Task<'_>,
        mask: u64,
        arg: usize,
        results: &mut dyn Results,
    ) -> Result<*mut u8> {
        let plan = &self.manifest.plan;
        match plan.args[arg].role {
            Role::Input | Role::Scratch => self.gradient(call, arg, mask, results),
            // Of an argument updated in place the reverse mode turns the cotangent of the result into the
            // gradient of the input.
            _ => {
                let memory = match self.gradient_position(arg, mask) {
                    Some(p) => results.allocate(p, plan.args[arg].dtype, &call.resolved.shapes[arg])?,
                    None => std::ptr::null_mut(),
                };
                let output = plan.outputs.iter().position(|&o| o == arg);
                Ok(copied(call, arg, memory, output.and_then(|p| task.cotangents[p].as_ref())))
            }
        }
    }

    fn jvp_slot(&self, call: &Call<'_>, task: &Task<'_>, arg: usize, results: &mut dyn Results) -> Result<*mut u8> {
        let memory = self.output_memory(call, arg, results)?;
        let tangent = self.along(task.tangents, arg);
        match (self.manifest.plan.args[arg].role, tangent) {
            (Role::Input, Some(view)) => call.input(arg, &Input::Array(view)),
            (Role::InOut, tangent) => Ok(copied(call, arg, memory, tangent.as_ref())),
            _ => Ok(zero(memory, call.bytes(arg), call.frame)),
        }
    }

    fn hvp_slot(&self, call: &Call<'_>, task: &Task<'_>, slot: Slot, results: &mut dyn Results) -> Result<*mut u8> {
        let (plan, arg, nowhere) = (&self.manifest.plan, slot.arg, std::ptr::null_mut());
        match slot.part {
            Part::ShadowChange => self.gradient(call, arg, task.mask & self.facts.differentiable, results),
            Part::Direction => match (plan.args[arg].role, self.along(task.tangents, arg)) {
                (Role::Input, Some(view)) => call.input(arg, &Input::Array(view)),
                (_, tangent) => Ok(copied(call, arg, nowhere, tangent.as_ref())),
            },
            Part::Shadow | Part::Primal => {
                let output = plan.outputs.iter().position(|&o| o == arg);
                Ok(copied(call, arg, nowhere, output.and_then(|p| task.cotangents[p].as_ref())))
            }
        }
    }

    fn jvp2_slot(&self, call: &Call<'_>, task: &Task<'_>, slot: Slot, results: &mut dyn Results) -> Result<*mut u8> {
        let (plan, arg) = (&self.manifest.plan, slot.arg);
        if slot.part == Part::ShadowChange {
            let memory = self.output_memory(call, arg, results)?;
            return Ok(zero(memory, call.bytes(arg), call.frame));
        }
        let given = if slot.part == Part::Direction { task.directions } else { task.tangents };
        match (plan.args[arg].role, self.along(given, arg)) {
            (Role::Input, Some(view)) => call.input(arg, &Input::Array(view)),
            (_, tangent) => Ok(copied(call, arg, std::ptr::null_mut(), tangent.as_ref())),
        }
    }

    /// Memory for the result that an argument is, null where it is none.
    fn output_memory(&self, call: &Call<'_>, arg: usize, results: &mut dyn Results) -> Result<*mut u8> {
        let plan = &self.manifest.plan;
        match plan.outputs.iter().position(|&o| o == arg) {
            Some(position) => results.allocate(position, plan.args[arg].dtype, &call.resolved.shapes[arg]),
            None => Ok(std::ptr::null_mut()),
        }
    }

    /// Memory that the gradient of an argument is added to: zeros, unless a sum is there already.
    fn gradient(&self, call: &Call<'_>, arg: usize, mask: u64, results: &mut dyn Results) -> Result<*mut u8> {
        let Some(position) = self.gradient_position(arg, mask) else { return Ok(call.frame.zeroed(call.bytes(arg))) };
        let memory = results.allocate(position, self.manifest.plan.args[arg].dtype, &call.resolved.shapes[arg])?;
        if results.adds(position) && !memory.is_null() {
            return Ok(memory);
        }
        Ok(zero(memory, call.bytes(arg), call.frame))
    }

    /// The place of an argument among the inputs, if its gradient is wanted.
    fn gradient_position(&self, arg: usize, mask: u64) -> Option<usize> {
        self.manifest.plan.inputs.iter().position(|&i| i == arg).filter(|&p| mask >> p & 1 == 1)
    }

    /// The tangent of an argument, if it is an input that has one.
    fn along<'t>(&self, tangents: &[Option<View<'t>>], arg: usize) -> Option<View<'t>> {
        self.manifest.plan.inputs.iter().position(|&i| i == arg).and_then(|p| tangents[p])
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

    pub(crate) fn wrong_count(&self, what: &str, expected: usize, given: usize) -> Error {
        let function = &self.spec.function;
        let headline = format!("`{function}` has {expected} {what}s, {given} were given");
        Error::Arity(Box::new(Diagnosis::new("arity", function, headline)))
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
            return Err(self.wrong_count(what, args.len(), shadows.len()));
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
