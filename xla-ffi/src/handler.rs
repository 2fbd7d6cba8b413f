//! The handler itself: from XLA's call to the driver's and back, errors and panics included.

use crate::api::{self, CallFrame, Code, ErrorCreateArgs, MetadataExtension};
use crate::frame::{Frame, Placed};
use crate::op::{self, Batch, Kind, Op, Trouble};
use compile_driver::os::interrupt;
use compile_driver::{Error, Function, Input, View};
use core_ad::CallPlan;
use core_ad::diagnostics::Diagnosis;
use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The address to register with XLA under the name `ffgrad`, for the platform `cpu`.
pub fn handler() -> *mut c_void {
    handle as unsafe extern "C" fn(*mut CallFrame) -> *mut api::Error as *mut c_void
}

/// A failure, as XLA's error.
struct Failure {
    code: Code,
    text: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { code: code(error.kind()), text: error.to_string() }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Attribute(text) => Failure { code: Code::InvalidArgument, text },
            Trouble::Outdated(text) => Failure { code: Code::FailedPrecondition, text },
            Trouble::Driver(error) => error.into(),
        }
    }
}

/// XLA's word for each class of errors.
const fn code(kind: compile_driver::Kind) -> Code {
    use compile_driver::Kind;
    match kind {
        Kind::Compile | Kind::Signature | Kind::Shape | Kind::Dtype | Kind::Device => Code::InvalidArgument,
        Kind::Toolchain | Kind::Pack | Kind::Cache => Code::FailedPrecondition,
        Kind::Differentiation => Code::Unimplemented,
        Kind::Memory => Code::ResourceExhausted,
        Kind::Foreign => Code::Unknown,
        Kind::Interrupted => Code::Cancelled,
    }
}

/// `XLA_FFI_Handler`.
///
/// # Safety
///
/// Called by XLA, with a frame of its own.
unsafe extern "C" fn handle(frame: *mut CallFrame) -> *mut api::Error {
    // SAFETY: XLA's frame, alive during the call.
    let Some(frame) = (unsafe { frame.as_ref() }) else { return ptr::null_mut() };
    // SAFETY: extensions of XLA's.
    if unsafe { answer_metadata(frame) } || frame.stage != api::STAGE_EXECUTE {
        return ptr::null_mut();
    }
    // SAFETY: XLA's frame of the execute stage.
    let view = unsafe { Frame::new(frame) };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _call = interrupt::Call::begin();
        run(view)
    }));
    let failure = match outcome {
        Ok(Ok(())) => return ptr::null_mut(),
        Ok(Err(failure)) => failure,
        Err(_) => Failure { code: Code::Internal, text: "ffgrad failed; the reason is on standard error".to_owned() },
    };
    // SAFETY: XLA's frame.
    unsafe { refuse(frame, &failure) }
}

/// Before XLA uses a handler it asks for the version of the API that the handler needs. Returns whether this call did.
///
/// # Safety
///
/// The frame's extensions are XLA's.
unsafe fn answer_metadata(frame: &CallFrame) -> bool {
    let mut extension = frame.extension_start;
    // SAFETY: a linked list that ends with null.
    while let Some(base) = unsafe { extension.as_ref() } {
        if base.kind == api::EXTENSION_METADATA {
            // SAFETY: an extension of this kind has this layout, and room for the answer.
            unsafe {
                let metadata = (*extension.cast::<MetadataExtension>()).metadata;
                ((*metadata).api_version.major, (*metadata).api_version.minor) = api::VERSION;
                (*metadata).traits = 0;
            }
            return true;
        }
        extension = base.next;
    }
    false
}

/// # Safety
///
/// The frame is XLA's.
unsafe fn refuse(frame: &CallFrame, failure: &Failure) -> *mut api::Error {
    let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
    let mut args = ErrorCreateArgs {
        struct_size: size_of::<ErrorCreateArgs>(),
        extension_start: ptr::null_mut(),
        message: text.as_ptr(),
        code: failure.code as c_int,
    };
    // SAFETY: XLA's table of functions.
    match unsafe { frame.api.as_ref() }.and_then(|api| api.error_create) {
        // SAFETY: the arguments are whole; XLA copies the text and owns the error.
        Some(create) => unsafe { create(&mut args) },
        // Results that were never written must not be taken for results.
        None => std::process::abort(),
    }
}

fn run(frame: Frame<'_>) -> Result<(), Failure> {
    let Some(attribute) = frame.text("op") else {
        return Err(Trouble::Attribute("the custom call has no attribute `op`".to_owned()).into());
    };
    let op = op::find(attribute)?;
    let function = op.function()?;
    let outcome = compute(frame, &op, function);
    if function.has_warnings() {
        for text in function.take_warnings() {
            crate::warn(&text).map_err(|text| Failure { code: Code::Unknown, text })?;
        }
    }
    Ok(outcome?)
}

