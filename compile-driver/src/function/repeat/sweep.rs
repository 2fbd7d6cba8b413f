//! The sweeps over the steps of a loop: forward with or without tangents, and backward by a schedule of snapshots.
//!
//! Per step only addresses move; everything else was found and checked before. A gradient has the same bits whatever the schedule:
//! every state comes from the same entry point, from the state before it.

use crate::call::arguments::{Input, View};
use crate::call::batch_loop::CallWatch;
use crate::call::scratch::{Frame, NoMemory};
use crate::call::unsolved;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::repeat::budget::Plan;
use crate::function::repeat::memory::{Layout, Meter, Room};
use crate::function::repeat::places::{Arrays, Binding, Place, StateMemory};
use crate::function::repeat::progress::Progress;
use crate::function::repeat::snapshots::Snapshots;
use crate::function::watch::Watch;
use crate::load::artifact::Artifact;
use crate::os::interrupt;
use core_ad::DerivativeSet;
use core_ad::checkpoint::Action;
use core_ad::protocol::Entry;
use core_ad::signature::repeat::Share;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a long loop asks whether it is to end.
const PATIENCE: Duration = Duration::from_millis(50);

/// How a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Done,
    /// A step's derivative was replaced by another one: everything is to be computed again.
    Again,
}

/// Asked before a step with these inputs is reversed.
pub(super) type Check<'c> = &'c mut dyn FnMut(&[Input<'_>]) -> Result<Ended>;

/// A loop at one set of arguments: the step, its code, where its arrays are.
#[derive(Clone, Copy)]
pub(super) struct Loop<'l> {
    pub step: &'l Function,
    pub binding: &'l Binding<'l>,
    /// Strides of arguments in Fortran's order.
    pub strides: &'l [Option<Vec<i64>>],
    pub steps: usize,
    /// The argument that ends the loop, where there is one.
    pub until: Option<usize>,
    pub wanted: DerivativeSet,
    pub artifact: &'l Arc<Artifact>,
    pub primal: &'l Arc<Artifact>,
}

/// The carried state with its derivatives. What runs forward is one block, so that a snapshot is one copy.
pub(super) struct States {
    front: Room,
    /// Of the reverse mode; kept for its memory alone.
    _back: Option<Room>,
    pub memory: StateMemory,
    /// Bytes of what runs forward.
    front_bytes: usize,
}

impl States {
    /// Zeros, with the parts that an entry point has.
    pub(super) fn new(entry: Entry, layout: &Layout, meter: &Meter) -> std::result::Result<Self, NoMemory> {
        let (front_parts, back_parts) = match entry {
            Entry::Vjp => (1, 1),
            Entry::Jvp => (2, 0),
            Entry::Hvp => (2, 2),
            Entry::Jvp2 => (4, 0),
            Entry::Primal | Entry::Augmented | Entry::Reverse => (1, 0),
        };
        let front_bytes = front_parts * layout.bytes;
        let mut front = Room::new(front_bytes, meter)?;
        let mut back = (back_parts > 0).then(|| Room::new(back_parts * layout.bytes, meter)).transpose()?;
        let (start, none) = (front.start(), std::ptr::null_mut());
        let reverse = back.as_mut().map_or(none, Room::start);
        let of = |base: *mut u8, part: usize| base.wrapping_add(part * layout.bytes);
        let memory = match entry {
            Entry::Vjp => StateMemory { primal: start, direction: none, shadow: reverse, change: none },
            Entry::Jvp => StateMemory { primal: start, direction: none, shadow: of(start, 1), change: none },
            Entry::Hvp => {
                StateMemory { primal: start, direction: of(start, 1), shadow: reverse, change: of(reverse, 1) }
            }
            Entry::Jvp2 => {
                StateMemory { primal: start, direction: of(start, 1), shadow: of(start, 2), change: of(start, 3) }
            }
            Entry::Primal | Entry::Augmented | Entry::Reverse => {
                StateMemory { primal: start, direction: none, shadow: none, change: none }
            }
        };
        Ok(States { front, _back: back, memory, front_bytes })
    }

    /// What advances the state of this entry point: the function, or with a direction the forward mode, whose tangent it is.
    fn advancing(&self, entry: Entry) -> (Entry, StateMemory) {
        match entry {
            Entry::Hvp => (Entry::Jvp, StateMemory { shadow: self.memory.direction, ..self.memory }),
            _ => (Entry::Primal, self.memory),
        }
    }
}

/// Runs steps of one entry point.
struct Runner<'r> {
    of: &'r Loop<'r>,
    entry: Entry,
    artifact: &'r Artifact,
    places: Vec<Place>,
    slots: Vec<*mut c_void>,
    asked: &'r Cell<Instant>,
}

