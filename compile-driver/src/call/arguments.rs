//! One call of a foreign function: the caller's arrays in, an argument array for an entry point out.
//!
//! Contiguous inputs are passed in place. What is copied, and why:
//!
//! - an input whose layout is not its parameter's (row-major, Fortran: column-major): once (counted as `gathered`);
//! - a column-major result, for a framework that has only row-major arrays: once (`gathered`);
//! - an argument updated in place: once, so that the caller's array never changes (`in_place`);
//! - a cotangent: once, because the reverse mode consumes the shadow of an output (`cotangents`);
//! - a tangent that is in the memory of its own input: once (`cotangents`), see [`crate::call::aliasing`].

use crate::call::copies::{COPIES, count};
use crate::call::crash_guard;
use crate::call::large_stack;
use crate::call::scratch::{Frame, words};
use crate::call::unsolved::Listening;
use crate::error::{Error, Result};
use crate::load::artifact::Artifact;
use core_ad::diagnostics::Diagnosis;
use core_ad::names;
use core_ad::protocol::{Entry, MESSAGE_BYTES, status};
use core_ad::shapes::Resolved;
use core_ad::{Arg, CallPlan, DType, Passing, Role};
use std::ffi::c_void;

/// An array of the caller's, borrowed for a call.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// First element; may dangle for an empty array.
    pub data: *const u8,
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: &'a [i64],
    /// Strides in elements; `None` is contiguous, row-major.
    pub strides: Option<&'a [i64]>,
}

/// An input of a call.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// An array, or a scalar as a 0-d array.
    Array(View<'a>),
    /// A floating-point number; constant.
    Float(f64),
    /// An integer; constant.
    Int(i64),
    /// A truth value; constant.
    Bool(bool),
}

impl<'a> Input<'a> {
    /// The dimensions; none of a number.
    pub(crate) fn shape(&self) -> &'a [i64] {
        match self {
            Input::Array(view) => view.shape,
            _ => &[],
        }
    }
}

/// Where results go. The front end allocates them in its framework.
pub trait Results {
    /// Uninitialised contiguous memory for result number `position`.
    ///
    /// # Errors
    ///
    /// The framework's error, as an error of this crate.
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> Result<*mut u8>;

    /// Whether the memory of gradient number `position` holds a sum, to be added to rather than set to zero first.
    fn adds(&self, _position: usize) -> bool {
        false
    }

    /// The same with the first index varying fastest, for a framework that has such arrays. `None`: the result is
    /// computed in memory of the driver's and transposed into what [`Results::allocate`] gives.
    ///
    /// # Errors
    ///
    /// As [`Results::allocate`].
    fn allocate_column_major(&mut self, position: usize, dtype: DType, shape: &[i64]) -> Result<Option<*mut u8>> {
        let _ = (position, dtype, shape);
        Ok(None)
    }
}

impl View<'_> {
    fn elements(&self) -> usize {
        self.shape.iter().product::<i64>().max(0) as usize
    }

    /// Whether the elements are row-major and without gaps.
    pub fn is_contiguous(&self) -> bool {
        let Some(strides) = self.strides else { return true };
        without_gaps(self.shape.iter().zip(strides).rev())
    }

    /// Whether the elements are without gaps, column-major or row-major.
    pub fn has_layout(&self, column_major: bool) -> bool {
        match self.strides {
            _ if !column_major => self.is_contiguous(),
            Some(strides) => without_gaps(self.shape.iter().zip(strides)),
            // Row-major: the same thing where at most one dimension has more than one element.
            None => self.elements() == 0 || self.shape.iter().filter(|e| **e > 1).count() <= 1,
        }
    }

    /// Copies the elements to `target`, without gaps, in the wanted order.
    ///
    /// # Safety
    ///
    /// `target` has room for all elements and does not overlap the view, whose own memory is valid.
    unsafe fn copy_to(&self, target: *mut u8, column_major: bool) {
        let size = self.dtype.size();
        if self.has_layout(column_major) {
            // SAFETY: passed on from the caller.
            return unsafe { target.copy_from_nonoverlapping(self.data, self.elements() * size) };
        }
        let own = row_major_strides(self.shape);
        let mut shape = self.shape.to_vec();
        let mut strides = self.strides.unwrap_or(&own).to_vec();
        if column_major {
            shape.reverse();
            strides.reverse();
        }
        // SAFETY: passed on from the caller.
        unsafe { gather(self.data, &shape, &strides, size, target) };
    }
}

