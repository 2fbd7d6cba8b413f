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
use crate::proven::Due;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::shapes::batch::{self, Lead};
use core_ad::{CallPlan, Role};
use std::sync::Arc;

/// How many elements are tried until one proves something at sizes that are new to a proven derivative.
const MOST_TRIED: usize = 64;

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
    /// Directions that have them.
    pub directions: u64,
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
        self.perform_over(batch, &Task::hvp(inputs, cotangents, tangents, mask), results)
    }

    /// [`Function::jvp2`] for each element of a batch.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn jvp2_over(
        &self,
        batch: &Batch<'_>,
        inputs: &[Input<'_>],
        tangents: &[Option<View<'_>>],
        directions: &[Option<View<'_>>],
        results: &mut dyn Results,
    ) -> Result<()> {
        self.perform_over(batch, &Task::jvp2(inputs, tangents, directions), results)
    }

    pub(crate) fn perform_over(&self, batch: &Batch<'_>, task: &Task<'_>, results: &mut dyn Results) -> Result<()> {
        call::check_types(&self.spec.function, &self.manifest.plan, task.inputs)?;
        let split = Split::new(self, batch, task)?;
        let count = self.count(&split.shape)?;
        let first = Task {
            inputs: &split.inputs.first,
            cotangents: &split.cotangents.first,
            tangents: &split.tangents.first,
            directions: &split.directions.first,
            ..*task
        };
        let resolved = self.resolve_element(first.inputs)?;
        self.check_task(&first, &resolved)?;
        let wanted = self.wanted(&first);
        let mut targets = self.targets(batch, &split, &first, wanted, &resolved, results)?;
        if count == 0 {
            return Ok(());
        }
        let artifact = self.prove_over(&split, &first, wanted, &resolved, count)?;
        let job = Job { function: self, artifact: &artifact, resolved: &resolved, task: first, wanted, split: &split };
        lanes::run(&job, count, &mut targets, self.spec.options.threads.unwrap_or(1))
    }

    /// The shapes of a call over the batch that `...` stands for.
    pub(crate) fn resolve_over(&self, inputs: &[Input<'_>]) -> Result<Resolved> {
        let plan = &self.manifest.plan;
        call::check_types(&self.spec.function, plan, inputs)?;
        let split = Split::new(self, &Batch::default(), &Task::primal(inputs, 0))?;
        let mut resolved = Resolved::clone(&*self.resolve_element(&split.inputs.first)?);
        for (arg, shape) in resolved.shapes.iter_mut().enumerate() {
            let given = plan.inputs.iter().position(|&i| i == arg);
            match given.and_then(|p| split.inputs.leads.get(p)) {
                // What is updated in place is returned for every element, as any output.
                Some((_, own)) if !plan.outputs.contains(&arg) => shape.splice(..0, own.iter().copied()),
                _ if plan.args[arg].batched => shape.splice(..0, split.shape.iter().copied()),
                _ => continue,
            };
        }
        Ok(resolved)
    }

    /// The batch dimensions that a shadow has because of `...` must be those of its argument.
    fn check_lead(&self, what: &str, arg: usize, view: &View<'_>, lead: Lead, own: &[i64]) -> Result<()> {
        let arg = &self.manifest.plan.args[arg];
        let got = &view.shape[lead.mapped..lead.count()];
        if !arg.batched || got == own {
            return Ok(());
        }
        let function = &self.spec.function;
        let headline = format!("the {what} of `{}` of `{function}` has the wrong batch dimensions", arg.spelled());
        Err(Error::Arity(Box::new(
            Diagnosis::new("shadow-shape", function, headline).mismatch(format!("{own:?}"), format!("{got:?}")),
        )))
    }

    fn count(&self, shape: &[i64]) -> Result<usize> {
        batch::count(shape).ok_or_else(|| {
            let function = &self.spec.function;
            let headline = format!("a batch of {shape:?} calls of `{function}` is larger than any memory");
            Error::Arity(Box::new(Diagnosis::new("batch-size", function, headline)))
        })
    }

    /// The artifact, proven at the first element, or at as many as it takes; of new sizes of a proven derivative at the first ones,
    /// for there may be nothing to prove. Where each call is checked each element is.
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
        while differentiates && element < count && self.is_to_be_proven_at(element, wanted, resolved) {
            let mut inputs = split.inputs.first.clone();
            lanes::advance_inputs(&mut inputs, &split.inputs.lanes, &lanes::index_of(element, &split.shape));
            let task = Task { inputs: &inputs, ..*first };
            artifact = self.artifact_for(&task, wanted, resolved)?;
            element += 1;
        }
        Ok(artifact)
    }

    fn is_to_be_proven_at(&self, element: usize, wanted: Wanted, resolved: &Resolved) -> bool {
        match self.due(wanted, resolved) {
            Due::Nothing => false,
            Due::Proof => element < MOST_TRIED,
            Due::Each => true,
        }
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
        let mut take = |position: usize, arg: usize, lead: (Lead, &[i64]), overwritten: bool| -> Result<()> {
            let (dtype, shape) = (plan.args[arg].dtype, [lead.1, resolved.shapes[arg].as_slice()].concat());
            let memory = results.allocate(position, dtype, &shape)?;
            targets.push(Target::new(position, dtype, memory, &shape, lead.0, &split.shape, overwritten));
            Ok(())
        };
        match task.entry {
            Entry::Primal | Entry::Jvp | Entry::Jvp2 | Entry::Augmented => {
                let is_wanted = |arg: usize| task.entry == Entry::Primal || plan.has_shadow(arg, wanted.mask);
                for (position, &arg) in plan.outputs.iter().enumerate().filter(|&(_, &arg)| is_wanted(arg)) {
                    take(position, arg, (split.whole(), &split.shape), false)?;
                }
            }
            Entry::Vjp | Entry::Hvp | Entry::Reverse => {
                let mask = task.mask & self.facts.differentiable;
                let inputs = plan.inputs.iter().enumerate();
                for (position, &arg) in inputs.filter(|&(p, &arg)| mask >> p & 1 == 1 && plan.has_shadow(arg, mask)) {
                    let (lead, own) = &split.inputs.leads[position];
                    let lead = match batch.separate >> position & 1 == 1 {
                        true => (Lead { mapped: split.mapped, ..*lead }, [batch.shape, &own[lead.mapped..]].concat()),
                        false => (*lead, own.clone()),
                    };
                    take(position, arg, (lead.0, &lead.1), plan.args[arg].role == Role::InOut)?;
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
    /// The batch dimensions of each.
    pub leads: Vec<(Lead, Vec<i64>)>,
}

/// Every array of a call, taken apart into elements.
pub(crate) struct Split<'a> {
    /// The batch dimensions of the call: those that the caller maps over, then those of `...`.
    pub shape: Vec<i64>,
    /// How many the caller maps over.
    mapped: usize,
    pub inputs: Arrays<Input<'a>>,
    pub cotangents: Arrays<Option<View<'a>>>,
    pub tangents: Arrays<Option<View<'a>>>,
    pub directions: Arrays<Option<View<'a>>>,
}

impl<'a> Split<'a> {
    fn new(function: &Function, batch: &Batch<'_>, task: &Task<'a>) -> Result<Self> {
        let plan = &function.manifest.plan;
        let has = |mask: u64, position: usize| mask >> position & 1 == 1;
        let (shapes, leads) = input_leads(plan, batch, task.inputs)?;
        let inner = batch::broadcast(plan, &shapes, &leads)?;
        let shape = [batch.shape, &inner].concat();
        let mut inputs = Arrays::default();
        for (input, &lead) in task.inputs.iter().zip(&leads) {
            match input {
                Input::Array(view) => inputs.add(view, lead, shape.len(), Input::Array),
                number => inputs.add_shared(*number),
            }
        }
        let takes = |entries: &[Entry]| entries.contains(&task.entry);
        let mut cotangents = Arrays::default();
        for (position, view) in
            shadows(function, "cotangent", &plan.outputs, task.cotangents, takes(&[Entry::Vjp, Entry::Hvp]))?
        {
            let arg = plan.outputs[position];
            let Some(view) = view else {
                cotangents.add_shared(None);
                continue;
            };
            let lead = batch::lead(plan, arg, view.shape, batch.shape, has(batch.cotangents, position))?;
            function.check_lead("cotangent", arg, &view, lead, &inner)?;
            cotangents.add(&view, lead, shape.len(), Some);
        }
        let along = |what: &str, views: &[Option<View<'a>>], mapped: u64, taken: bool| {
            let mut arrays = Arrays::default();
            for (position, view) in shadows(function, what, &plan.inputs, views, taken)? {
                let arg = plan.inputs[position];
                let Some(view) = view else {
                    arrays.add_shared(None);
                    continue;
                };
                let lead = batch::lead(plan, arg, view.shape, batch.shape, has(mapped, position))?;
                let own = &shapes[position][leads[position].mapped..leads[position].count()];
                function.check_lead(what, arg, &view, lead, own)?;
                arrays.add(&view, lead, shape.len(), Some);
            }
            Ok::<_, Error>(arrays)
        };
        let given = takes(&[Entry::Jvp, Entry::Hvp, Entry::Jvp2]);
        let tangents = along("tangent", task.tangents, batch.tangents, given)?;
        let directions = along("direction", task.directions, batch.directions, takes(&[Entry::Jvp2]))?;
        Ok(Split { shape, mapped: batch.shape.len(), inputs, cotangents, tangents, directions })
    }

    /// The batch dimensions of a result that has all of them.
    fn whole(&self) -> Lead {
        Lead { mapped: self.mapped, own: self.shape.len() - self.mapped }
    }
}

/// The shapes of the inputs, and which of their dimensions are the batch's.
fn input_leads<'a>(plan: &CallPlan, batch: &Batch<'_>, inputs: &[Input<'a>]) -> Result<(Vec<&'a [i64]>, Vec<Lead>)> {
    let shape = |input: &Input<'a>| match input {
        Input::Array(view) => view.shape,
        _ => &[],
    };
    let shapes: Vec<&[i64]> = inputs.iter().map(shape).collect();
    let mut leads = Vec::with_capacity(inputs.len());
    for (position, (&arg, input)) in plan.inputs.iter().zip(inputs).enumerate() {
        leads.push(match input {
            Input::Array(view) => batch::lead(plan, arg, view.shape, batch.shape, batch.inputs >> position & 1 == 1)?,
            _ => Lead::default(),
        });
    }
    Ok((shapes, leads))
}

/// The shadows of one kind if the task takes it, with their positions; `None` where there is none or the argument has none.
fn shadows<'a>(
    function: &Function,
    what: &str,
    args: &[usize],
    views: &[Option<View<'a>>],
    taken: bool,
) -> Result<Vec<(usize, Option<View<'a>>)>> {
    if !taken {
        return Ok(Vec::new());
    }
    if args.len() != views.len() {
        return Err(function.wrong_count(what, args.len(), views.len()));
    }
    let plan = &function.manifest.plan;
    let given = |(position, view): (usize, &Option<View<'a>>)| {
        (position, view.filter(|_| plan.args[args[position]].dtype.is_float()))
    };
    Ok(views.iter().enumerate().map(given).collect())
}

impl<T> Default for Arrays<T> {
    fn default() -> Self {
        Arrays { first: Vec::new(), lanes: Vec::new(), leads: Vec::new() }
    }
}

impl<T> Arrays<T> {
    fn add<'a>(&mut self, view: &View<'a>, lead: Lead, rank: usize, wrap: impl Fn(View<'a>) -> T) {
        let (element, lane) = lanes::element(view, lead, rank);
        self.first.push(wrap(element));
        self.lanes.push(lane);
        self.leads.push((lead, view.shape[..lead.count()].to_vec()));
    }

    fn add_shared(&mut self, value: T) {
        self.first.push(value);
        self.lanes.push(Lane::default());
        self.leads.push((Lead::default(), Vec::new()));
    }
}
