//! The loop over a batch: strides from one element of an array to the next, and one call of an entry point for each element.
//!
//! In: the arrays of a call, split into elements ([`crate::call::split`]), and a verified artifact. Out: results in the caller's memory.

use crate::call::arguments::{Call, Input, Results, View};
use crate::call::not_a_number::holds_nan;
use crate::call::results::ResultWriter;
use crate::call::scratch::{Frame, words};
use crate::call::split::Split;
use crate::call::task::Task;
use crate::call::unsolved;
use crate::error::{Error, Result};
use crate::load::artifact::Artifact;
use core_ad::DerivativeSet;
use core_ad::path_set::PathSet;
use core_ad::shapes::Resolved;
use core_ad::shapes::batch::Lead;
use core_ad::{CallPlan, DType};
use std::ffi::c_void;
use std::ops::Range;

/// The distance between the elements of an array, in bytes, for each batch dimension; empty where all share it.
pub(crate) type Stride = Vec<isize>;

/// The array's part for the first element of a batch of `rank` dimensions, and its stride.
pub(crate) fn element<'a>(view: &View<'a>, lead: Lead, rank: usize) -> (View<'a>, Stride) {
    let split = lead.count();
    let size = view.dtype.size() as i64;
    let mut stride: Stride = vec![0; if split == 0 { 0 } else { rank }];
    let mut contiguous: i64 = view.shape[split..].iter().product();
    for dim in (0..split).rev() {
        let step = view.strides.map_or(contiguous, |s| s[dim]);
        if view.shape[dim] != 1 {
            // What the caller maps over stands first, what `...` stands for is counted from the last.
            let at = if dim < lead.mapped { dim } else { rank - split + dim };
            stride[at] = (step * size) as isize;
        }
        contiguous *= view.shape[dim];
    }
    let mut first = View { shape: &view.shape[split..], strides: view.strides.map(|s| &s[split..]), ..*view };
    if first.is_contiguous() {
        first.strides = None;
    }
    (first, stride)
}

fn offset(stride: &Stride, index: &[i64]) -> isize {
    stride.iter().zip(index).map(|(&step, &i)| step * i as isize).sum()
}

/// The place of an element in the batch, as an index for each dimension.
pub(crate) fn index_of(element: usize, batch: &[i64]) -> Vec<i64> {
    let mut rest = element as i64;
    let mut index = vec![0; batch.len()];
    for (i, &extent) in index.iter_mut().zip(batch).rev() {
        (*i, rest) = (rest % extent, rest / extent);
    }
    index
}

fn next(index: &mut [i64], batch: &[i64]) {
    for (i, &extent) in index.iter_mut().zip(batch).rev() {
        *i += 1;
        if *i < extent {
            return;
        }
        *i = 0;
    }
}