/// Whether each stride is the number of elements before it; the fastest dimension comes first.
fn without_gaps<'d>(dimensions: impl Iterator<Item = (&'d i64, &'d i64)>) -> bool {
    let mut expected = 1;
    for (&extent, &stride) in dimensions {
        if extent == 0 {
            return true;
        }
        if extent != 1 && stride != expected {
            return false;
        }
        expected *= extent;
    }
    true
}

/// Strides in elements of a row-major array without gaps.
pub(crate) fn row_major_strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d] * shape[d].max(1);
    }
    strides
}

/// Copies a strided array to contiguous memory and returns the position after it.
///
/// # Safety
///
/// Every element addressed is readable, and `target` has room for all of them.
pub(crate) unsafe fn gather(
    source: *const u8,
    shape: &[i64],
    strides: &[i64],
    size: usize,
    target: *mut u8,
) -> *mut u8 {
    let ([extent, shape @ ..], [stride, strides @ ..]) = (shape, strides) else {
        // SAFETY: one element on both sides.
        unsafe {
            target.copy_from_nonoverlapping(source, size);
            return target.add(size);
        }
    };
    let mut target = target;
    for i in 0..*extent {
        // SAFETY: the offset addresses an element of the array.
        unsafe {
            let row = source.offset((i * stride) as isize * size as isize);
            target = gather(row, shape, strides, size, target);
        }
    }
    target
}

/// A call being prepared: the argument array, and the memory behind what the caller did not give.
pub struct Call<'a> {
    /// The plan.
    pub plan: &'a CallPlan,
    /// The shapes of this call.
    pub resolved: &'a Resolved,
    /// The function's name, for messages.
    pub function: &'a str,
    /// Threads of its parallel regions; 0 leaves them to the OpenMP runtime.
    pub threads: usize,
    /// Working memory.
    pub frame: &'a Frame,
}

impl<'a> Call<'a> {
    /// Bytes of an argument in this call.
    pub fn bytes(&self, arg: usize) -> usize {
        self.elements(arg) * self.plan.args[arg].dtype.size()
    }

    /// Elements of an argument in this call.
    pub fn elements(&self, arg: usize) -> usize {
        self.resolved.elements(arg)
    }

    /// The address to pass for an input that is only read.
    pub fn input(&self, arg: usize, input: &Input<'_>) -> Result<*mut u8> {
        let a = &self.plan.args[arg];
        match input {
            Input::Array(view) if view.has_layout(a.column_major) => self.never_null(view.data.cast_mut()),
            Input::Array(view) => {
                let copy = self.memory(view.elements().saturating_mul(view.dtype.size()))?;
                count(&COPIES.gathered, view.elements() * view.dtype.size());
                // SAFETY: the copy is fresh and large enough; the view is the caller's promise.
                unsafe { view.copy_to(copy, a.column_major) };
                Ok(copy)
            }
            scalar => self.scalar(a, scalar),
        }
    }

    fn never_null(&self, data: *mut u8) -> Result<*mut u8> {
        // An empty array may have no address, but the foreign code was promised one.
        if data.is_null() { self.memory(1) } else { Ok(data) }
    }

    /// Working memory for this call, uninitialised.
    pub(crate) fn memory(&self, bytes: usize) -> Result<*mut u8> {
        self.frame.bytes(bytes).map_err(|lack| lack.in_call_of(self.function))
    }

    /// Working memory for this call, set to zero.
    pub(crate) fn zeros(&self, bytes: usize) -> Result<*mut u8> {
        self.frame.zeroed(bytes).map_err(|lack| lack.in_call_of(self.function))
    }

    /// Zeros that may outlive the call.
    pub(crate) fn words(&self, bytes: usize) -> Result<Vec<u64>> {
        words(bytes).map_err(|lack| lack.in_call_of(self.function))
    }

    /// Writes a number in the parameter's own type.
    fn scalar(&self, a: &Arg, input: &Input<'_>) -> Result<*mut u8> {
        let place = self.memory(8)?;
        let unfit = |value: String| {
            Error::Dtype(Box::new(
                Diagnosis::new("value-range", self.function, format!("`{}` cannot hold {value}", a.name))
                    .mismatch(a.dtype.name(), value.clone()),
            ))
        };
        macro_rules! put {
            ($ty:ty, $value:expr) => {{
                // SAFETY: eight aligned bytes are enough for any scalar.
                unsafe { place.cast::<$ty>().write($value) };
                Ok(place)
            }};
        }
        macro_rules! integer {
            ($ty:ty, $value:expr) => {
                match <$ty>::try_from($value) {
                    Ok(v) => put!($ty, v),
                    Err(_) => Err(unfit($value.to_string())),
                }
            };
        }
        let whole = match *input {
            Input::Int(v) => v,
            Input::Bool(v) => i64::from(v),
            Input::Float(v) => {
                return match a.dtype {
                    DType::F32 => put!(f32, v as f32),
                    DType::F64 => put!(f64, v),
                    _ => Err(unfit(v.to_string())),
                };
            }
            Input::Array(_) => return Err(unfit("an array".to_owned())),
        };
        match a.dtype {
            DType::F32 => put!(f32, whole as f32),
            DType::F64 => put!(f64, whole as f64),
            DType::Bool => put!(u8, u8::from(whole != 0)),
            DType::I8 => integer!(i8, whole),
            DType::I16 => integer!(i16, whole),
            DType::I32 => integer!(i32, whole),
            DType::I64 => integer!(i64, whole),
            DType::U8 => integer!(u8, whole),
            DType::U16 => integer!(u16, whole),
            DType::U32 => integer!(u32, whole),
            DType::U64 => integer!(u64, whole),
        }
    }