impl Runner<'_> {
    fn run(&mut self, index: usize) -> Result<()> {
        if self.asked.get().elapsed() > PATIENCE {
            if interrupt::requested() {
                return Err(Error::Interrupted);
            }
            self.asked.set(Instant::now());
        }
        self.slots.clear();
        // SAFETY: the arrays have a slice for each step, and the index is one of them.
        self.slots.extend(self.places.iter().map(|place| unsafe { place.at(index) }));
        let frame = Frame::open();
        let call = self.of.step.opened.call(self.of.binding.resolved, &frame);
        call.run(self.artifact, self.entry, &mut self.slots).map_err(|error| at(error, index))
    }
}

impl Loop<'_> {
    fn runner<'r>(
        &'r self,
        entry: Entry,
        arrays: &Arrays,
        state: &StateMemory,
        asked: &'r Cell<Instant>,
    ) -> Result<Runner<'r>> {
        let artifact = if entry == Entry::Primal { self.primal } else { self.artifact };
        let places = self.binding.places(entry, self.wanted.mask, arrays, state);
        let places = places.map_err(|lack| lack.in_call_of(&self.step.opened.spec.function))?;
        let slots = Vec::with_capacity(places.len() + 2);
        Ok(Runner { of: self, entry, artifact, places, slots, asked })
    }

    /// Runs all steps forward, up to the one that ends the loop. Returns how many ran, too.
    pub(super) fn forward(
        &self,
        entry: Entry,
        arrays: &Arrays,
        states: &mut States,
        watch: Option<&Watch<'_>>,
        meter: &Meter,
    ) -> Result<(Ended, usize)> {
        let asked = Cell::new(Instant::now());
        let mut runner = self.runner(entry, arrays, &states.memory, &asked)?;
        let mut watched = self.watched(watch, meter)?;
        for index in 0..self.steps {
            if watched.run(&mut runner, arrays, states.memory.primal, index)? == Ended::Again {
                return Ok((Ended::Again, index));
            }
            // SAFETY: the state is there, and the loop's own.
            if unsafe { self.is_over(states.memory.primal) } {
                return Ok((Ended::Done, index + 1));
            }
        }
        Ok((Ended::Done, self.steps))
    }

    /// Whether the step that left this state ends the loop.
    ///
    /// # Safety
    ///
    /// `state` is one of this loop.
    unsafe fn is_over(&self, state: *const u8) -> bool {
        let Some(arg) = self.until else { return false };
        let start = state.wrapping_add(self.binding.layout.offset(arg));
        // SAFETY: the argument's bytes are there, by the caller's promise.
        let number = unsafe { std::slice::from_raw_parts(start, self.binding.bytes(arg)) };
        number.iter().any(|byte| *byte != 0)
    }

    /// How many steps run: all, or those up to the one that ends the loop, which run once for this.
    pub(super) fn count(&self, arrays: &Arrays, states: &mut States, meter: &Meter) -> Result<usize> {
        Ok(self.forward(Entry::Primal, &arrays.without_results(), states, None, meter)?.1)
    }

    /// Runs all steps backward, by a schedule. Before each step but the first one that is reversed `check` is asked whether the
    /// derivative is to be checked there. Returns the bytes on the disk, too.
    pub(super) fn backward(
        &self,
        entry: Entry,
        arrays: &Arrays,
        states: &mut States,
        plan: Plan<'_>,
        (watch, check, meter): (Option<&Watch<'_>>, Check<'_>, &Meter),
    ) -> Result<(Ended, usize)> {
        let function = &self.step.opened.spec.function;
        let asked = Cell::new(Instant::now());
        let (advancing, state) = states.advancing(entry);
        // On the way nothing is computed but states.
        let only_inputs = arrays.without_results();
        let mut advance = self.runner(advancing, &only_inputs, &state, &asked)?;
        let mut reverse = self.runner(entry, arrays, &states.memory, &asked)?;
        let mut watched = self.watched(watch, meter)?;
        let mut snapshots = Snapshots::new(function, states.front_bytes, plan.on_disk.as_ref(), meter)?;
        let mut progress = Progress::new(plan.progress, function, self.steps);
        let front = states.front.start();
        for action in plan.schedule {
            match action {
                Action::Store { slot, .. } => {
                    // SAFETY: the state has the bytes that snapshots were made for.
                    unsafe { snapshots.store(slot, front) }?;
                }
                Action::Advance { from, to } => (from..to).try_for_each(|index| advance.run(index))?,
                // SAFETY: as above.
                Action::Restore { slot, last, .. } => unsafe { snapshots.restore(slot, front, last) }?,
                Action::Reverse { step } => {
                    if check(&inputs_at(self.binding, self.strides, arrays, front, step))? == Ended::Again
                        || watched.run(&mut reverse, arrays, front, step)? == Ended::Again
                    {
                        return Ok((Ended::Again, 0));
                    }
                    progress.reversed();
                }
            }
        }
        Ok((Ended::Done, snapshots.on_disk_at_most()))
    }

    fn watched<'w>(&'w self, watch: Option<&'w Watch<'w>>, meter: &Meter) -> Result<Watched<'w>> {
        let room = |_| Room::new(self.binding.layout.bytes, meter);
        let before = watch.map(room).transpose();
        let before = before.map_err(|lack| lack.in_call_of(&self.step.opened.spec.function))?;
        Ok(Watched { of: self, watch, before })
    }
}

