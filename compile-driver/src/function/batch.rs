//! Calls over a batch: a loop over the elements, each a call of the same entry point.
//!
//! An array of such a call has leading batch dimensions, or is shared by all elements. Shapes are checked, memory is
//! taken and the derivative is verified once; per element only addresses move. The gradient of a shared input is the
//! sum over the elements, which the reverse mode makes by itself: all elements add to the same memory.
//!
//! With the option `threads` the elements are dealt out in as many runs of neighbours. Each run but the first sums into
//! memory of its own; those are added in their order, so that the result does not depend on who was fast. The threads
//! are started for the call: a pool would not survive the `fork` of a data loader, and a second OpenMP runtime in the
//! process would abort it.

use crate::call::arguments::{self, Input, Results, View};
use crate::call::batch_loop::{self, Code, Job, Target};
use crate::call::results::Repeatable;
use crate::call::split::{Batch, Split};
use crate::call::task::Task;
use crate::error::{Error, Result};
use crate::function::Function;
use crate::function::trust::paths;
use crate::function::trust::status::Check;
use crate::load::artifact::Artifact;
use crate::options::Bounds;
use core_ad::DerivativeSet;
use core_ad::Role;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::Entry;
use core_ad::shapes::Resolved;
use core_ad::shapes::batch::{self, Lead};
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// At sizes that are new to a verified derivative: how many elements are checked until a check is conclusive.
const MOST_TRIED: usize = 64;

