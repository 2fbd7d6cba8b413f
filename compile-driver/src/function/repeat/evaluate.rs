//! One evaluation of a loop: arrays in, the step's code chosen and verified, all steps run, results handed over.

use crate::call::arguments::{Call, Input, Results, View};
use crate::call::batch_loop::add;
use crate::call::crash_guard::OUT_OF_MEMORY;
use crate::call::results::{Repeatable, ResultWriter};
use crate::call::scratch::{Frame, NoMemory};
use crate::call::task::Task;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::repeat::budget;
use crate::function::repeat::memory::{Layout, Meter, Room, StepMemory};
use crate::function::repeat::places::{Arrays, Binding};
use crate::function::repeat::sweep::{Ended, Loop, States, inputs_at};
use crate::function::repeat::{Checkpointing, Repeat};
use crate::function::trust::paths;
use crate::function::watch::Watch;
use crate::os::{free_memory, size};
use core_ad::DerivativeSet;
use core_ad::checkpoint::Cost;
use core_ad::diagnostics::Diagnosis;
use core_ad::plan::CallPlan;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::signature::repeat::Share;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// At most so many steps of a sweep are checked, until a check is conclusive.
const MOST_TRIED: usize = 64;

/// One evaluation, with what of it never changes.
pub(super) struct Evaluation<'e> {
    pub whole: &'e Function,
    pub repeat: &'e Repeat,
    pub task: &'e Task<'e>,
    /// The shapes of the whole loop.
    pub resolved: &'e Resolved,
    pub call: &'e Call<'e>,
    /// Of one step.
    pub one: &'e Resolved,
    pub layout: &'e Layout,
    pub meter: &'e Meter,
}

/// A gradient that is added to what is there already.
struct Sum {
    arg: usize,
    own: Room,
    target: *mut u8,
    bytes: usize,
}

impl Function {
    /// Evaluates a loop over steps.
    ///
    /// # Errors
    ///
    /// As a call of its step; not enough memory for the snapshots asked for.
    pub(crate) fn evaluate_loop(&self, repeat: &Repeat, task: &Task<'_>, results: &mut dyn Results) -> Result<()> {
        let mut results = Repeatable::new(results);
        while self.run_loop(repeat, task, &mut results)? == Ended::Again {}
        Ok(())
    }

    fn run_loop(&self, repeat: &Repeat, task: &Task<'_>, results: &mut dyn Results) -> Result<Ended> {
        let plan = &self.opened.manifest.plan;
        let resolved = self.resolve_element(task.inputs)?;
        task.check(&self.opened.spec.function, plan, &resolved)?;
        let steps = self.steps(repeat, task, &resolved)?;
        let frame = Frame::open();
        let call = self.opened.call(&resolved, &frame);
        let meter = Meter::default();
        let shapes = one_step(repeat, &resolved);
        let one = repeat.step.resolve_element(&inputs_of_shapes(repeat, plan, task.inputs, &shapes))?;
        let step_plan = &repeat.step.opened.manifest.plan;
        let carried = |arg: usize| {
            let bytes = one.elements(arg) * step_plan.args[arg].dtype.size();
            (repeat.repetition.shares[arg] == Share::Carried).then_some(bytes)
        };
        let layout = Layout::new((0..step_plan.args.len()).map(carried));
        let (layout, meter) = (&layout, &meter);
        let evaluation =
            Evaluation { whole: self, repeat, task, resolved: &resolved, call: &call, one: &one, layout, meter };
        evaluation.run(steps, results)
    }

    /// The number of steps of a call.
    fn steps(&self, repeat: &Repeat, task: &Task<'_>, resolved: &Resolved) -> Result<usize> {
        let sizes = &self.opened.spec.options.sizes;
        let steps = match repeat.repetition.counted.map(|at| &task.inputs[at]) {
            None => repeat.repetition.steps(resolved, sizes),
            Some(Input::Int(value)) => *value,
            Some(Input::Bool(value)) => i64::from(*value),
            // SAFETY: checked to be an array of one 64-bit integer, which the caller promises to be there.
            Some(Input::Array(view)) => unsafe { view.data.cast::<i64>().read_unaligned() },
            Some(Input::Float(_)) => 0,
        };
        usize::try_from(steps).map_err(|_| {
            let (function, symbol) = (&self.opened.spec.function, &repeat.repetition.symbol);
            let headline = format!("`{symbol}`, the number of steps of `{function}`, is {steps}");
            Error::Arity(Box::new(Diagnosis::new("repeat", function, headline).advise("It is 0 or more.")))
        })
    }
}

