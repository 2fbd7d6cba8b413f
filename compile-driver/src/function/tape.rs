//! Tape mode: the forward sweep of the reverse mode runs once, in the forward call, and keeps what the gradient needs.
//!
//! A tape holds everything that the two halves share: Enzyme's record in an arena of its own, and memory behind
//! every slot of the argument array but that of inputs, which stay the caller's. It is used once. Where it cannot be
//! used (inputs moved in memory, it was used before) the gradient is recomputed by the same two halves, on a tape of its own:
//! compiled in one piece, the reverse mode would round differently (vector versions of `sin`, fused multiply-add). So do batches and
//! transforms. Where no tape can be kept (no arena), every gradient is computed in one piece.

use crate::build::openmp;
use crate::call::arguments::{Call, Input, Results, View};
use crate::call::copies::{COPIES, count};
use crate::call::results::{Repeatable, ResultWriter};
use crate::call::scratch::Frame;
use crate::call::task::Task;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::trust::paths;
use crate::load::artifact::Artifact;
use crate::options::Mode;
use core_ad::DerivativeSet;
use core_ad::derivative_set::Order;
use core_ad::plan::{Part, Slot};
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::{CallPlan, Role};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a forward call keeps for its gradient.
pub struct Tape {
    artifact: Arc<Artifact>,
    wanted: DerivativeSet,
    resolved: Arc<Resolved>,
    /// The arena with Enzyme's record.
    handle: *mut c_void,
    slots: Vec<*mut c_void>,
    /// Memory behind the slots that is not the caller's.
    memory: Vec<Box<[u64]>>,
}

// SAFETY: the tape owns its memory, or borrows inputs that the caller keeps; no thread has a part in it but the one
// that holds the value.
unsafe impl Send for Tape {}

impl Tape {
    /// The inputs whose gradients it was made for.
    pub fn mask(&self) -> u64 {
        self.wanted.mask
    }

    /// Bytes held by it.
    pub fn bytes(&self) -> usize {
        let own: usize = self.memory.iter().map(|m| size_of_val::<[u64]>(m)).sum();
        // SAFETY: a tape of this artifact.
        own + self.artifact.tapes.map_or(0, |tapes| unsafe { (tapes.bytes)(self.handle) })
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        if let Some(tapes) = self.artifact.tapes {
            // SAFETY: a tape of this artifact, dropped once; null is allowed.
            unsafe { (tapes.drop)(self.handle) };
        }
    }
}