    /// The address of a size.
    pub fn size(&self, arg: usize) -> Result<*mut u8> {
        self.scalar(&self.plan.args[arg], &Input::Int(self.resolved.sizes[arg]))
    }

    /// Copies an input into memory that the foreign code may change.
    pub(crate) fn copy_input(&self, input: &Input<'_>, arg: usize, target: *mut u8) -> Result<()> {
        match input {
            Input::Array(view) => {
                count(&COPIES.in_place, self.bytes(arg));
                // SAFETY: `target` has room for the argument, whose shape is the view's.
                unsafe { view.copy_to(target, self.plan.args[arg].column_major) };
            }
            scalar => {
                let place = self.scalar(&self.plan.args[arg], scalar)?;
                // SAFETY: both hold one element.
                unsafe { target.copy_from_nonoverlapping(place, self.plan.args[arg].dtype.size()) };
            }
        }
        Ok(())
    }

    /// Copies a cotangent or tangent into `target`, zeros where there is none.
    pub(crate) fn copy_shadow(&self, view: Option<&View<'_>>, arg: usize, target: *mut u8) {
        match view {
            Some(view) => {
                count(&COPIES.cotangents, self.bytes(arg));
                // SAFETY: checked to have the argument's shape and type.
                unsafe { view.copy_to(target, self.plan.args[arg].column_major) };
            }
            // SAFETY: `target` has room for the argument.
            None => unsafe { target.write_bytes(0, self.bytes(arg)) },
        }
    }

    /// Runs an entry point on the prepared argument array. A vjp that the artifact has in two halves is one after the other.
    pub fn run(&self, artifact: &Artifact, entry: Entry, slots: &mut Vec<*mut c_void>) -> Result<()> {
        let in_halves =
            entry == Entry::Vjp && artifact.entry(entry).is_none() && artifact.entry(Entry::Reverse).is_some();
        if in_halves { self.run_halves(artifact, slots) } else { self.run_with(artifact, entry, slots, None) }
    }

    fn run_halves(&self, artifact: &Artifact, slots: &mut Vec<*mut c_void>) -> Result<()> {
        let (arguments, mut tape) = (slots.len(), std::ptr::null_mut());
        let forward = self.run_with(artifact, Entry::Augmented, slots, Some(&mut tape));
        slots.truncate(arguments);
        let outcome = forward.and_then(|()| self.run_with(artifact, Entry::Reverse, slots, Some(&mut tape)));
        if let Some(tapes) = artifact.tapes {
            // SAFETY: the tape just made, dropped once. Without an arena the reverse sweep has freed it.
            unsafe { (tapes.drop)(tape) };
        }
        outcome
    }

