//! A call over a batch, split into elements: the part of every array for the first element, and the strides to the others.

use crate::call::arguments::{Input, View};
use crate::call::batch_loop::{self, Stride};
use crate::call::task::{Task, wrong_count};
use crate::error::{Error, Result};
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::Entry;
use core_ad::shapes::batch::{self, Lead};
use core_ad::{Arg, CallPlan};

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

/// The arrays of one kind: the slice for the first element, and the strides to the others.
pub(crate) struct Arrays<T> {
    pub first: Vec<T>,
    pub strides: Vec<Stride>,
    /// The batch dimensions of each.
    pub leads: Vec<(Lead, Vec<i64>)>,
}

/// Every array of a call, split into elements.
pub(crate) struct Split<'a> {
    /// The batch dimensions of the call: those that the caller maps over, then those of `...`.
    pub shape: Vec<i64>,
    /// How many the caller maps over.
    pub mapped: usize,
    pub inputs: Arrays<Input<'a>>,
    pub cotangents: Arrays<Option<View<'a>>>,
    pub tangents: Arrays<Option<View<'a>>>,
    pub directions: Arrays<Option<View<'a>>>,
}

impl<'a> Split<'a> {
    pub(crate) fn new(function: &str, plan: &CallPlan, batch: &Batch<'_>, task: &Task<'a>) -> Result<Self> {
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
            shadows(function, plan, "cotangent", &plan.outputs, task.cotangents, takes(&[Entry::Vjp, Entry::Hvp]))?
        {
            let arg = plan.outputs[position];
            let Some(view) = view else {
                cotangents.add_shared(None);
                continue;
            };
            let lead = batch::lead(plan, arg, view.shape, batch.shape, has(batch.cotangents, position))?;
            check_lead(function, &plan.args[arg], "cotangent", &view, lead, &inner)?;
            cotangents.add(&view, lead, shape.len(), Some);
        }
        let along = |what: &str, views: &[Option<View<'a>>], mapped: u64, taken: bool| {
            let mut arrays = Arrays::default();
            for (position, view) in shadows(function, plan, what, &plan.inputs, views, taken)? {
                let arg = plan.inputs[position];
                let Some(view) = view else {
                    arrays.add_shared(None);
                    continue;
                };
                let lead = batch::lead(plan, arg, view.shape, batch.shape, has(mapped, position))?;
                let own = &shapes[position][leads[position].mapped..leads[position].count()];
                check_lead(function, &plan.args[arg], what, &view, lead, own)?;
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
    pub(crate) fn whole(&self) -> Lead {
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
    function: &str,
    plan: &CallPlan,
    what: &str,
    args: &[usize],
    views: &[Option<View<'a>>],
    taken: bool,
) -> Result<Vec<(usize, Option<View<'a>>)>> {
    if !taken {
        return Ok(Vec::new());
    }
    if args.len() != views.len() {
        return Err(wrong_count(function, what, args.len(), views.len()));
    }
    let given = |(position, view): (usize, &Option<View<'a>>)| {
        (position, view.filter(|_| plan.args[args[position]].dtype.is_float()))
    };
    Ok(views.iter().enumerate().map(given).collect())
}

impl<T> Default for Arrays<T> {
    fn default() -> Self {
        Arrays { first: Vec::new(), strides: Vec::new(), leads: Vec::new() }
    }
}

impl<T> Arrays<T> {
    fn add<'a>(&mut self, view: &View<'a>, lead: Lead, rank: usize, wrap: impl Fn(View<'a>) -> T) {
        let (element, stride) = batch_loop::element(view, lead, rank);
        self.first.push(wrap(element));
        self.strides.push(stride);
        self.leads.push((lead, view.shape[..lead.count()].to_vec()));
    }

    fn add_shared(&mut self, value: T) {
        self.first.push(value);
        self.strides.push(Stride::default());
        self.leads.push((Lead::default(), Vec::new()));
    }
}

/// The batch dimensions that a shadow has because of `...` must be those of its argument.
fn check_lead(function: &str, arg: &Arg, what: &str, view: &View<'_>, lead: Lead, own: &[i64]) -> Result<()> {
    let got = &view.shape[lead.mapped..lead.count()];
    if !arg.batched || got == own {
        return Ok(());
    }
    let headline = format!("the {what} of `{}` of `{function}` has the wrong batch dimensions", arg.spelled());
    Err(Error::Arity(Box::new(
        Diagnosis::new("shadow-shape", function, headline).mismatch(format!("{own:?}"), format!("{got:?}")),
    )))
}