/// The inputs of a step, with this state before it; `strides` are those of arguments in Fortran's order.
pub(super) fn inputs_at<'a>(
    binding: &'a Binding<'_>,
    strides: &'a [Option<Vec<i64>>],
    arrays: &Arrays,
    state: *const u8,
    index: usize,
) -> Vec<Input<'a>> {
    let plan = binding.plan;
    let input = |&arg: &usize| {
        let data = match binding.shares[arg] {
            Share::Carried => state.wrapping_add(binding.layout.offset(arg)),
            Share::Sliced | Share::SlicedInPlace => {
                arrays.inputs[arg].wrapping_add(index * binding.bytes(arg)).cast_const()
            }
            _ => arrays.inputs[arg].cast_const(),
        };
        let shape = &binding.resolved.shapes[arg];
        Input::Array(View { data, dtype: plan.args[arg].dtype, shape, strides: strides[arg].as_deref() })
    };
    plan.inputs.iter().map(input).collect()
}

/// Runs steps whose paths are looked at, where values decide them.
struct Watched<'w> {
    of: &'w Loop<'w>,
    watch: Option<&'w Watch<'w>>,
    /// The state before the step, which the step itself overwrites.
    before: Option<Room>,
}

impl Watched<'_> {
    fn run(&mut self, runner: &mut Runner<'_>, arrays: &Arrays, state: *const u8, index: usize) -> Result<Ended> {
        let (Some(watch), Some(before)) = (self.watch, &mut self.before) else {
            return runner.run(index).map(|()| Ended::Done);
        };
        // SAFETY: both have the bytes of a state.
        unsafe { before.start().copy_from_nonoverlapping(state, self.of.binding.layout.bytes) };
        let Some(new) = watch.over_call(&mut || runner.run(index))? else { return Ok(Ended::Done) };
        let inputs = inputs_at(self.of.binding, self.of.strides, arrays, before.start(), index);
        let is_replaced = watch.verify(new, &inputs, self.of.binding.resolved).map_err(|error| at(error, index))?;
        Ok(if is_replaced { Ended::Again } else { Ended::Done })
    }
}

/// The same error, with the step that it came from.
fn at(error: Error, index: usize) -> Error {
    match error {
        Error::Foreign(mut diagnosis) => {
            diagnosis.headline = format!("{} in step {index} (the first is 0)", diagnosis.headline);
            Error::Foreign(diagnosis)
        }
        Error::Differentiation(mut diagnosis) if diagnosis.code == unsolved::CODE => {
            diagnosis.headline = format!("{}, in step {index} (the first is 0)", diagnosis.headline);
            Error::Differentiation(diagnosis)
        }
        other => other,
    }
}