/// The shapes of the step's arguments: the loop's without their first dimension.
fn one_step(repeat: &Repeat, resolved: &Resolved) -> Vec<Vec<i64>> {
    let shape = |(arg, share): (usize, &Share)| match share {
        Share::Sliced | Share::SlicedInPlace | Share::Stacked => resolved.shapes[arg][1..].to_vec(),
        _ => resolved.shapes[arg].clone(),
    };
    repeat.repetition.shares.iter().enumerate().map(shape).collect()
}

/// Inputs of a step that have its shapes and nothing in them: enough to resolve its sizes.
fn inputs_of_shapes<'s>(
    repeat: &Repeat,
    plan: &CallPlan,
    inputs: &[Input<'_>],
    shapes: &'s [Vec<i64>],
) -> Vec<Input<'s>> {
    let step = &repeat.step.opened.manifest.plan;
    let input = |(position, &arg): (usize, &usize)| match inputs[repeat.repetition.input_of_loop(position)] {
        Input::Int(value) => Input::Int(value),
        Input::Float(value) => Input::Float(value),
        Input::Bool(value) => Input::Bool(value),
        Input::Array(view) => {
            Input::Array(View { data: view.data, dtype: plan.args[arg].dtype, shape: &shapes[arg], strides: None })
        }
    };
    step.inputs.iter().enumerate().map(input).collect()
}