/// Moves inputs from the first element to another.
pub(crate) fn advance_inputs(inputs: &mut [Input<'_>], strides: &[Stride], index: &[i64]) {
    for (input, stride) in inputs.iter_mut().zip(strides) {
        if let Input::Array(view) = input {
            view.data = view.data.wrapping_offset(offset(stride, index));
        }
    }
}

/// A result of a call over a batch.
pub(crate) struct Target {
    position: usize,
    dtype: DType,
    memory: *mut u8,
    bytes: usize,
    stride: Stride,
    /// Several elements add to one place.
    is_sum: bool,
    /// Bytes of one element.
    element: usize,
    /// The same where the entry point overwrites its result: what is then added.
    apart: Option<usize>,
}

impl Target {
    /// `shape` is the whole result's, `lead` selects the batch dimensions among it, `batch` are the call's.
    pub(crate) fn new(
        position: usize,
        dtype: DType,
        memory: *mut u8,
        shape: &[i64],
        lead: Lead,
        batch: &[i64],
        overwritten: bool,
    ) -> Self {
        let view = View { data: memory, dtype, shape, strides: None };
        let (part, stride) = element(&view, lead, batch.len());
        let is_sum = !memory.is_null()
            && (0..batch.len()).any(|dim| batch[dim] != 1 && stride.get(dim).is_none_or(|&step| step == 0));
        // An empty element has the step 0 too, and nothing to add.
        let size = |shape: &[i64]| shape.iter().product::<i64>().max(0) as usize * dtype.size();
        let (bytes, element) = (size(shape), size(part.shape));
        let is_sum = is_sum && element > 0;
        if is_sum {
            // SAFETY: the front end allocated room for the result.
            unsafe { memory.write_bytes(0, bytes) };
        }
        let apart = (is_sum && overwritten).then_some(element);
        Target { position, dtype, memory, bytes, stride, is_sum, element, apart }
    }

    /// Whether the element there may have given a NaN: its own part holds one, or a sum of all does.
    pub(crate) fn may_hold_nan_of(&self, index: &[i64]) -> bool {
        let (start, bytes) = match self.is_sum {
            true => (0, self.bytes),
            false => (offset(&self.stride, index), self.element),
        };
        // SAFETY: a front end's memory for the whole result, which the call has filled.
        !self.memory.is_null() && unsafe { holds_nan(self.dtype, self.memory.wrapping_offset(start), bytes) }
    }
}

/// What every element of a batch has in common.
pub(crate) struct Job<'j> {
    pub plan: &'j CallPlan,
    /// The function's name, for messages.
    pub function: &'j str,
    /// Threads of the parallel regions of one element.
    pub inner_threads: usize,
    pub code: Code<'j>,
    pub resolved: &'j Resolved,
    /// The task of the first element.
    pub task: Task<'j>,
    pub split: &'j Split<'j>,
}

/// Evaluates one element.
pub(crate) type Evaluate<'j> = &'j (dyn Fn(&Task<'_>, &mut dyn Results) -> Result<()> + Sync);

/// What runs for each element.
pub(crate) enum Code<'j> {
    /// An entry point.
    Entry {
        artifact: &'j Artifact,
        wanted: DerivativeSet,
        /// Who looks at the paths of the elements, where values decide them.
        watch: Option<&'j dyn CallWatch>,
    },
    /// A loop over entry points.
    Loop(Evaluate<'j>),
}

/// Looks at the paths of calls.
pub(crate) trait CallWatch: Sync {
    /// Runs a call; its path, where that is new.
    fn over_call(&self, call: &mut dyn FnMut() -> Result<()>) -> Result<Option<NewPath>>;
}

/// Elements on paths that are new, the first on each.
pub(crate) type News = Vec<(usize, NewPath)>;

/// A path that no verified call has had, or one with an edge that a single value takes.
pub(crate) struct NewPath {
    pub path: PathSet,
    /// All of it was met by verified calls.
    pub is_known: bool,
    /// The call's error, where the derivative crashed on it.
    pub crash: Option<Error>,
}

/// Runs all elements, on up to `threads` threads. Returns those on new paths.
///
/// # Errors
///
/// The error of the first element that failed.
pub(crate) fn run(job: &Job<'_>, count: usize, targets: &mut [Target], threads: usize) -> Result<News> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        some => some,
    };
    let threads = threads.min(count);
    let bounds: Vec<usize> = (0..=threads).map(|t| count / threads * t + (count % threads).min(t)).collect();
    if threads == 1 {
        let mut worker = Worker::new(job, targets, false)?;
        return worker.run(0..count).map(|()| worker.news);
    }
    let shared = Shared(job, targets);
    let outcomes: Vec<(Result<News>, Vec<Vec<u64>>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|t| {
                let (shared, range) = (&shared, bounds[t]..bounds[t + 1]);
                scope.spawn(move || shared.work(range, true))
            })
            .collect();
        let own = shared.work(bounds[0]..bounds[1], false);
        let others = others.into_iter().map(|handle| match handle.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(others).collect()
    });
    let mut news = News::new();
    for (outcome, sums) in outcomes {
        news.extend(outcome?);
        for (target, sum) in targets.iter().filter(|t| t.is_sum).zip(sums) {
            // SAFETY: both have the target's size.
            unsafe { add(target.dtype, sum.as_ptr().cast(), target.memory, target.bytes) };
        }
    }
    Ok(news)
}