/// How many elements of a batch are verified because they gave a NaN.
const MOST_NAN: usize = 8;

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
        self.evaluate_over(batch, &Task::primal(inputs, expected), results)
    }

    /// [`Function::vjp`] for each element of a batch. The gradient of a shared input is summed over the elements,
    /// unless the batch is `separate`; a batch of no elements has the sum zero.
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
        self.evaluate_over(batch, &Task::vjp(inputs, cotangents, mask), results)
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
        self.evaluate_over(batch, &Task::jvp(inputs, tangents), results)
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
        self.evaluate_over(batch, &Task::hvp(inputs, cotangents, tangents, mask), results)
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
        self.evaluate_over(batch, &Task::jvp2(inputs, tangents, directions), results)
    }

    pub(crate) fn evaluate_over(&self, batch: &Batch<'_>, task: &Task<'_>, results: &mut dyn Results) -> Result<()> {
        arguments::check_types(&self.opened.spec.function, &self.opened.manifest.plan, task.inputs)?;
        let split = Split::new(&self.opened.spec.function, &self.opened.manifest.plan, batch, task)?;
        let count = self.count(&split.shape)?;
        let first = Task {
            inputs: &split.inputs.first,
            cotangents: &split.cotangents.first,
            tangents: &split.tangents.first,
            directions: &split.directions.first,
            ..*task
        };
        let resolved = self.resolve_element(first.inputs)?;
        first.check(&self.opened.spec.function, &self.opened.manifest.plan, &resolved)?;
        let wanted = self.wanted(&first);
        let mut results = Repeatable::new(results);
        let mut targets = self.targets(batch, &split, &first, wanted, &resolved, &mut results)?;
        if count == 0 {
            return Ok(());
        }
        if let Some(repeat) = &self.repeat {
            let evaluate = |task: &Task<'_>, results: &mut dyn Results| self.evaluate_loop(repeat, task, results);
            let job = self.job(&split, first, &resolved, Code::Loop(&evaluate));
            return batch_loop::run(&job, count, &mut targets, self.threads_of_batch()).map(drop);
        }
        if self.opened.spec.options.bounds == Bounds::Check {
            (0..count).try_for_each(|e| self.selection().check_call(&element_inputs(&split, e), &resolved))?;
        }
        let checks = paths::checks();
        let artifact = self.verify_over(&split, &first, wanted, &resolved, count)?;
        self.selection().check_bounds(&artifact, first.inputs, &resolved)?;
        // Where each element was checked there is no news.
        let checks = if self.due(wanted, &resolved) == Check::EveryCall { checks } else { paths::checks() };
        let watch = self.watch(&artifact, first.entry, wanted, &resolved, checks);
        let watch_calls = watch.as_ref().map(|watch| watch as &dyn batch_loop::CallWatch);
        let code = Code::Entry { artifact: &artifact, wanted, watch: watch_calls };
        let job = self.job(&split, first, &resolved, code);
        let news = batch_loop::run(&job, count, &mut targets, self.threads_of_batch())?;
        for (element, new) in news {
            let inputs = element_inputs(&split, element);
            if let Some(watch) = &watch
                && watch.verify(new, &inputs, &resolved)?
            {
                return self.evaluate_over(batch, task, &mut results);
            }
        }
        for element in nan_elements(first.entry, &results, &targets, &split, count) {
            let inputs = element_inputs(&split, element);
            let of_element = Task { inputs: &inputs, ..*task };
            if self.replaces_nan(&artifact, wanted, &of_element, &resolved, paths::checks())? {
                return self.evaluate_over(batch, task, &mut results);
            }
        }
        Ok(())
    }

    fn threads_of_batch(&self) -> usize {
        self.opened.spec.options.threads.unwrap_or(1)
    }

    fn job<'j>(&'j self, split: &'j Split<'j>, task: Task<'j>, resolved: &'j Resolved, code: Code<'j>) -> Job<'j> {
        let threads = self.opened.spec.options.threads;
        Job {
            plan: &self.opened.manifest.plan,
            function: &self.opened.spec.function,
            // Where the elements have the threads, an element has one; by default the runtime decides.
            inner_threads: if threads.unwrap_or(1) == 1 { threads.unwrap_or(0) } else { 1 },
            code,
            resolved,
            task,
            split,
        }
    }

    /// The shapes of a call over the batch that `...` stands for.
    pub(crate) fn resolve_over(&self, inputs: &[Input<'_>]) -> Result<Resolved> {
        let plan = &self.opened.manifest.plan;
        arguments::check_types(&self.opened.spec.function, plan, inputs)?;
        let split = Split::new(&self.opened.spec.function, plan, &Batch::default(), &Task::primal(inputs, 0))?;
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

    fn count(&self, shape: &[i64]) -> Result<usize> {
        batch::count(shape).ok_or_else(|| {
            let function = &self.opened.spec.function;
            let headline = format!("a batch of {shape:?} calls of `{function}` is larger than any memory");
            Error::Arity(Box::new(Diagnosis::new("batch-size", function, headline)))
        })
    }

    /// The artifact, verified at the first element for which the check is conclusive. A verified derivative is checked at new sizes
    /// too, but only at the first elements, since no check may be conclusive there. Where each call is checked, each element is.
    fn verify_over(
        &self,
        split: &Split<'_>,
        first: &Task<'_>,
        wanted: DerivativeSet,
        resolved: &Resolved,
        count: usize,
    ) -> Result<Arc<Artifact>> {
        let mut artifact = self.artifact_for(first, wanted, resolved)?;
        let differentiates = first.entry != Entry::Primal;
        let mut element = 1;
        while differentiates && element < count && self.needs_check_at(element, wanted, resolved) {
            let inputs = element_inputs(split, element);
            let task = Task { inputs: &inputs, ..*first };
            artifact = self.artifact_for(&task, wanted, resolved)?;
            element += 1;
        }
        Ok(artifact)
    }

    /// What calls of these sizes still have to be checked for, by the function that serves them.
    fn due(&self, wanted: DerivativeSet, resolved: &Resolved) -> Check {
        let wanted = self.opened.served_by(wanted);
        if let Some(other) = self.server(wanted, resolved) {
            return other.due(wanted, resolved);
        }
        let known = self.trust.derivatives.read().unwrap_or_else(PoisonError::into_inner).get(&wanted).cloned();
        match known {
            // Before anything is verified, the first informative element counts, however late it is.
            Some(known)
                if self.selection().is_each_checked(&known, resolved) || !known.verified.load(Ordering::Acquire) =>
            {
                Check::EveryCall
            }
            Some(known) if self.selection().is_check_due(&known, resolved) => Check::Once,
            // A primal alone is not among them.
            _ => Check::None,
        }
    }

    /// The function that serves these derivatives in this one's place: a variant of a pack, what tuning or specialising chose.
    pub(crate) fn server(&self, wanted: DerivativeSet, resolved: &Resolved) -> Option<Arc<Function>> {
        if let Some(variant) = self.variants.packed.iter().find_map(|v| v.served_by(wanted, resolved)) {
            return Some(variant.clone());
        }
        let options = &self.opened.spec.options;
        match (options.mpi, options.specialize, options.tune) {
            (false, true, _) => self.specialised_before(wanted, resolved),
            (false, false, true) => self.tuned_before(wanted, resolved),
            _ => None,
        }
    }

    pub(crate) fn needs_check_at(&self, element: usize, wanted: DerivativeSet, resolved: &Resolved) -> bool {
        match self.due(wanted, resolved) {
            Check::None => false,
            Check::Once => element < MOST_TRIED,
            Check::EveryCall => true,
        }
    }

    /// Allocates memory for every result and returns where each element's slice of it begins.
    fn targets(
        &self,
        batch: &Batch<'_>,
        split: &Split<'_>,
        task: &Task<'_>,
        wanted: DerivativeSet,
        resolved: &Resolved,
        results: &mut dyn Results,
    ) -> Result<Vec<Target>> {
        let plan = &self.opened.manifest.plan;
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
                let mask = task.mask & self.opened.plan_flags.differentiable;
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

/// The first elements whose derivatives may hold a NaN, where there is one.
fn nan_elements(
    entry: Entry,
    results: &Repeatable<'_>,
    targets: &[Target],
    split: &Split<'_>,
    count: usize,
) -> Vec<usize> {
    if entry == Entry::Primal || !results.hold_nan() {
        return Vec::new();
    }
    let may_hold = |element: &usize| {
        let index = batch_loop::index_of(*element, &split.shape);
        targets.iter().any(|target| target.may_hold_nan_of(&index))
    };
    (0..count).filter(may_hold).take(MOST_NAN).collect()
}

/// The inputs of one element.
fn element_inputs<'a>(split: &Split<'a>, element: usize) -> Vec<Input<'a>> {
    let mut inputs = split.inputs.first.clone();
    batch_loop::advance_inputs(&mut inputs, &split.inputs.strides, &batch_loop::index_of(element, &split.shape));
    inputs
}
