//! The kernels of the operators: PyTorch's tensors in, the driver's call, tensors of PyTorch out.

use crate::api::{self, Api};
use crate::failure::Failure;
use crate::tensors::{Held, Made, Refused, Seen, take_list, take_text};
use crate::warnings;
use compile_driver::os::interrupt;
use compile_driver::registry::{self, Trouble};
use compile_driver::{Batch, Error, Function, Input, View};
use core_ad::diagnostics::Diagnosis;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What an operator computes.
#[derive(Clone, Copy, PartialEq)]
enum Task {
    Primal,
    Vjp,
    Jvp,
    Hvp,
    Jvp2,
}

/// The arguments of an operator, in the order of the schemas.
#[derive(Default)]
struct Arguments<'a> {
    inputs: Vec<Held<'a>>,
    given: Vec<Held<'a>>,
    along: Vec<Held<'a>>,
    directions: Vec<Held<'a>>,
    spec: String,
    batch: usize,
    /// `expected` of the primal.
    mask: u64,
    cotangents: u64,
    tangents: u64,
    turning: u64,
}

impl From<Refused> for Failure {
    fn from(_: Refused) -> Self {
        Failure::plain("a function of PyTorch's stable ABI failed; it printed the reason above")
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Attribute(text) => Failure::plain(text),
            Trouble::Driver(error) => error.into(),
        }
    }
}

/// Kernel of `ffgrad::primal`.
pub unsafe extern "C-unwind" fn primal(stack: *mut u64, arguments: u64, _: u64) {
    // SAFETY: passed on from the dispatcher.
    unsafe { run(Task::Primal, stack, arguments) };
}

/// Kernel of `ffgrad::vjp`.
pub unsafe extern "C-unwind" fn vjp(stack: *mut u64, arguments: u64, _: u64) {
    // SAFETY: passed on from the dispatcher.
    unsafe { run(Task::Vjp, stack, arguments) };
}

/// Kernel of `ffgrad::jvp`.
pub unsafe extern "C-unwind" fn jvp(stack: *mut u64, arguments: u64, _: u64) {
    // SAFETY: passed on from the dispatcher.
    unsafe { run(Task::Jvp, stack, arguments) };
}

/// Kernel of `ffgrad::hvp`.
pub unsafe extern "C-unwind" fn hvp(stack: *mut u64, arguments: u64, _: u64) {
    // SAFETY: passed on from the dispatcher.
    unsafe { run(Task::Hvp, stack, arguments) };
}

/// Kernel of `ffgrad::jvp2`.
pub unsafe extern "C-unwind" fn jvp2(stack: *mut u64, arguments: u64, _: u64) {
    // SAFETY: passed on from the dispatcher.
    unsafe { run(Task::Jvp2, stack, arguments) };
}

/// Takes the arguments off the stack and puts the results there, or throws.
///
/// # Safety
///
/// The stack has `count` arguments of the task's schema.
unsafe fn run(task: Task, stack: *mut u64, count: u64) {
    let Some(api) = api::api() else { return };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: promised by the caller.
        let arguments = unsafe { take(api, task, std::slice::from_raw_parts(stack, count as usize)) }?;
        let _call = interrupt::Call::begin();
        call(api, task, &arguments)
    }));
    let failure = match outcome {
        Ok(Ok(results)) => {
            // SAFETY: there is room for the one result.
            unsafe { stack.write(results) };
            return;
        }
        Ok(Err(failure)) => failure,
        Err(_) => Failure::plain("ffgrad failed; the reason is on standard error"),
    };
    failure.throw(api)
}

/// # Safety
///
/// The slots are those of the task's schema, and ours.
unsafe fn take<'a>(api: &'a Api, task: Task, slots: &[u64]) -> Result<Arguments<'a>, Failure> {
    let lists = match task {
        Task::Primal => 1,
        Task::Vjp | Task::Jvp => 2,
        Task::Hvp | Task::Jvp2 => 3,
    };
    let mut arguments = Arguments::default();
    // SAFETY: the schemas begin with so many lists of tensors, then the spec.
    unsafe {
        arguments.inputs = take_list(api, slots[0])?;
        match task {
            Task::Primal => {}
            Task::Vjp => arguments.given = take_list(api, slots[1])?,
            Task::Jvp => arguments.along = take_list(api, slots[1])?,
            Task::Hvp => {
                arguments.given = take_list(api, slots[1])?;
                arguments.along = take_list(api, slots[2])?;
            }
            Task::Jvp2 => {
                arguments.along = take_list(api, slots[1])?;
                arguments.directions = take_list(api, slots[2])?;
            }
        }
        arguments.spec = take_text(api, slots[lists])?;
    }
    let numbers = &slots[lists + 1..];
    arguments.batch = numbers[0] as usize;
    match task {
        Task::Primal => arguments.mask = numbers[1],
        Task::Vjp => (arguments.mask, arguments.cotangents) = (numbers[1], numbers[2]),
        Task::Jvp => arguments.tangents = numbers[1],
        Task::Hvp => (arguments.mask, arguments.cotangents, arguments.tangents) = (numbers[1], numbers[2], numbers[3]),
        Task::Jvp2 => (arguments.tangents, arguments.turning) = (numbers[1], numbers[2]),
    }
    Ok(arguments)
}

