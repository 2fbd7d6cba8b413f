//! A call of an opened function: resolve shapes, select an artifact, fill the slots, run, finish the results.

use crate::call::arguments::{Input, Results, View};
use crate::call::results::{Repeatable, ResultWriter};
use crate::call::scratch::Frame;
use crate::call::split::Batch;
use crate::call::task::Task;
use crate::error::Result;
use crate::function::Function;
use crate::function::trust::paths;
use crate::load::artifact::Artifact;
use core_ad::DerivativeSet;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use std::ffi::c_void;
use std::sync::Arc;

impl Function {
    /// Vector-Jacobian product: for each input in `mask`, Jᵀ applied to the cotangents of the outputs
    /// (`None` is zero), written to memory from `results` in the order of the plan's inputs.
    ///
    /// # Errors
    ///
    /// Input errors; at the first call build errors, and a differentiation error where no gradient passes
    /// verification.
    pub fn vjp(
        &self,
        inputs: &[Input<'_>],
        cotangents: &[Option<View<'_>>],
        mask: u64,
        results: &mut dyn Results,
    ) -> Result<()> {
        self.evaluate(&Task::vjp(inputs, cotangents, mask), results)
    }

    /// Jacobian-vector product: J applied to the tangents of the inputs (`None` is zero), written to memory
    /// from `results` in the order of the plan's outputs. Outputs that are integers get nothing.
    ///
    /// # Errors
    ///
    /// As [`Function::vjp`].
    pub fn jvp(&self, inputs: &[Input<'_>], tangents: &[Option<View<'_>>], results: &mut dyn Results) -> Result<()> {
        self.evaluate(&Task::jvp(inputs, tangents), results)
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
        self.evaluate(&Task::hvp(inputs, cotangents, tangents, mask), results)
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
        self.evaluate(&Task::jvp2(inputs, tangents, directions), results)
    }

    /// One call: checks the arguments, verifies the derivative, runs it.
    pub(crate) fn evaluate(&self, task: &Task<'_>, results: &mut dyn Results) -> Result<()> {
        if self.opened.plan_flags.batched {
            return self.evaluate_over(&Batch::default(), task, results);
        }
        self.evaluate_by(task, self.wanted(task), results)
    }

    /// The same by the derivatives `wanted`, which may be more than the task needs.
    pub(crate) fn evaluate_by(&self, task: &Task<'_>, wanted: DerivativeSet, results: &mut dyn Results) -> Result<()> {
        if let Some(repeat) = &self.repeat {
            return self.evaluate_loop(repeat, task, results);
        }
        let resolved = self.resolve_element(task.inputs)?;
        task.check(&self.opened.spec.function, &self.opened.manifest.plan, &resolved)?;
        self.selection().check_call(task.inputs, &resolved)?;
        let checks = paths::checks();
        let artifact = self.artifact_for(task, wanted, &resolved)?;
        self.selection().check_bounds(&artifact, task.inputs, &resolved)?;
        let watch = self.watch(&artifact, task.entry, wanted, &resolved, checks);
        let mut results = Repeatable::new(results);
        let frame = Frame::open();
        let call = self.opened.call(&resolved, &frame);
        let mut slots: Vec<*mut c_void> = Vec::with_capacity(4 * self.opened.manifest.plan.args.len() + 1);
        let mut writer = ResultWriter::new(&mut results, &call, task.entry);
        call.fill_slots(task, wanted, &mut writer, &mut slots)?;
        let news = match &watch {
            Some(watch) => watch.over(|| call.run(&artifact, task.entry, &mut slots))?,
            None => call.run_for_caller(&artifact, task.entry, &mut slots).map(|()| None)?,
        };
        writer.finish()?;
        let differentiates = task.entry != Entry::Primal;
        let replaced = match (news, watch) {
            (Some(new), Some(watch)) => watch.verify(new, task.inputs, &resolved)?,
            _ => {
                differentiates && results.hold_nan() && self.replaces_nan(&artifact, wanted, task, &resolved, checks)?
            }
        };
        match replaced {
            true => self.evaluate_by(task, wanted, &mut results),
            false => Ok(()),
        }
    }

    /// The derivatives that a task needs.
    pub(crate) fn wanted(&self, task: &Task<'_>) -> DerivativeSet {
        let wanted = task.wanted(self.opened.plan_flags.differentiable);
        // One code for all gradients of a function whose gradients may come from a tape.
        let in_halves = matches!(task.entry, Entry::Primal | Entry::Vjp) && self.is_taped();
        self.opened.served_by(if in_halves { DerivativeSet::taped(wanted.mask) } else { wanted })
    }

    /// The artifact that serves a task; that of a derivative is verified at the task's arguments.
    pub(crate) fn artifact_for(
        &self,
        task: &Task<'_>,
        wanted: DerivativeSet,
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        let derivative = || match task.entry {
            Entry::Primal | Entry::Vjp => self.reverse_artifact(wanted, task.inputs, resolved),
            _ => self.derivative(wanted, task.inputs, resolved),
        };
        if task.entry != Entry::Primal {
            return derivative();
        }
        if wanted.mask != 0 && !self.opened.has_primal() {
            derivative()?;
        }
        self.opened.primal_artifact()
    }

    /// The verified derivative artifact for the inputs in `wanted.mask`.
    pub(crate) fn derivative(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        self.opened.must_run_here()?;
        if let Some(variant) = self.variants.packed.iter().find_map(|v| v.served_by(wanted, resolved)) {
            let artifact = variant.derivative(wanted, inputs, resolved)?;
            variant.take_warnings().into_iter().for_each(|text| self.opened.warn(text));
            return Ok(artifact);
        }
        // Ranks that each time their own could choose differently.
        if self.opened.spec.options.specialize && !self.opened.spec.options.mpi {
            return self.specialised(wanted, inputs, resolved);
        }
        if self.opened.spec.options.tune && !self.opened.spec.options.mpi {
            return self.tuned(wanted, inputs, resolved);
        }
        self.selection().select(wanted, inputs, resolved)
    }
}
