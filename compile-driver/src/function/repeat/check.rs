//! Checks the derivative of a loop: its step is verified as any function, and this is about what the loop adds to it.
//!
//! At a few of the loop's steps, with so few snapshots that states are computed again, for random tangents t, d and cotangents v:
//!
//! - first derivatives: the dot-product identity ⟨v, J t⟩ = ⟨Jᵀ v, t⟩, J t carried forward, Jᵀ v backward by a schedule;
//! - second derivatives of the reverse mode: the symmetry ⟨H(v) t, d⟩ = ⟨H(v) d, t⟩; of the forward mode: that they are the same.
//!
//! Where that takes next to no time the same follows at all of the loop's steps. There rounding can grow, so a disagreement warns, and
//! refuses under `verify="strict"`.

use crate::call::arguments::Input;
use crate::error::{Error, Result};
use crate::function::repeat::budget::Plan;
use crate::function::repeat::evaluate::Evaluation;
use crate::function::repeat::memory::{Meter, Room};
use crate::function::repeat::places::Arrays;
use crate::function::repeat::sweep::{Ended, Loop, States};
use crate::function::trust::checked_shapes;
use crate::options::Verify;
use crate::verify::sample::{Numbers, Random, dot, words};
use core_ad::checkpoint::Schedule;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::Entry;
use core_ad::signature::repeat::Share;
use core_ad::{DType, Role};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Steps of a check, and snapshots: some states are computed more than once.
const FEW: usize = 6;
const SNAPSHOTS: usize = 2;

/// What a check at all steps may be expected to take, and its snapshots.
const AFFORDABLE: Duration = Duration::from_millis(250);
const MANY_SNAPSHOTS: usize = 20;

/// The same number from two modes.
struct Pair {
    one: f64,
    other: f64,
    /// What rounding is relative to.
    scale: f64,
    /// What rounding makes of a number that is zero.
    rounding: f64,
}

impl Pair {
    fn of(one: (f64, f64), other: (f64, f64), rounding: f64) -> Self {
        Pair { one: one.0, other: other.0, scale: one.1 + other.1, rounding }
    }

    fn is_finite(&self) -> bool {
        self.one.is_finite() && self.other.is_finite() && self.scale.is_finite()
    }

    fn agrees(&self, tolerance: f64) -> bool {
        (self.one - self.other).abs() <= tolerance * self.scale + self.rounding
    }
}

/// Floating-point arrays, one for an argument.
struct Vector {
    rooms: Vec<Option<Room>>,
    counts: Vec<usize>,
}

impl Vector {
    fn pointers(&mut self) -> Vec<*mut u8> {
        self.rooms.iter_mut().map(|room| room.as_mut().map_or(std::ptr::null_mut(), Room::start)).collect()
    }
}

impl Evaluation<'_> {
    /// Checks the derivative, where that was not done yet.
    ///
    /// # Errors
    ///
    /// A differentiation error where two modes disagree.
    pub(super) fn check(&self, one: &Loop<'_>, arrays: &Arrays) -> Result<()> {
        let verify = self.whole.opened.spec.options.verify;
        if self.task.entry == Entry::Primal || verify == Verify::Off {
            return Ok(());
        }
        let key = (one.wanted, checked_shapes::digest(self.one));
        let is_known = self.repeat.checked.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
        if is_known && verify != Verify::Always {
            return Ok(());
        }
        let few = Loop { steps: one.steps.min(FEW), until: None, ..*one };
        let started = Instant::now();
        let pair = self.compare(&few, arrays, SNAPSHOTS)?;
        if !pair.is_finite() {
            // The next call may be at better arguments.
            return Ok(());
        }
        if !pair.agrees(self.tolerance()) {
            return Err(self.refusal(&pair, few.steps));
        }
        let each = started.elapsed() / few.steps as u32;
        if one.steps > few.steps && each * 2 * u32::try_from(one.steps).unwrap_or(u32::MAX) < AFFORDABLE {
            let pair = self.compare(one, arrays, MANY_SNAPSHOTS)?;
            if pair.is_finite() && !pair.agrees(self.tolerance()) {
                if verify == Verify::Strict {
                    return Err(self.refusal(&pair, one.steps));
                }
                self.warn(&pair, one.steps);
            }
        }
        self.repeat.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        Ok(())
    }

    fn tolerance(&self) -> f64 {
        let first = if self.whole.opened.manifest.single_precision { 3e-3 } else { 1e-7 };
        if matches!(self.task.entry, Entry::Hvp | Entry::Jvp2) { 10.0 * first } else { first }
    }

    fn compare(&self, one: &Loop<'_>, arrays: &Arrays, snapshots: usize) -> Result<Pair> {
        let probe = Probe { of: self, one, arrays, snapshots };
        let mut random = Random(1);
        let (t, v) = (probe.tangent(&mut random)?, probe.cotangent(&mut random)?);
        if !matches!(self.task.entry, Entry::Hvp | Entry::Jvp2) {
            let (t_values, v_values) = (probe.values(&t), probe.values(&v));
            let forward = probe.jvp(t)?;
            let reverse = probe.vjp(v)?;
            return Ok(Pair::of(dot(&v_values, &forward), dot(&t_values, &reverse), 0.0));
        }
        let d = probe.tangent(&mut random)?;
        let (t_values, d_values, v_values) = (probe.values(&t), probe.values(&d), probe.values(&v));
        let (along_t, gradient) = probe.hvp(probe.copy(&t)?, probe.copy(&v)?)?;
        let rounding = 1e3 * self.epsilon() * dot(&gradient, &t_values).1;
        let one = dot(&along_t, &d_values);
        let other = match self.task.entry {
            Entry::Hvp => dot(&probe.hvp(d, v)?.0, &t_values),
            _ => dot(&v_values, &probe.jvp2(t, d)?),
        };
        Ok(Pair::of(one, other, rounding))
    }

    fn epsilon(&self) -> f64 {
        if self.whole.opened.manifest.single_precision { f64::from(f32::EPSILON) } else { f64::EPSILON }
    }

    fn refusal(&self, pair: &Pair, steps: usize) -> Error {
        let function = &self.whole.opened.spec.function;
        let headline =
            format!("the derivative of {steps} steps of `{function}` is wrong, though that of one passed its check");
        let diagnosis = Diagnosis::new("repeated-derivative", function, headline).quote(pair.text());
        Error::Differentiation(Box::new(diagnosis.advise(
            "The function may keep something from step to step beside what the signature carries (a static variable, a file): \
             pass it as an argument that is updated in place. Else please report it.",
        )))
    }

    fn warn(&self, pair: &Pair, steps: usize) {
        let function = &self.whole.opened.spec.function;
        self.whole.opened.warn(format!(
            "the derivative of {steps} steps of `{function}` is doubtful: {}. That of {FEW} steps is right, so rounding has grown, as in \
             chaos: use fewer steps, or double precision.",
            pair.text()
        ));
    }
}

