//! Runs entry points on private copies of the arguments, and detects writes to inputs.

use crate::call::crash_guard::is_stop;
use crate::call::unsolved::is_unsolved;
use crate::error::{Error, Result};
use crate::verify::sample::{Numbers, Point, numbers, words};
use crate::verify::{Place, Probe};
use core_ad::path_set::PathSet;
use core_ad::plan::Part;
use core_ad::protocol::Entry;
use core_ad::{DType, Role};
use std::ffi::c_void;
use std::time::{Duration, Instant};

impl Probe<'_> {
    /// The function's results. Where it throws at values that are not the caller's they are not-a-number: it has no value there.
    pub(super) fn primal(&self, given: &Point) -> Result<Numbers> {
        Ok(self.value_unless_thrown(given)?.unwrap_or_else(|| {
            let mut nowhere = self.filled(&vec![Vec::new(); given.len()]);
            self.fill_with_nan(&mut nowhere);
            self.results(&nowhere)
        }))
    }

    /// The function's results; none where it throws at values that are not the caller's.
    pub(super) fn value_unless_thrown(&self, given: &Point) -> Result<Option<Numbers>> {
        match self.value(given) {
            Err(error) if self.may_be_left_out(&error) => {
                self.has_thrown.set(true);
                Ok(None)
            }
            outcome => outcome.map(Some),
        }
    }

    /// Whether an exception is one at values of the check's own making. A rank that throws where others do not would leave them waiting.
    fn may_be_left_out(&self, error: &Error) -> bool {
        matches!(error, Error::Foreign(_)) && self.place.get() != Place::Given && self.artifact.ranks.is_none()
    }

    fn value(&self, given: &Point) -> Result<Numbers> {
        let mut point = given.clone();
        self.add_produced(&mut point);
        let mut slots = Vec::new();
        for memory in &mut point {
            slots.push(memory.as_mut_ptr().cast::<c_void>());
        }
        self.enter_function();
        self.call.run(self.artifact, Entry::Primal, &mut slots)?;
        self.note_written(Entry::Primal, given, &point);
        Ok(self.results(&point))
    }

    pub(super) fn jvp(&self, point: &Point, tangent: &Numbers) -> Result<Numbers> {
        let shadows = self.run(Entry::Jvp, point, tangent)?;
        Ok(self.results(&shadows))
    }

    pub(super) fn vjp(&self, point: &Point, cotangent: &Numbers) -> Result<Numbers> {
        let shadows = self.run(Entry::Vjp, point, cotangent)?;
        Ok(self.gradients(&shadows))
    }

    pub(super) fn timed_vjp(&self, point: &Point, cotangent: &Numbers) -> Result<Duration> {
        let (mut values, mut shadows) = self.memory(point, cotangent);
        let mut slots = self.slots(Entry::Vjp, &mut values, &mut shadows);
        let start = Instant::now();
        self.call.run(self.artifact, Entry::Vjp, &mut slots)?;
        Ok(start.elapsed())
    }

    pub(super) fn gradients(&self, memory: &Point) -> Numbers {
        let plan = self.call.plan;
        let gradient = |arg: usize| {
            if !self.moves(arg) {
                return Vec::new();
            }
            numbers(&memory[arg], plan.args[arg].dtype, self.call.elements(arg))
        };
        (0..plan.args.len()).map(gradient).collect()
    }

    /// Runs a derivative entry point with the given shadows and returns the shadows after it.
    pub(super) fn run(&self, entry: Entry, point: &Point, given: &Numbers) -> Result<Point> {
        let (mut values, mut shadows) = self.memory(point, given);
        let mut slots = self.slots(entry, &mut values, &mut shadows);
        self.enter_derivative();
        let outcome = self.run_counted(entry, &mut slots);
        if self.is_spoilt(outcome, point, &mut shadows)? {
            return Ok(shadows);
        }
        self.note_written(entry, point, &values);
        if entry == Entry::Jvp {
            self.note_written(entry, &self.filled(given), &shadows);
        }
        Ok(shadows)
    }

    /// Whether a derivative is not-a-number, written here: where a solver has not solved, unless the caller is told, and at values at which
    /// the function itself throws.
    pub(super) fn is_spoilt(&self, outcome: Result<()>, point: &Point, shadows: &mut Point) -> Result<bool> {
        let Err(error) = outcome else { return Ok(false) };
        let is_silent = is_unsolved(&error) && !self.tells_unsolved.get();
        let is_stopped = is_stop(&error) && self.place.get() != Place::Given;
        let is_left_out = is_silent || is_stopped || self.may_be_left_out(&error) && self.value(point).is_err();
        if !is_left_out {
            self.enter_derivative();
            return Err(error);
        }
        self.fill_with_nan(shadows);
        Ok(true)
    }

    fn fill_with_nan(&self, memory: &mut Point) {
        let half = u64::from(f32::NAN.to_bits());
        for (arg, memory) in self.call.plan.args.iter().zip(memory).filter(|(arg, _)| arg.dtype.is_float()) {
            memory.fill(if arg.dtype == DType::F32 { half | half << 32 } else { f64::NAN.to_bits() });
        }
    }

    /// Runs a derivative entry point, and notes its path where it is compared.
    pub(super) fn run_counted(&self, entry: Entry, slots: &mut Vec<*mut c_void>) -> Result<()> {
        let Some(map) = self.artifact.paths.filter(|_| self.is_compared.get()) else {
            return self.call.run(self.artifact, entry, slots);
        };
        map.clear();
        self.call.run(self.artifact, entry, slots)?;
        let path = map.with_counts(|counts| PathSet::of(counts));
        self.paths.borrow_mut().merge(&path);
        Ok(())
    }

    /// Runs derivatives of which only differences are taken.
    pub(super) fn aside<T>(&self, run: impl FnOnce() -> T) -> T {
        let outer = self.is_compared.replace(false);
        let value = run();
        self.is_compared.set(outer);
        value
    }

    /// Private memory for every argument and every shadow.
    pub(super) fn memory(&self, point: &Point, given: &Numbers) -> (Point, Point) {
        let mut values = point.clone();
        self.add_produced(&mut values);
        (values, self.filled(given))
    }

    pub(super) fn slots(&self, entry: Entry, values: &mut Point, shadows: &mut Point) -> Vec<*mut c_void> {
        let address = |slot: core_ad::plan::Slot| -> *mut c_void {
            match slot.part {
                Part::Shadow => shadows[slot.arg].as_mut_ptr().cast(),
                _ => values[slot.arg].as_mut_ptr().cast(),
            }
        };
        self.call.plan.slots(entry, self.mask()).map(address).collect()
    }

    /// A buffer for every argument: the given values, or zeros.
    pub(super) fn filled(&self, given: &Numbers) -> Point {
        let plan = self.call.plan;
        (0..plan.args.len())
            .map(|arg| match given[arg].is_empty() {
                true => vec![0; self.call.bytes(arg).div_ceil(8).max(1)],
                false => words(&given[arg], plan.args[arg].dtype),
            })
            .collect()
    }

    /// Memory for what the function itself produces.
    pub(super) fn add_produced(&self, point: &mut Point) {
        for (arg, a) in self.call.plan.args.iter().enumerate() {
            if crate::call::arguments::is_produced(a.role) {
                point[arg] = vec![0; self.call.bytes(arg).div_ceil(8).max(1)];
            }
        }
    }

    pub(super) fn results(&self, memory: &Point) -> Numbers {
        let plan = self.call.plan;
        (0..plan.args.len())
            .map(|arg| {
                let a = &plan.args[arg];
                if !plan.outputs.contains(&arg) || !a.dtype.is_float() || a.role == Role::Size {
                    return Vec::new();
                }
                numbers(&memory[arg], a.dtype, self.call.elements(arg))
            })
            .collect()
    }

    /// Compares inputs, constants among them, with what was given, bit for bit. `InOut` arguments may be written to.
    pub(super) fn note_written(&self, entry: Entry, given: &Point, left: &Point) {
        let is_read_only = |arg: &usize| matches!(self.call.plan.args[*arg].role, Role::Input | Role::Size);
        let changed = (0..given.len()).filter(is_read_only).find(|&arg| given[arg] != left[arg]);
        if let (Some(arg), None) = (changed, self.written.get()) {
            self.written.set(Some((entry, arg)));
        }
    }

    /// Which input was written to, and by which entry point; `None` if none was, on any rank.
    pub(super) fn written_text(&self) -> Option<String> {
        let is_clean = self.written.get().is_none();
        if self.artifact.ranks.map_or(is_clean, |ranks| ranks.all(is_clean)) {
            return None;
        }
        let Some((entry, arg)) = self.written.get() else {
            return Some("on another rank an input was written to".to_owned());
        };
        let what = match entry {
            Entry::Primal => "the function",
            Entry::Jvp | Entry::Jvp2 => "its forward mode",
            Entry::Vjp | Entry::Hvp | Entry::Augmented | Entry::Reverse => "its reverse mode",
        };
        let constant = if self.moves(arg) { "" } else { "constant " };
        Some(format!("{what} writes to the {constant}input `{}`", self.call.plan.args[arg].name))
    }
}