/// The state that the threads of a call share.
struct Shared<'s>(&'s Job<'s>, &'s [Target]);

// SAFETY: the arrays that the pointers inside address are only read, except for the results. Of those each thread
// writes the parts of its own elements, or sums of its own.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    /// Runs a part of the elements; returns the sums that were made apart.
    fn work(&self, range: Range<usize>, own_sums: bool) -> (Result<News>, Vec<Vec<u64>>) {
        let mut worker = match Worker::new(self.0, self.1, own_sums) {
            Ok(worker) => worker,
            Err(error) => return (Err(error), Vec::new()),
        };
        let outcome = worker.run(range);
        (outcome.map(|()| worker.news), worker.sums)
    }
}

/// One thread's loop over its elements.
struct Worker<'w> {
    job: &'w Job<'w>,
    targets: &'w [Target],
    /// Where each target begins for this thread.
    starts: Vec<*mut u8>,
    sums: Vec<Vec<u64>>,
    /// Room for results that are added afterwards.
    apart: Vec<Vec<u64>>,
    index: Vec<i64>,
    news: News,
    /// Their paths.
    met: PathSet,
}

impl<'w> Worker<'w> {
    fn new(job: &'w Job<'w>, targets: &'w [Target], own_sums: bool) -> Result<Self> {
        let room = |bytes: usize| words(bytes).map_err(|lack| lack.in_call_of(job.function));
        let mut sums: Vec<Vec<u64>> = Vec::new();
        let mut starts = Vec::with_capacity(targets.len());
        for target in targets {
            if own_sums && target.is_sum {
                sums.push(room(target.bytes)?);
            }
            let own = sums.last_mut().filter(|_| own_sums && target.is_sum);
            starts.push(own.map_or(target.memory, |sum| sum.as_mut_ptr().cast()));
        }
        let apart = targets.iter().map(|t| t.apart.map_or(Ok(Vec::new()), room)).collect::<Result<_>>()?;
        Ok(Worker { job, targets, starts, sums, apart, index: Vec::new(), news: News::new(), met: PathSet::default() })
    }

    fn run(&mut self, range: Range<usize>) -> Result<()> {
        let (job, split) = (self.job, self.job.split);
        self.index = index_of(range.start, &split.shape);
        let mut inputs = split.inputs.first.clone();
        let mut cotangents = split.cotangents.first.clone();
        let mut tangents = split.tangents.first.clone();
        let mut directions = split.directions.first.clone();
        let mut slots: Vec<*mut c_void> = Vec::with_capacity(4 * split.inputs.first.len() + 8);
        for element in range {
            inputs.copy_from_slice(&split.inputs.first);
            advance_inputs(&mut inputs, &split.inputs.strides, &self.index);
            advance(&mut cotangents, &split.cotangents.first, &split.cotangents.strides, &self.index);
            advance(&mut tangents, &split.tangents.first, &split.tangents.strides, &self.index);
            advance(&mut directions, &split.directions.first, &split.directions.strides, &self.index);
            let task = Task {
                inputs: &inputs,
                cotangents: &cotangents,
                tangents: &tangents,
                directions: &directions,
                ..job.task
            };
            slots.clear();
            if let Some(new) = self.call(&task, &mut slots).map_err(|e| at(e, element, &self.index))?
                && (new.crash.is_some() || !self.met.contains(&new.path))
            {
                self.met.merge(&new.path);
                self.news.push((element, new));
            }
            self.add_up();
            next(&mut self.index, &split.shape);
        }
        Ok(())
    }