fn call(api: &Api, task: Task, arguments: &Arguments<'_>) -> Result<u64, Failure> {
    let entry = registry::entry(&arguments.spec);
    let function = entry.function(&arguments.spec)?;
    let plan = &function.manifest().plan;
    let (inputs, given, along) = (look(&arguments.inputs)?, look(&arguments.given)?, look(&arguments.along)?);
    let directions = look(&arguments.directions)?;
    for (position, seen) in inputs.iter().enumerate() {
        let name = plan.inputs.get(position).map_or("an input", |&arg| plan.args[arg].name.as_str());
        usable(function, name, seen)?;
    }
    for seen in given.iter().chain(&along).chain(&directions) {
        usable(function, "a cotangent or tangent", seen)?;
    }
    let (seen, mask) = ([&inputs[..], &given[..], &along[..], &directions[..]].concat(), arguments.mask);
    let inputs: Vec<Input<'_>> = inputs.iter().map(|seen| Input::Array(seen.view())).collect();
    let cotangents = spread(&given, arguments.cotangents, plan.outputs.len());
    let tangents = spread(&along, arguments.tangents, plan.inputs.len());
    let directions = spread(&directions, arguments.turning, plan.inputs.len());
    let mut results = Made::new(api, results(function, task, mask));
    let outcome = match arguments.batch {
        0 => match task {
            Task::Primal => function.primal(&inputs, mask, &mut results),
            Task::Vjp => function.vjp(&inputs, &cotangents, mask, &mut results),
            Task::Jvp => function.jvp(&inputs, &tangents, &mut results),
            Task::Hvp => function.hvp(&inputs, &cotangents, &tangents, mask, &mut results),
            Task::Jvp2 => function.jvp2(&inputs, &tangents, &directions, &mut results),
        },
        _ => {
            let shape = batch_shape(&seen, arguments.batch);
            let all = u64::MAX;
            let batch =
                &Batch { shape: &shape, inputs: all, cotangents: all, tangents: all, directions: all, separate: 0 };
            match task {
                Task::Primal => function.primal_over(batch, &inputs, mask, &mut results),
                Task::Vjp => function.vjp_over(batch, &inputs, &cotangents, mask, &mut results),
                Task::Jvp => function.jvp_over(batch, &inputs, &tangents, &mut results),
                Task::Hvp => function.hvp_over(batch, &inputs, &cotangents, &tangents, mask, &mut results),
                Task::Jvp2 => function.jvp2_over(batch, &inputs, &tangents, &directions, &mut results),
            }
        }
    };
    if function.has_warnings() {
        function.take_warnings().into_iter().for_each(warnings::warn);
    }
    outcome?;
    Ok(results.into_list()?)
}

fn look<'s>(held: &'s [Held<'_>]) -> Result<Vec<Seen<'s>>, Refused> {
    held.iter().map(Held::look).collect()
}

/// The leading dimensions that are mapped over: every array has all of them, each of the batch's size or 1.
fn batch_shape(seen: &[Seen<'_>], batch: usize) -> Vec<i64> {
    let size = |d: usize| seen.iter().filter_map(|s| s.shape.get(d)).copied().find(|&size| size != 1);
    (0..batch).map(|d| size(d).unwrap_or(1)).collect()
}

/// Mask of the results, by position.
fn results(function: &Function, task: Task, mask: u64) -> u64 {
    let plan = &function.manifest().plan;
    let outputs = |wanted: fn(core_ad::DType) -> bool| {
        let bit = |(p, &arg): (usize, &usize)| u64::from(wanted(plan.args[arg].dtype)) << p;
        plan.outputs.iter().enumerate().map(bit).sum()
    };
    match task {
        Task::Primal => outputs(|_| true),
        Task::Jvp | Task::Jvp2 => outputs(|dtype| dtype.is_float()),
        Task::Vjp | Task::Hvp => mask & plan.differentiable_mask(),
    }
}

/// Shadows at the positions of a mask.
fn spread<'s>(seen: &'s [Seen<'s>], mask: u64, count: usize) -> Vec<Option<View<'s>>> {
    let mut rest = seen.iter();
    (0..count).map(|i| (mask >> i & 1 == 1).then(|| rest.next().map(Seen::view)).flatten()).collect()
}

fn usable(function: &Function, name: &str, seen: &Seen<'_>) -> Result<(), Error> {
    let function = &function.spec().function;
    if !seen.usable {
        let headline = format!("`{name}` of `{function}` is not a dense tensor on the CPU, for which it is compiled");
        return Err(Error::Device(Box::new(
            Diagnosis::new("device", function, headline)
                .advise("Convert the input before the call: x.cpu(), x.to_dense()."),
        )));
    }
    if seen.dtype.is_none() {
        let headline = format!("`{name}` of `{function}` has an element type that no foreign parameter has");
        return Err(Error::Dtype(Box::new(
            Diagnosis::new("dtype", function, headline)
                .mismatch("float32, float64, an integer type or bool", "another")
                .advise("Convert the input before the call, x.float(); inside of torch.autocast ffgrad does that."),
        )));
    }
    Ok(())
}