fn compute(frame: Frame<'_>, op: &Op, function: &Function) -> Result<(), Error> {
    let plan = &function.manifest().plan;
    let name = function.spec().function.as_str();
    let masks = op.masks;
    let mut arguments = Arguments { frame, function, next: 0 };
    let inputs: Vec<Input<'_>> = (0..plan.inputs.len())
        .map(|i| arguments.take(plan, plan.inputs[i]).map(Input::Array))
        .collect::<Result<_, _>>()?;
    let cotangents = arguments.some(plan, &plan.outputs, masks.cotangents)?;
    let tangents = arguments.some(plan, &plan.inputs, masks.tangents)?;
    let directions = arguments.some(plan, &plan.inputs, masks.directions)?;
    if arguments.next != frame.argument_count() {
        return Err(outdated(name, arguments.next, frame.argument_count(), "arguments"));
    }
    let mask = results(plan, op);
    if mask.count_ones() as usize != frame.result_count() {
        return Err(outdated(name, mask.count_ones() as usize, frame.result_count(), "results"));
    }
    let mut placed = Placed { frame, mask, function: name };
    if matches!(op.kind, Kind::Vjp | Kind::Hvp) {
        placed.clear_constant(plan)?;
    }
    if op.batch.rank > 0 {
        let shape = batch_shape(op, &inputs, &[&cotangents, &tangents, &directions]);
        let Batch { inputs: mapped, cotangents: v, tangents: t, directions: s, separate, .. } = op.batch;
        let batch = compile_driver::Batch {
            shape: &shape,
            inputs: mapped,
            cotangents: v,
            tangents: t,
            directions: s,
            separate,
        };
        return match op.kind {
            Kind::Primal => function.primal_over(&batch, &inputs, masks.wanted, &mut placed),
            Kind::Vjp => function.vjp_over(&batch, &inputs, &cotangents, masks.wanted, &mut placed),
            Kind::Jvp => function.jvp_over(&batch, &inputs, &tangents, &mut placed),
            Kind::Hvp => function.hvp_over(&batch, &inputs, &cotangents, &tangents, masks.wanted, &mut placed),
            Kind::Jvp2 => function.jvp2_over(&batch, &inputs, &tangents, &directions, &mut placed),
        };
    }
    match op.kind {
        Kind::Primal => function.primal(&inputs, masks.wanted, &mut placed),
        Kind::Vjp => function.vjp(&inputs, &cotangents, masks.wanted, &mut placed),
        Kind::Jvp => function.jvp(&inputs, &tangents, &mut placed),
        Kind::Hvp => function.hvp(&inputs, &cotangents, &tangents, masks.wanted, &mut placed),
        Kind::Jvp2 => function.jvp2(&inputs, &tangents, &directions, &mut placed),
    }
}

/// The batch dimensions, from the arrays that have them: each of the batch's size or 1. They are not in the attribute, because
/// XLA may give each device a part of the batch.
fn batch_shape(op: &Op, inputs: &[Input<'_>], shadows: &[&[Option<View<'_>>]; 3]) -> Vec<i64> {
    let mut shape = vec![1; op.batch.rank];
    let mut widen = |mapped: bool, of: &[i64]| {
        for (extent, &found) in shape.iter_mut().zip(of).filter(|_| mapped) {
            if found != 1 {
                *extent = found;
            }
        }
    };
    for (i, input) in inputs.iter().enumerate() {
        if let Input::Array(view) = input {
            widen(op.batch.inputs >> i & 1 == 1, view.shape);
        }
    }
    let masks = [op.batch.cotangents, op.batch.tangents, op.batch.directions];
    for (views, mask) in shadows.iter().zip(masks) {
        for (i, view) in views.iter().enumerate() {
            widen(mask >> i & 1 == 1, view.map_or(&[][..], |v| v.shape));
        }
    }
    shape
}

/// Positions of the plan's outputs, or of its inputs, that are results of the custom call.
fn results(plan: &CallPlan, op: &Op) -> u64 {
    let bits = |keep: &dyn Fn(usize) -> bool| {
        plan.outputs.iter().enumerate().map(|(p, &arg)| u64::from(keep(arg)) << p).sum::<u64>()
    };
    match op.kind {
        Kind::Primal => bits(&|_| true),
        Kind::Jvp | Kind::Jvp2 => bits(&|arg| plan.args[arg].dtype.is_float()),
        Kind::Vjp | Kind::Hvp => op.masks.wanted,
    }
}

/// Takes the arguments of the custom call one after the other.
struct Arguments<'f> {
    frame: Frame<'f>,
    function: &'f Function,
    next: usize,
}

impl<'f> Arguments<'f> {
    fn take(&mut self, plan: &CallPlan, arg: usize) -> Result<View<'f>, Error> {
        self.next += 1;
        self.frame.argument(self.next - 1).map_err(|code| {
            let (function, parameter) = (&self.function.spec().function, &plan.args[arg].name);
            let headline = format!("`{parameter}` of `{function}` has an element type that no foreign parameter has");
            Error::Dtype(Box::new(
                Diagnosis::new("dtype", function, headline)
                    .mismatch("float32, float64, an integer type or bool", format!("XLA's type {code}")),
            ))
        })
    }

    /// Those present in the mask.
    fn some(&mut self, plan: &CallPlan, args: &[usize], mask: u64) -> Result<Vec<Option<View<'f>>>, Error> {
        let one = |(p, &arg): (usize, &usize)| match mask >> p & 1 {
            1 => self.take(plan, arg).map(Some),
            _ => Ok(None),
        };
        args.iter().enumerate().map(one).collect()
    }
}

fn outdated(function: &str, expected: usize, found: usize, what: &str) -> Error {
    let headline = format!("the executable was made for another version of `{function}`, with other {what}");
    Error::Arity(Box::new(
        Diagnosis::new("executable-outdated", function, headline)
            .mismatch(expected.to_string(), found.to_string())
            .advise("Trace and compile it again from this source."),
    ))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