impl Evaluation<'_> {
    fn run(&self, steps: usize, results: &mut dyn Results) -> Result<Ended> {
        let started = Instant::now();
        let entry = self.task.entry;
        let step = &*self.repeat.step;
        let plan = &step.opened.manifest.plan;
        let wanted = self.wanted();
        let is_reverse = matches!(entry, Entry::Vjp | Entry::Hvp);
        if is_reverse && self.mask() == 0 {
            return Ok(Ended::Done);
        }
        let mut writer = ResultWriter::new(results, self.call, entry);
        let mut arrays = self.arrays()?;
        let mut sums = Vec::new();
        let state_results = self.allocate(&mut writer, &mut arrays, &mut sums)?;
        let mut states = States::new(entry, self.layout, self.meter).map_err(|lack| self.lack(&lack))?;
        self.fill(&mut states, &arrays)?;
        if steps > 0 {
            let sizes = self.sizes()?;
            let memory = StepMemory::new(self.meter);
            let binding = Binding {
                plan,
                shares: &self.repeat.repetition.shares,
                resolved: self.one,
                layout: self.layout,
                memory: &memory,
                sizes: &sizes,
            };
            let strides = self.strides();
            let inputs = inputs_at(&binding, &strides, &arrays, states.memory.primal, 0);
            let task = Task { inputs: &inputs, mask: wanted.mask, ..Task::primal(&inputs, 0) };
            let task = Task { entry, ..task };
            let artifact = step.artifact_for(&task, wanted, self.one)?;
            // Where this step was checked just now, the others were not.
            let watch = step.watch(&artifact, entry, wanted, self.one, paths::checks());
            let primal = step.opened.primal_artifact()?;
            let mut one = Loop {
                step,
                binding: &binding,
                strides: &strides,
                steps,
                until: self.repeat.until,
                wanted,
                artifact: &artifact,
                primal: &primal,
            };
            if one.until.is_some() && entry != Entry::Primal {
                one.steps = self.count(&one, &arrays)?;
            }
            self.check(&one, &arrays)?;
            let (ended, ran) = match is_reverse {
                false => one.forward(entry, &arrays, &mut states, watch.as_ref(), self.meter)?,
                true => (self.reverse(&one, &arrays, &mut states, watch.as_ref(), started)?, steps),
            };
            if ended == Ended::Again {
                return Ok(Ended::Again);
            }
            self.clear_behind(&binding, &arrays, ran..steps);
        }
        self.hand_over(&states, &state_results);
        for sum in &mut sums {
            let dtype = plan.args[sum.arg].dtype;
            // SAFETY: both have the gradient's bytes; the target is the front end's.
            unsafe { add(dtype, sum.own.start(), sum.target, sum.bytes) };
        }
        writer.finish()?;
        Ok(Ended::Done)
    }

    /// How many steps a loop runs that a step ends.
    fn count(&self, one: &Loop<'_>, arrays: &Arrays) -> Result<usize> {
        let mut states = States::new(Entry::Primal, self.layout, &Meter::default()).map_err(|lack| self.lack(&lack))?;
        self.fill_primal(states.memory.primal)?;
        one.count(arrays, &mut states, &Meter::default())
    }

    /// Zeroes what steps write that did not run.
    fn clear_behind(&self, binding: &Binding<'_>, arrays: &Arrays, not_run: Range<usize>) {
        let stacked = |&(arg, result): &(usize, &*mut u8)| binding.shares[arg] == Share::Stacked && !result.is_null();
        for (arg, result) in arrays.results.iter().enumerate().filter(stacked) {
            let bytes = binding.bytes(arg);
            // SAFETY: the result has room for a value of each step.
            unsafe { result.add(not_run.start * bytes).write_bytes(0, not_run.len() * bytes) };
        }
    }

    fn reverse(
        &self,
        one: &Loop<'_>,
        arrays: &Arrays,
        states: &mut States,
        watch: Option<&Watch<'_>>,
        started: Instant,
    ) -> Result<Ended> {
        let (entry, step) = (self.task.entry, one.step);
        let parts = if entry == Entry::Hvp { 2 } else { 1 };
        let state = parts * self.layout.bytes;
        let options = &self.whole.opened.spec.options;
        let plan = budget::plan(&self.whole.opened.spec.function, options, one.steps, state)?;
        let (snapshots, cost) = (plan.schedule.slots(), Cost::of(plan.schedule.clone()));
        let on_disk = plan.on_disk.as_ref().map_or(0, |disk| disk.slots);
        let mut tried = 0;
        let mut check = |inputs: &[Input<'_>]| {
            tried += 1;
            if !step.needs_check_at(tried.min(MOST_TRIED), one.wanted, self.one) {
                return Ok(Ended::Done);
            }
            let task = Task { entry, mask: one.wanted.mask, ..Task::primal(inputs, 0) };
            let chosen = step.artifact_for(&task, one.wanted, self.one)?;
            Ok(if Arc::ptr_eq(&chosen, one.artifact) { Ended::Done } else { Ended::Again })
        };
        let (ended, disk) = one.backward(entry, arrays, states, plan, (watch, &mut check, self.meter))?;
        let last = Checkpointing {
            steps: one.steps,
            snapshots,
            on_disk,
            disk,
            advanced: cost.advanced,
            state,
            peak: self.meter.peak(),
            time: started.elapsed(),
        };
        *self.repeat.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        Ok(ended)
    }

    /// The loop's inputs whose derivative is asked for.
    fn asked(&self) -> u64 {
        let given = |views: &[Option<View<'_>>]| {
            views.iter().enumerate().map(|(p, view)| u64::from(view.is_some()) << p).sum::<u64>()
        };
        let task = self.task;
        let mask = match task.entry {
            Entry::Jvp => given(task.tangents),
            Entry::Jvp2 => given(task.tangents) | given(task.directions),
            Entry::Hvp => task.mask | given(task.tangents),
            _ => task.mask,
        };
        mask & self.whole.opened.plan_flags.differentiable
    }

    /// Inputs of the loop whose gradient is wanted.
    fn mask(&self) -> u64 {
        self.task.mask & self.whole.opened.plan_flags.differentiable
    }

    /// The derivatives of a step that this needs: what is carried has one always.
    fn wanted(&self) -> DerivativeSet {
        let step = &self.repeat.step;
        let mask = self.repeat.step_mask(self.asked());
        step.opened.served_by(match self.task.entry {
            Entry::Hvp => DerivativeSet::second(mask),
            Entry::Jvp2 => DerivativeSet::forward(mask),
            _ => DerivativeSet::first(mask),
        })
    }

    pub(super) fn lack(&self, lack: &NoMemory) -> Error {
        lack.in_call_of(&self.whole.opened.spec.function)
    }

    /// The caller's arrays, without gaps; not those of the state.
    fn arrays(&self) -> Result<Arrays> {
        let (shares, plan) = (&self.repeat.repetition.shares, self.call.plan);
        let mut arrays = Arrays::none(shares.len());
        for (position, &arg) in plan.inputs.iter().enumerate().filter(|(_, arg)| **arg < shares.len()) {
            if shares[arg] != Share::Carried {
                arrays.inputs[arg] = self.call.input(arg, &self.task.inputs[position])?;
            }
            arrays.tangents[arg] = self.shadow(arg, self.task.tangents.get(position))?;
            arrays.directions[arg] = self.shadow(arg, self.task.directions.get(position))?;
        }
        for (position, &arg) in plan.outputs.iter().enumerate() {
            arrays.cotangents[arg] = self.shadow(arg, self.task.cotangents.get(position))?;
        }
        Ok(arrays)
    }

    fn shadow(&self, arg: usize, view: Option<&Option<View<'_>>>) -> Result<*mut u8> {
        match view.copied().flatten().filter(|_| self.call.plan.args[arg].dtype.is_float()) {
            Some(view) => self.call.input(arg, &Input::Array(view)),
            None => Ok(std::ptr::null_mut()),
        }
    }

    /// Memory for results: of single steps in `arrays`, and of the state, by argument.
    fn allocate(
        &self,
        writer: &mut ResultWriter<'_>,
        arrays: &mut Arrays,
        sums: &mut Vec<Sum>,
    ) -> Result<Vec<(usize, *mut u8)>> {
        let (plan, shares, entry) = (self.call.plan, &self.repeat.repetition.shares, self.task.entry);
        let is_reverse = matches!(entry, Entry::Vjp | Entry::Hvp);
        let mask = self.mask();
        let all = if is_reverse { &plan.inputs } else { &plan.outputs };
        let is_wanted = |position: usize, arg: usize| match entry {
            Entry::Primal => true,
            Entry::Vjp | Entry::Hvp => mask >> position & 1 == 1,
            _ => plan.args[arg].dtype.is_float(),
        };
        let mut state = Vec::new();
        self.fits_memory(all)?;
        for (position, &arg) in all.iter().enumerate().filter(|&(p, &arg)| is_wanted(p, arg)) {
            let memory = writer.allocate(position, plan.args[arg].dtype, &self.resolved.shapes[arg])?;
            if memory.is_null() {
                continue;
            }
            if shares[arg] == Share::Carried {
                state.push((arg, memory));
                continue;
            }
            let bytes = self.call.bytes(arg);
            if writer.adds(position) {
                let mut own = Room::new(bytes, self.meter).map_err(|lack| self.lack(&lack))?;
                arrays.results[arg] = own.start();
                sums.push(Sum { arg, own, target: memory, bytes });
                continue;
            }
            if is_reverse {
                // SAFETY: the front end allocated room for the result.
                unsafe { memory.write_bytes(0, bytes) };
            }
            arrays.results[arg] = memory;
        }
        Ok(state)
    }

    /// Refuses results of steps that are larger than what is free: a number of steps that was meant as no bound.
    fn fits_memory(&self, args: &[usize]) -> Result<()> {
        let is_repeated = |arg: &&usize| self.repeat.repetition.shares.get(**arg) == Some(&Share::Stacked);
        // The system is asked only where a step has outputs of its own.
        let Some(&arg) = args.iter().filter(is_repeated).max_by_key(|arg| self.call.bytes(**arg)) else {
            return Ok(());
        };
        let Some(free) = free_memory::bytes().filter(|free| self.call.bytes(arg) as u64 > *free) else {
            return Ok(());
        };
        let (function, name) = (&self.whole.opened.spec.function, &self.call.plan.args[arg].name);
        let (steps, bytes) = (self.resolved.shapes[arg][0], size::written(self.call.bytes(arg) as u64));
        let headline =
            format!("`{name}` of `{function}` has room for {steps} steps: {bytes}, {} are free", size::written(free));
        Err(Error::Memory(Box::new(
            Diagnosis::new(OUT_OF_MEMORY, function, headline).advise(
                "Give the most steps that there can be, or leave the output out of the signature (behind `;`).",
            ),
        )))
    }

    /// The state before the first step, and its derivatives: tangents, or cotangents behind the last step.
    pub(super) fn fill(&self, states: &mut States, arrays: &Arrays) -> Result<()> {
        let memory = states.memory;
        let (forward, second) = match self.task.entry {
            Entry::Jvp => (memory.shadow, std::ptr::null_mut()),
            Entry::Hvp => (memory.direction, std::ptr::null_mut()),
            Entry::Jvp2 => (memory.shadow, memory.direction),
            _ => (std::ptr::null_mut(), std::ptr::null_mut()),
        };
        let is_reverse = matches!(self.task.entry, Entry::Vjp | Entry::Hvp);
        let backward = if is_reverse { memory.shadow } else { std::ptr::null_mut() };
        let pairs = [(forward, &arrays.tangents), (second, &arrays.directions), (backward, &arrays.cotangents)];
        self.fill_primal(memory.primal)?;
        for arg in self.layout.args() {
            let (offset, bytes) = (self.layout.offset(arg), self.call.bytes(arg));
            for (target, from) in pairs.iter().filter(|(target, from)| !target.is_null() && !from[arg].is_null()) {
                // SAFETY: the state has room for the argument; what is given has its shape.
                unsafe { target.add(offset).copy_from_nonoverlapping(from[arg], bytes) };
            }
        }
        Ok(())
    }

    /// The state before the first step.
    pub(super) fn fill_primal(&self, primal: *mut u8) -> Result<()> {
        for arg in self.layout.args() {
            let position = self.call.plan.inputs.iter().position(|&i| i == arg).unwrap_or(0);
            self.call.copy_input(&self.task.inputs[position], arg, primal.wrapping_add(self.layout.offset(arg)))?;
        }
        Ok(())
    }

    /// Copies what the state has become to its results.
    fn hand_over(&self, states: &States, results: &[(usize, *mut u8)]) {
        let memory = states.memory;
        let from = match self.task.entry {
            Entry::Vjp | Entry::Jvp => memory.shadow,
            Entry::Hvp | Entry::Jvp2 => memory.change,
            _ => memory.primal,
        };
        for &(arg, target) in results {
            // SAFETY: both have the argument's bytes.
            unsafe {
                target.copy_from_nonoverlapping(from.wrapping_add(self.layout.offset(arg)), self.call.bytes(arg));
            }
        }
    }

    /// The addresses of sizes, which live as long as the call.
    fn sizes(&self) -> Result<Vec<*mut u8>> {
        let call = Call { plan: &self.repeat.step.opened.manifest.plan, resolved: self.one, ..*self.call };
        let address = |(arg, share): (usize, &Share)| match share {
            Share::Size => call.size(arg),
            _ => Ok(std::ptr::null_mut()),
        };
        self.repeat.repetition.shares.iter().enumerate().map(address).collect()
    }

    /// The strides of arguments in Fortran's order.
    fn strides(&self) -> Vec<Option<Vec<i64>>> {
        let of = |(arg, shape): (usize, &Vec<i64>)| {
            self.repeat.step.opened.manifest.plan.args[arg].column_major.then(|| {
                let mut strides = vec![1; shape.len()];
                for d in 1..shape.len() {
                    strides[d] = strides[d - 1] * shape[d - 1].max(1);
                }
                strides
            })
        };
        self.one.shapes.iter().enumerate().map(of).collect()
    }
}