    fn call(&mut self, task: &Task<'_>, slots: &mut Vec<*mut c_void>) -> Result<Option<NewPath>> {
        let job = self.job;
        let (artifact, wanted, watch) = match job.code {
            Code::Entry { artifact, wanted, watch } => (artifact, wanted, watch),
            Code::Loop(evaluate) => return evaluate(task, self).map(|()| None),
        };
        let frame = Frame::open();
        let call = Call {
            plan: job.plan,
            resolved: job.resolved,
            function: job.function,
            threads: job.inner_threads,
            frame: &frame,
        };
        let mut writer = ResultWriter::new(self, &call, task.entry);
        call.fill_slots(task, wanted, &mut writer, slots)?;
        let news = match watch {
            Some(watch) => watch.over_call(&mut || call.run(artifact, task.entry, slots))?,
            None => call.run_for_caller(artifact, task.entry, slots).map(|()| None)?,
        };
        writer.finish()?;
        Ok(news)
    }

    fn add_up(&mut self) {
        for (i, target) in self.targets.iter().enumerate() {
            if let Some(bytes) = target.apart {
                let sum = self.starts[i].wrapping_offset(offset(&target.stride, &self.index));
                // SAFETY: both have the size of an element's part.
                unsafe { add(target.dtype, self.apart[i].as_ptr().cast(), sum, bytes) };
            }
        }
    }

    fn target(&self, position: usize) -> Option<usize> {
        self.targets.iter().position(|t| t.position == position)
    }
}

fn advance<'v>(views: &mut [Option<View<'v>>], first: &[Option<View<'v>>], strides: &[Stride], index: &[i64]) {
    for ((view, first), stride) in views.iter_mut().zip(first).zip(strides) {
        *view = first.map(|v| View { data: v.data.wrapping_offset(offset(stride, index)), ..v });
    }
}

impl Results for Worker<'_> {
    fn allocate(&mut self, position: usize, _: DType, _: &[i64]) -> Result<*mut u8> {
        let Some(i) = self.target(position) else { return Ok(std::ptr::null_mut()) };
        let target = &self.targets[i];
        if target.apart.is_some() {
            return Ok(self.apart[i].as_mut_ptr().cast());
        }
        match self.starts[i].is_null() {
            true => Ok(std::ptr::null_mut()),
            false => Ok(self.starts[i].wrapping_offset(offset(&target.stride, &self.index))),
        }
    }

    fn adds(&self, position: usize) -> bool {
        self.target(position).is_some_and(|i| self.targets[i].is_sum && self.targets[i].apart.is_none())
    }
}

/// Adds floating-point numbers.
///
/// # Safety
///
/// Both pointers have `bytes` bytes of that type, and do not overlap.
pub(crate) unsafe fn add(dtype: DType, from: *const u8, to: *mut u8, bytes: usize) {
    macro_rules! add {
        ($ty:ty) => {
            for i in 0..bytes / size_of::<$ty>() {
                // SAFETY: within both arrays, which are aligned for their elements.
                unsafe { *to.cast::<$ty>().add(i) += *from.cast::<$ty>().add(i) };
            }
        };
    }
    match dtype {
        DType::F32 => add!(f32),
        DType::F64 => add!(f64),
        _ => {}
    }
}

/// The same error, with the element that it came from.
fn at(error: Error, element: usize, index: &[i64]) -> Error {
    let place = if index.len() == 1 { element.to_string() } else { format!("{index:?}") };
    match error {
        Error::Foreign(mut diagnosis) => {
            diagnosis.headline = format!("{} at element {place} of the batch", diagnosis.headline);
            Error::Foreign(diagnosis)
        }
        Error::Differentiation(mut diagnosis) if diagnosis.code == unsolved::CODE => {
            diagnosis.headline = format!("{}, at element {place} of the batch", diagnosis.headline);
            Error::Differentiation(diagnosis)
        }
        other => other,
    }
}