impl Pair {
    fn text(&self) -> String {
        format!("two computations of one number give {:.6e} and {:.6e}", self.one, self.other)
    }
}

/// Derivatives of a loop for vectors of a check's own.
struct Probe<'p> {
    of: &'p Evaluation<'p>,
    one: &'p Loop<'p>,
    arrays: &'p Arrays,
    snapshots: usize,
}

impl Probe<'_> {
    fn dtype(&self, arg: usize) -> DType {
        self.one.binding.plan.args[arg].dtype
    }

    fn count(&self, arg: usize) -> usize {
        let is_repeated = matches!(self.one.binding.shares[arg], Share::Sliced | Share::SlicedInPlace | Share::Stacked);
        self.one.binding.resolved.elements(arg) * if is_repeated { self.one.steps } else { 1 }
    }

    fn is_input(&self, arg: usize) -> bool {
        let plan = self.one.binding.plan;
        matches!(plan.args[arg].role, Role::Input | Role::InOut) && plan.has_shadow(arg, self.one.wanted.mask)
    }

    fn is_output(&self, arg: usize) -> bool {
        self.dtype(arg).is_float() && self.one.binding.plan.outputs.contains(&arg)
    }

    fn vector(&self, has: impl Fn(usize) -> bool, mut value: impl FnMut() -> f64) -> Result<Vector> {
        let args = 0..self.one.binding.plan.args.len();
        let mut vector = Vector { rooms: Vec::new(), counts: Vec::new() };
        for arg in args {
            let (count, dtype) = (self.count(arg), self.dtype(arg));
            vector.counts.push(count);
            if !has(arg) {
                vector.rooms.push(None);
                continue;
            }
            let values: Vec<f64> = (0..count).map(|_| value()).collect();
            let (bytes, mut room) = (count * dtype.size(), self.room(count * dtype.size())?);
            // SAFETY: both have the argument's bytes.
            unsafe { room.start().copy_from_nonoverlapping(words(&values, dtype).as_ptr().cast(), bytes) };
            vector.rooms.push(Some(room));
        }
        Ok(vector)
    }

    fn room(&self, bytes: usize) -> Result<Room> {
        Room::new(bytes, &Meter::default()).map_err(|lack| self.of.lack(&lack))
    }

    fn tangent(&self, random: &mut Random) -> Result<Vector> {
        self.vector(|arg| self.is_input(arg), || random.normal())
    }

    fn cotangent(&self, random: &mut Random) -> Result<Vector> {
        self.vector(|arg| self.is_output(arg), || random.normal())
    }

    fn copy(&self, vector: &Vector) -> Result<Vector> {
        let values = self.values(vector).concat();
        let mut values = values.into_iter();
        self.vector(|arg| vector.rooms[arg].is_some(), || values.next().unwrap_or(0.0))
    }

    /// The numbers of a vector, by argument.
    fn values(&self, vector: &Vector) -> Numbers {
        let of = |(arg, room): (usize, &Option<Room>)| {
            room.as_ref().map_or(Vec::new(), |room| self.read(room.get(), arg, vector.counts[arg]))
        };
        vector.rooms.iter().enumerate().map(of).collect()
    }

    fn read(&self, from: *const u8, arg: usize, count: usize) -> Vec<f64> {
        // SAFETY: so many elements of this type are there, aligned.
        let at = |i: usize| unsafe {
            match self.dtype(arg) {
                DType::F32 => f64::from(from.cast::<f32>().add(i).read()),
                _ => from.cast::<f64>().add(i).read(),
            }
        };
        (0..count).map(at).collect()
    }

    /// Copies the carried part of a vector into the state.
    fn carry(&self, vector: &mut Vector, state: *mut u8) {
        for arg in self.one.binding.layout.args() {
            if let Some(room) = &mut vector.rooms[arg] {
                let target = state.wrapping_add(self.one.binding.layout.offset(arg));
                // SAFETY: both have the argument's bytes.
                unsafe { target.copy_from_nonoverlapping(room.start(), self.one.binding.bytes(arg)) };
            }
        }
    }

    /// A result: what single steps wrote, and what the state has become.
    fn result(&self, vector: &Vector, state: *const u8) -> Numbers {
        let mut all = self.values(vector);
        for arg in self.one.binding.layout.args().filter(|&arg| vector.rooms[arg].is_some()) {
            let from = state.wrapping_add(self.one.binding.layout.offset(arg));
            all[arg] = self.read(from, arg, vector.counts[arg]);
        }
        all
    }

    fn states(&self, entry: Entry) -> Result<States> {
        let states = States::new(entry, self.one.binding.layout, &Meter::default());
        let states = states.map_err(|lack| self.of.lack(&lack))?;
        self.of.fill_primal(states.memory.primal)?;
        Ok(states)
    }

    fn with(&self, change: impl FnOnce(&mut Arrays)) -> Arrays {
        let mut arrays = Arrays { inputs: self.arrays.inputs.clone(), ..Arrays::none(self.arrays.inputs.len()) };
        change(&mut arrays);
        arrays
    }

    fn jvp(&self, mut tangent: Vector) -> Result<Numbers> {
        let mut out = self.vector(|arg| self.is_output(arg), || 0.0)?;
        let mut states = self.states(Entry::Jvp)?;
        self.carry(&mut tangent, states.memory.shadow);
        let arrays = self.with(|a| (a.tangents, a.results) = (tangent.pointers(), out.pointers()));
        self.one.forward(Entry::Jvp, &arrays, &mut states, None, &Meter::default())?;
        Ok(self.result(&out, states.memory.shadow))
    }

    fn vjp(&self, mut cotangent: Vector) -> Result<Numbers> {
        let mut out = self.vector(|arg| self.is_input(arg), || 0.0)?;
        let mut states = self.states(Entry::Vjp)?;
        self.carry(&mut cotangent, states.memory.shadow);
        let arrays = self.with(|a| (a.cotangents, a.results) = (cotangent.pointers(), out.pointers()));
        self.backward(Entry::Vjp, &arrays, &mut states)?;
        Ok(self.result(&out, states.memory.shadow))
    }

    /// How the gradient changes along a tangent, and the gradient by the state.
    fn hvp(&self, mut tangent: Vector, mut cotangent: Vector) -> Result<(Numbers, Numbers)> {
        let mut out = self.vector(|arg| self.is_input(arg), || 0.0)?;
        let mut states = self.states(Entry::Hvp)?;
        self.carry(&mut tangent, states.memory.direction);
        self.carry(&mut cotangent, states.memory.shadow);
        let arrays = self.with(|a| {
            (a.tangents, a.cotangents, a.results) = (tangent.pointers(), cotangent.pointers(), out.pointers());
        });
        self.backward(Entry::Hvp, &arrays, &mut states)?;
        let zeros = self.vector(|arg| self.is_input(arg), || 0.0)?;
        Ok((self.result(&out, states.memory.change), self.result(&zeros, states.memory.shadow)))
    }

    fn jvp2(&self, mut tangent: Vector, mut direction: Vector) -> Result<Numbers> {
        let mut out = self.vector(|arg| self.is_output(arg), || 0.0)?;
        let mut states = self.states(Entry::Jvp2)?;
        self.carry(&mut tangent, states.memory.shadow);
        self.carry(&mut direction, states.memory.direction);
        let arrays = self.with(|a| {
            (a.tangents, a.directions, a.results) = (tangent.pointers(), direction.pointers(), out.pointers());
        });
        self.one.forward(Entry::Jvp2, &arrays, &mut states, None, &Meter::default())?;
        Ok(self.result(&out, states.memory.change))
    }

    fn backward(&self, entry: Entry, arrays: &Arrays, states: &mut States) -> Result<()> {
        let plan = Plan::of(Schedule::binomial(self.one.steps, self.snapshots));
        let never = &mut |_: &[Input<'_>]| Ok(Ended::Done);
        self.one.backward(entry, arrays, states, plan, (None, never, &Meter::default())).map(drop)
    }
}
