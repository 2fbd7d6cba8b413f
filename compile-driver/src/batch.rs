//! Calls over a batch: one loop in here over the elements, each a call of the same entry point.
//!
//! An array of such a call has leading batch dimensions, or is shared by all elements. Shapes are checked, memory is
//! taken and the derivative is proven once; per element only addresses move. The gradient of a shared input is the
//! sum over the elements, which the reverse mode makes by itself: all elements add to the same memory.
//!
//! With the option `threads` the elements are dealt out in as many runs of neighbours. Each run but the first sums into
//! memory of its own; those are added in their order, so that the result does not depend on who was fast. The threads
//! are started for the call: a pool would not survive the `fork` of a data loader, and a second OpenMP runtime in the
//! process would abort it.

use crate::artifact::{Artifact, Wanted};
use crate::call::{self, Input, Results, View};
use crate::derivative::Task;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::lanes::{self, Job, Lane, Target};
use core_ad::Role;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::shapes::batch::{self, Lead};
use std::sync::Arc;

/// Which arrays of a call have leading batch dimensions. They have all of them, each of the batch's size or 1; the
/// others are shared by all elements. Bit i stands for the i-th.
#[derive(Clone, Copy, Debug, Default)]
pub struct Batch<'a> {
    /// The batch dimensions.
    pub shape: &'a [i64],
    /// Inputs that have them.
    pub inputs: u64,
    /// Cotangents that have them.
    pub cotangents: u64,
    /// Tangents that have them.
    pub tangents: u64,
    /// Inputs whose gradient is wanted for each element, though they are shared; else it is summed.
    pub separate: u64,
}