impl Function {
    /// [`Function::primal`], keeping a tape for the gradient of the inputs in `mask` where that is asked for
    /// (`mode="tape"`) and possible. Inputs must stay as they are until the tape is used or dropped.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn primal_taped(&self, inputs: &[Input<'_>], mask: u64, results: &mut dyn Results) -> Result<Option<Tape>> {
        let wanted = self.wanted(&Task::primal(inputs, mask));
        let plan = &self.opened.manifest.plan;
        if !self.is_taped() || self.opened.plan_flags.batched || wanted.mask == 0 {
            return self.primal(inputs, mask, results).map(|()| None);
        }
        let resolved = self.resolve_element(inputs)?;
        self.selection().check_call(inputs, &resolved)?;
        let checks = paths::checks();
        let Some(artifact) = self.taping_artifact(wanted, inputs, &resolved)? else {
            return self.primal(inputs, mask, results).map(|()| None);
        };
        self.selection().check_bounds(&artifact, inputs, &resolved)?;
        let handle = std::ptr::null_mut();
        let mut tape = Tape { artifact, wanted, resolved, handle, slots: Vec::new(), memory: Vec::new() };
        let frame = Frame::open();
        let call = self.opened.call(&tape.resolved, &frame);
        for slot in plan.slots(Entry::Augmented, wanted.mask) {
            let place = behind(&call, slot, inputs, &mut tape.memory)?;
            tape.slots.push(place.cast());
        }
        let mut slots = tape.slots.clone();
        let watch = self.watch(&tape.artifact, Entry::Augmented, wanted, &tape.resolved, checks);
        let (artifact, handle) = (&tape.artifact, &mut tape.handle);
        let mut run = |slots: &mut Vec<_>| call.run_with(artifact, Entry::Augmented, slots, Some(handle));
        match &watch {
            None => call.ask_function(artifact, Entry::Augmented, &mut slots, run)?,
            Some(watch) => {
                if let Some(new) = watch.over(|| run(&mut slots))?
                    && watch.verify(new, inputs, &tape.resolved)?
                {
                    return self.primal_taped(inputs, mask, results);
                }
            }
        }
        // The caller must not be able to write what the reverse sweep reads.
        let mut writer = ResultWriter::new(results, &call, Entry::Augmented);
        for (position, &arg) in plan.outputs.iter().enumerate() {
            let target = writer.allocate(position, plan.args[arg].dtype, &tape.resolved.shapes[arg])?;
            let own = tape.slots[place_of(plan, wanted.mask, arg, Part::Primal)];
            hand_over(&call, arg, own, target);
        }
        writer.finish()?;
        Ok(Some(tape))
    }

    /// [`Function::vjp`] from the tape of the forward call with the same inputs, which is used up. `None`: recomputed, with the same bits if
    /// `made_for` is the [`Tape::mask`] of the tape that was used.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn vjp_taped(
        &self,
        tape: Option<Tape>,
        made_for: u64,
        inputs: &[Input<'_>],
        cotangents: &[Option<View<'_>>],
        mask: u64,
        results: &mut dyn Results,
    ) -> Result<()> {
        let plan = &self.opened.manifest.plan;
        let mask = mask & self.opened.plan_flags.differentiable;
        let fits = |tape: &Tape| tape.wanted.mask & mask == mask && unmoved(plan, tape, inputs);
        let Some(mut tape) = tape.filter(fits) else {
            let task = Task::vjp(inputs, cotangents, mask);
            let all = Task { mask: made_for | mask, ..task };
            return self.evaluate_by(&task, self.wanted(&all), results);
        };
        let checks = paths::checks();
        let task = Task::vjp(inputs, cotangents, mask);
        task.check(&self.opened.spec.function, &self.opened.manifest.plan, &tape.resolved)?;
        let wanted = tape.wanted;
        let frame = Frame::open();
        let call = self.opened.call(&tape.resolved, &frame);
        for (position, &arg) in plan.outputs.iter().enumerate().filter(|&(_, &arg)| plan.has_shadow(arg, wanted.mask)) {
            let shadow = tape.slots[place_of(plan, wanted.mask, arg, Part::Shadow)];
            call.copy_shadow(cotangents[position].as_ref(), arg, shadow.cast());
        }
        let mut slots = tape.slots.clone();
        call.run_with(&tape.artifact, Entry::Reverse, &mut slots, Some(&mut tape.handle))?;
        let mut results = Repeatable::new(results);
        let mut writer = ResultWriter::new(&mut results, &call, Entry::Vjp);
        for (position, &arg) in plan.inputs.iter().enumerate().filter(|(p, _)| mask >> p & 1 == 1) {
            let target = writer.allocate(position, plan.args[arg].dtype, &tape.resolved.shapes[arg])?;
            hand_over(&call, arg, tape.slots[place_of(plan, wanted.mask, arg, Part::Shadow)], target);
        }
        writer.finish()?;
        if results.hold_nan() && self.replaces_nan(&tape.artifact, wanted, &task, &tape.resolved, checks)? {
            return self.evaluate_by(&task, self.wanted(&task), &mut results);
        }
        Ok(())
    }

    /// Whether gradients may come from a tape: all of them come from the same two halves then.
    pub(crate) fn is_taped(&self) -> bool {
        self.opened.spec.options.mode == Mode::Tape
            && !self.opened.is_kernel()
            && self.repeat.is_none()
            && !self.trust.tapeless.load(Ordering::Acquire)
    }

    /// The verified artifact for a gradient: in two halves where that is wanted and possible, else in one piece.
    pub(crate) fn reverse_artifact(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Arc<Artifact>> {
        if wanted.order != Order::Taped || self.opened.spec.options.mode != Mode::Tape {
            return self.derivative(wanted, inputs, resolved);
        }
        match self.taping_artifact(wanted, inputs, resolved)? {
            Some(artifact) => Ok(artifact),
            None => self.derivative(self.opened.served_by(DerivativeSet::first(wanted.mask)), inputs, resolved),
        }
    }

    /// The verified artifact whose reverse mode comes in two halves; `None`, with a warning, where there can be none.
    fn taping_artifact(
        &self,
        wanted: DerivativeSet,
        inputs: &[Input<'_>],
        resolved: &Resolved,
    ) -> Result<Option<Arc<Artifact>>> {
        if self.trust.tapeless.load(Ordering::Acquire) {
            return Ok(None);
        }
        // The two halves would run on one thread.
        let is_parallel =
            openmp::is_wanted(&self.opened.spec.options) && self.opened.primal_artifact()?.teams.is_some();
        let reason = match is_parallel {
            true => "its parallel regions are reversed in one piece".to_owned(),
            false => match self.derivative(wanted, inputs, resolved) {
                Ok(artifact) if artifact.tapes.is_some() => return Ok(Some(artifact)),
                Ok(_) => "its derivative cannot allocate from an arena".to_owned(),
                Err(Error::Differentiation(diagnosis) | Error::Pack(diagnosis)) => diagnosis.headline.clone(),
                Err(other) => return Err(other),
            },
        };
        self.trust.tapeless.store(true, Ordering::Release);
        let function = &self.opened.spec.function;
        self.opened.warn(format!("no tape is kept for `{function}`, its gradient is recomputed: {reason}"));
        Ok(None)
    }
}

/// Memory behind a slot: an input's own where its layout fits, else the tape's.
fn behind(call: &Call<'_>, slot: Slot, inputs: &[Input<'_>], memory: &mut Vec<Box<[u64]>>) -> Result<*mut u8> {
    let (arg, a) = (slot.arg, &call.plan.args[slot.arg]);
    let given = call.plan.inputs.iter().position(|&i| i == arg).map(|p| &inputs[p]);
    if let (Part::Primal, Role::Input, Some(Input::Array(view))) = (slot.part, a.role, given)
        && view.has_layout(a.column_major)
        && !view.data.is_null()
    {
        return Ok(view.data.cast_mut());
    }
    let mut own = call.words(call.bytes(arg))?.into_boxed_slice();
    let place = own.as_mut_ptr().cast::<u8>();
    memory.push(own);
    match (slot.part, a.role, given) {
        (Part::Primal, Role::Input | Role::InOut, Some(input)) => call.copy_input(input, arg, place)?,
        (Part::Primal, Role::Size, _) => {
            // SAFETY: both hold at least one integer of the parameter's type.
            unsafe { place.copy_from_nonoverlapping(call.size(arg)?, a.dtype.size()) };
        }
        _ => {}
    }
    Ok(place)
}

/// The number of an argument's slot.
fn place_of(plan: &CallPlan, mask: u64, arg: usize, part: Part) -> usize {
    plan.slots(Entry::Augmented, mask).position(|slot| slot == Slot { arg, part }).unwrap_or(0)
}

/// Copies a result out of the tape.
fn hand_over(call: &Call<'_>, arg: usize, own: *mut c_void, target: *mut u8) {
    if target.is_null() {
        return;
    }
    count(&COPIES.in_place, call.bytes(arg));
    // SAFETY: both have room for the argument, and nobody else knows the tape's own memory.
    unsafe { target.copy_from_nonoverlapping(own.cast(), call.bytes(arg)) };
}

/// Whether the inputs are at the addresses that they had when the tape was made.
fn unmoved(plan: &CallPlan, tape: &Tape, inputs: &[Input<'_>]) -> bool {
    plan.inputs.len() == inputs.len()
        && plan.inputs.iter().zip(inputs).all(|(&arg, input)| {
            let place = tape.slots[place_of(plan, tape.wanted.mask, arg, Part::Primal)];
            let is_own = tape.memory.iter().any(|m| m.as_ptr().cast::<c_void>() == place.cast_const());
            match input {
                Input::Array(view) => view.shape == tape.resolved.shapes[arg] && (is_own || view.data == place.cast()),
                _ => is_own,
            }
        })
}