    /// The same for entry points that make or use a tape.
    pub(crate) fn run_with(
        &self,
        artifact: &Artifact,
        entry: Entry,
        slots: &mut Vec<*mut c_void>,
        tape: Option<&mut *mut c_void>,
    ) -> Result<()> {
        let Some(function) = artifact.entry(entry) else {
            let headline = format!("the artifact of `{}` has no entry point `{}`", self.function, entry.symbol());
            return Err(Error::Differentiation(Box::new(Diagnosis::new("no-entry", self.function, headline))));
        };
        self.separate_aliases(entry, artifact.record.mask, slots)?;
        let message = self.memory(MESSAGE_BYTES)?;
        // SAFETY: MESSAGE_BYTES were taken; the last byte ends the text whatever is written.
        unsafe {
            message.write(0);
            message.add(MESSAGE_BYTES - 1).write(0);
        }
        slots.push(message.cast());
        // A launch and a tape take the same place; kernels keep no tapes.
        let launch = self.resolved.launch.map(|launch| launch.words());
        slots.extend(launch.as_ref().map(|words| words.as_ptr().cast_mut().cast::<c_void>()));
        slots.extend(tape.as_deref().copied());
        let guard = crash_guard::guard(artifact, entry);
        let listening = Listening::begin(artifact);
        let mut crash = None;
        // SAFETY: the array has every slot of the plan, each with memory of the planned size, and behind them the
        // message buffer and the tape's place, which may be written to. What the foreign code does with it is its
        // author's promise.
        let mut run = || match unsafe { crash_guard::call(function, slots.as_mut_ptr(), guard) } {
            Ok(status) => status,
            Err(signal) => {
                crash = Some(signal);
                status::OK
            }
        };
        // On the same thread: the path map, the arena and statics are the thread's.
        // The prover's own stack may be smaller than the caller's.
        let may_be_large = entry != Entry::Primal || crash_guard::is_off();
        let mut run = || match artifact.wants_large_stack && may_be_large {
            true => large_stack::run(&mut run),
            false => run(),
        };
        let code = match artifact.teams {
            Some(teams) => teams.of(self.threads, run),
            None => run(),
        };
        let solved = listening.map_or(Ok(()), |listening| listening.end(self.function));
        if let Some(signal) = crash {
            // What a tape was made of before stays in its place.
            return Err(crash_guard::error(self.function, artifact, signal));
        }
        if let (Some(tape), Some(made)) = (tape, slots.last()) {
            *tape = *made;
        }
        if code == status::OK {
            return solved;
        }
        // SAFETY: the buffer ends with a zero.
        let text = unsafe { std::ffi::CStr::from_ptr(message.cast()) }.to_string_lossy().into_owned();
        Err(thrown(self.function, &text))
    }
}

fn thrown(function: &str, text: &str) -> Error {
    let thrown = if text.is_empty() { "an exception without a message".to_owned() } else { format!("\"{text}\"") };
    Error::Foreign(Box::new(
        Diagnosis::new("foreign-exception", function, format!("`{function}` threw {thrown}"))
            .advise("The exception came from the foreign code itself; its results were dropped."),
    ))
}

/// Checks the element types of the inputs; shapes are [`core_ad::shapes::resolve`]'s.
pub fn check_types(function: &str, plan: &CallPlan, inputs: &[Input<'_>]) -> Result<()> {
    if inputs.len() != plan.inputs.len() {
        let names: Vec<&str> = plan.inputs.iter().map(|&i| plan.args[i].name.as_str()).collect();
        let (takes, given) = (names::counted(plan.inputs.len(), "input"), names::given(inputs.len()));
        let headline = format!("`{function}` takes {takes}, {given}");
        return Err(Error::Arity(Box::new(
            Diagnosis::new("arity", function, headline).advise(format!("Its inputs are: {}.", names.join(", "))),
        )));
    }
    for (&arg, input) in plan.inputs.iter().zip(inputs) {
        check_type(function, &plan.args[arg], input)?;
    }
    Ok(())
}

fn check_type(function: &str, arg: &Arg, input: &Input<'_>) -> Result<()> {
    let found = match input {
        Input::Array(view) if view.dtype == arg.dtype => return Ok(()),
        Input::Array(view) => view.dtype.name(),
        // A number takes the parameter's type; an array parameter needs an array.
        Input::Float(_) if arg.dtype.is_float() && arg.shape.is_empty() => return Ok(()),
        Input::Int(_) if arg.shape.is_empty() => return Ok(()),
        // Fortran's `logical` is as wide as an integer.
        Input::Bool(_) if arg.shape.is_empty() && !arg.dtype.is_float() => return Ok(()),
        Input::Float(_) => "a float",
        Input::Int(_) => "an int",
        Input::Bool(_) => "a bool",
    };
    Err(wrong_type(function, arg, found))
}

/// The error for an input of the wrong element type.
pub fn wrong_type(function: &str, arg: &Arg, found: &str) -> Error {
    let declared = core_ad::prototype::c_name(arg.dtype);
    let mark = if arg.passing == Passing::Pointer { "*" } else { "" };
    let expected = match arg.shape.len() {
        0 => arg.dtype.name().to_owned(),
        _ => format!("an array of {}", arg.dtype),
    };
    let headline = format!("`{}` of `{function}` is `{declared}{mark}`", arg.name);
    Error::Dtype(Box::new(
        Diagnosis::new("dtype", function, headline)
            .mismatch(expected, found)
            .advise("ffgrad never converts silently: convert the input before the call."),
    ))
}

/// Whether an argument's primal must be allocated for a derivative call, though the caller sees only
/// its shadow.
pub fn is_produced(role: Role) -> bool {
    matches!(role, Role::Output | Role::Scratch | Role::Return)
}