impl Function {
    /// [`Function::primal`] for each element of a batch. Results have the batch dimensions too.
    ///
    /// # Errors
    ///
    /// As there; an exception of the foreign code names the element.
    pub fn primal_over(
        &self,
        batch: &Batch<'_>,
        inputs: &[Input<'_>],
        expected: u64,
        results: &mut dyn Results,
    ) -> Result<()> {
        self.perform_over(batch, &Task::primal(inputs, expected), results)
    }

    /// [`Function::vjp`] for each element of a batch. The gradient of a shared input is summed over the elements,
    /// unless the batch says `separate`; a batch of no elements has the sum zero.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn vjp_over(
        &self,
        batch: &Batch<'_>,
        inputs: &[Input<'_>],
        cotangents: &[Option<View<'_>>],
        mask: u64,
        results: &mut dyn Results,
    ) -> Result<()> {
        self.perform_over(batch, &Task::vjp(inputs, cotangents, mask), results)
    }

    /// [`Function::jvp`] for each element of a batch.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn jvp_over(
        &self,
        batch: &Batch<'_>,
        inputs: &[Input<'_>],
        tangents: &[Option<View<'_>>],
        results: &mut dyn Results,
    ) -> Result<()> {
        self.perform_over(batch, &Task::jvp(inputs, tangents), results)
    }

    /// [`Function::hvp`] for each element of a batch; shared inputs as in [`Function::vjp_over`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn hvp_over(
        &self,
        batch: &Batch<'_>,
        inputs: &[Input<'_>],
        cotangents: &[Option<View<'_>>],
        tangents: &[Option<View<'_>>],
        mask: u64,
        results: &mut dyn Results,
    ) -> Result<()> {
        self.perform_over(batch, &Task { entry: Entry::Hvp, inputs, cotangents, tangents, mask }, results)
    }

    pub(crate) fn perform_over(&self, batch: &Batch<'_>, task: &Task<'_>, results: &mut dyn Results) -> Result<()> {
        call::check_types(&self.spec.function, &self.manifest.plan, task.inputs)?;
        let split = Split::new(self, batch, task)?;
        let count = self.count(&split.shape)?;
        let first = Task {
            inputs: &split.inputs.first,
            cotangents: &split.cotangents.first,
            tangents: &split.tangents.first,
            ..*task
        };
        let resolved = self.resolve(first.inputs)?;
        self.check_task(&first, &resolved)?;
        let wanted = self.wanted(&first);
        let mut targets = self.targets(batch, &split, &first, wanted, &resolved, results)?;
        if count == 0 {
            return Ok(());
        }
        let artifact = self.prove_over(&split, &first, wanted, &resolved, count)?;
        let job = Job { function: self, artifact: &artifact, resolved: &resolved, task: first, wanted, split: &split };
        lanes::run(&job, count, &mut targets, self.spec.options.threads)
    }

    fn count(&self, shape: &[i64]) -> Result<usize> {
        batch::count(shape).ok_or_else(|| {
            let function = &self.spec.function;
            let headline = format!("a batch of {shape:?} calls of `{function}` is larger than any memory");
            Error::Arity(Box::new(Diagnosis::new("batch-size", function, headline)))
        })
    }

    /// The artifact, proven at the first element, or at as many as it takes.
    fn prove_over(
        &self,
        split: &Split<'_>,
        first: &Task<'_>,
        wanted: Wanted,
        resolved: &Resolved,
        count: usize,
    ) -> Result<Arc<Artifact>> {
        let mut artifact = self.artifact_for(first, wanted, resolved)?;
        let differentiates = first.entry != Entry::Primal;
        let mut element = 1;
        while differentiates && element < count && !self.is_settled(wanted) {
            let mut inputs = split.inputs.first.clone();
            lanes::advance_inputs(&mut inputs, &split.inputs.lanes, &lanes::index_of(element, &split.shape));
            let task = Task { inputs: &inputs, ..*first };
            artifact = self.artifact_for(&task, wanted, resolved)?;
            element += 1;
        }
        Ok(artifact)
    }

    /// Takes memory for every result and says where each element's part of it lies.
    fn targets(
        &self,
        batch: &Batch<'_>,
        split: &Split<'_>,
        task: &Task<'_>,
        wanted: Wanted,
        resolved: &Resolved,
        results: &mut dyn Results,
    ) -> Result<Vec<Target>> {
        let plan = &self.manifest.plan;
        let mut targets = Vec::new();
        let mut take = |position: usize, arg: usize, own: &[i64], overwritten: bool| -> Result<()> {
            let shape = [own, resolved.shapes[arg].as_slice()].concat();
            let memory = results.allocate(position, plan.args[arg].dtype, &shape)?;
            targets.push(Target::new(position, plan.args[arg].dtype, memory, &shape, own, &split.shape, overwritten));
            Ok(())
        };
        match task.entry {
            Entry::Primal | Entry::Jvp => {
                let is_wanted = |arg: usize| task.entry == Entry::Primal || plan.has_shadow(arg, wanted.mask);
                for (position, &arg) in plan.outputs.iter().enumerate().filter(|&(_, &arg)| is_wanted(arg)) {
                    take(position, arg, &split.shape, false)?;
                }
            }
            Entry::Vjp | Entry::Hvp => {
                let mask = task.mask & plan.differentiable_mask();
                let inputs = plan.inputs.iter().enumerate();
                for (position, &arg) in inputs.filter(|&(p, &arg)| mask >> p & 1 == 1 && plan.has_shadow(arg, mask)) {
                    let own = match batch.separate >> position & 1 == 1 {
                        true => batch.shape.to_vec(),
                        false => split.inputs.own[position].clone(),
                    };
                    take(position, arg, &own, plan.args[arg].role == Role::InOut)?;
                }
            }
        }
        Ok(targets)
    }
}

/// The arrays of one kind: their part for the first element, and how the others lie to it.
pub(crate) struct Arrays<T> {
    pub first: Vec<T>,
    pub lanes: Vec<Lane>,
    /// The batch dimensions that each has.
    pub own: Vec<Vec<i64>>,
}

/// Every array of a call, taken apart into elements.
pub(crate) struct Split<'a> {
    /// The batch dimensions of the call.
    pub shape: Vec<i64>,
    pub inputs: Arrays<Input<'a>>,
    pub cotangents: Arrays<Option<View<'a>>>,
    pub tangents: Arrays<Option<View<'a>>>,
}

impl<'a> Split<'a> {
    fn new(function: &Function, batch: &Batch<'_>, task: &Task<'a>) -> Result<Self> {
        let plan = &function.manifest.plan;
        let shape = batch.shape.to_vec();
        let lead = |arg: usize, view: &View<'_>, mapped: bool| batch::lead(plan, arg, view.shape, batch.shape, mapped);
        let mut inputs = Arrays { first: Vec::new(), lanes: Vec::new(), own: Vec::new() };
        for (position, (&arg, input)) in plan.inputs.iter().zip(task.inputs).enumerate() {
            let mapped = batch.inputs >> position & 1 == 1;
            match input {
                Input::Array(view) => {
                    inputs.add(view, lead(arg, view, mapped)?, &shape, Input::Array);
                }
                number => inputs.add_shared(*number),
            }
        }
        let shadows = |what: &str, args: &[usize], views: &[Option<View<'a>>], mapped: u64| {
            if args.len() != views.len() {
                return Err(function.wrong_count(what, args.len(), views.len()));
            }
            let mut arrays = Arrays { first: Vec::new(), lanes: Vec::new(), own: Vec::new() };
            for (position, (&arg, view)) in args.iter().zip(views).enumerate() {
                match view.as_ref().filter(|_| plan.args[arg].dtype.is_float()) {
                    Some(view) => arrays.add(view, lead(arg, view, mapped >> position & 1 == 1)?, &shape, Some),
                    None => arrays.add_shared(None),
                }
            }
            Ok(arrays)
        };
        let (outputs, given) = (plan.outputs.as_slice(), plan.inputs.as_slice());
        let takes = |entries: [Entry; 2]| entries.contains(&task.entry);
        let outputs = if takes([Entry::Vjp, Entry::Hvp]) { outputs } else { &[] };
        let given = if takes([Entry::Jvp, Entry::Hvp]) { given } else { &[] };
        let cotangents = shadows("cotangent", outputs, task.cotangents, batch.cotangents)?;
        let tangents = shadows("tangent", given, task.tangents, batch.tangents)?;
        Ok(Split { shape, inputs, cotangents, tangents })
    }
}

impl<'a, T> Arrays<T> {
    fn add(&mut self, view: &View<'a>, lead: Lead, batch: &[i64], wrap: impl Fn(View<'a>) -> T) {
        let (element, lane, own) = lanes::element(view, lead, batch);
        self.first.push(wrap(element));
        self.lanes.push(lane);
        self.own.push(own);
    }

    fn add_shared(&mut self, value: T) {
        self.first.push(value);
        self.lanes.push(Lane::default());
        self.own.push(Vec::new());
    }
}
