//! The exported functions that take arrays: values and derivatives of an opened function.
//!
//! In: a handle, lists of arrays. Out: results in the caller's memory. The driver checks what concerns the function
//! (types, shapes, derivatives), `arrays` what concerns the memory.

use crate::abi::{self, Array, Handle, Shape};
use crate::arrays::{self, Lent, Places};
use crate::failure::{Failure, Outcome};
use crate::handles::FUNCTIONS;
use crate::{guard, needed};
use compile_driver::{Function, Input, View};
use core_ad::{CallPlan, names};

/// An opened function and the inputs of a call.
struct Prepared<'a> {
    function: &'a Function,
    inputs: Vec<Input<'a>>,
}

impl<'a> Prepared<'a> {
    /// # Safety
    ///
    /// The arrays are as `ffgrad.h` describes them.
    unsafe fn new(function: &'a Function, inputs: *const Array, count: usize) -> Outcome<Self> {
        // SAFETY: passed on from the caller.
        let arrays = unsafe { arrays::list("inputs", inputs, count) }?;
        let plan = &function.manifest().plan;
        let mut inputs = Vec::with_capacity(count);
        for (i, array) in arrays.iter().enumerate() {
            // SAFETY: the caller's promise, passed on.
            inputs.push(unsafe { arrays::input(array, name(plan, &plan.inputs, i)) }?);
        }
        Ok(Prepared { function, inputs })
    }

    fn plan(&self) -> &'a CallPlan {
        &self.function.manifest().plan
    }

    fn named(&self) -> (&'a str, &'a CallPlan) {
        (&self.function.spec().function, self.plan())
    }

    /// What the call reads: its inputs and these shadows.
    fn lent<'l>(&'l self, shadows: [&'l [Option<View<'a>>]; 2]) -> Lent<'l, 'a> {
        Lent { inputs: &self.inputs, shadows }
    }
}

fn name<'p>(plan: &'p CallPlan, args: &[usize], position: usize) -> &'p str {
    args.get(position).and_then(|&a| plan.args.get(a)).map_or("an array too many", |a| a.name.as_str())
}

/// Cotangents or tangents.
///
/// # Safety
///
/// The arrays are as `ffgrad.h` describes them, for `'a`.
unsafe fn shadows<'a>(
    what: &str,
    (plan, args): (&CallPlan, &[usize]),
    pointer: *const Array,
    count: usize,
) -> Outcome<Vec<Option<View<'a>>>> {
    // SAFETY: passed on from the caller.
    let arrays = unsafe { arrays::list(what, pointer, count) }?;
    let mut views = Vec::with_capacity(count);
    for (i, array) in arrays.iter().enumerate() {
        // SAFETY: the caller's promise, passed on.
        views.push(unsafe { arrays::view(array, name(plan, args, i)) }?);
    }
    Ok(views)
}

/// The types and shapes that the outputs of a call with these inputs have; the data of the inputs is not read.
///
/// # Safety
///
/// `inputs` has `input_count` arrays, `outputs` room for `output_count` shapes; `error` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_output_shapes(
    function: Handle,
    inputs: *const Array,
    input_count: usize,
    outputs: *mut Shape,
    output_count: usize,
    error: *mut *mut Failure,
) -> i32 {
    let body = || {
        let function = FUNCTIONS.get(function)?;
        // SAFETY: the caller's promise.
        let call = unsafe { Prepared::new(&function, inputs, input_count) }?;
        let plan = call.plan();
        if output_count != plan.outputs.len() {
            let (name, count) = (&function.spec().function, plan.outputs.len());
            return Err(Failure::misuse(
                "count",
                format!("`{name}` has {}, {}", names::counted(count, "output"), names::given(output_count)),
            ));
        }
        let outputs = if output_count == 0 { outputs } else { needed(outputs, "outputs")? };
        let resolved = function.resolve(&call.inputs)?;
        for (i, &arg) in plan.outputs.iter().enumerate() {
            let shape = &resolved.shapes[arg];
            let mut dims = [0; abi::FFGRAD_MAX_DIMS];
            let Some(given) = dims.get_mut(..shape.len()) else {
                return Err(Failure::misuse("dimensions", format!("`{}` has too many", plan.args[arg].name)));
            };
            given.copy_from_slice(shape);
            let dtype = abi::code_of(plan.args[arg].dtype);
            // SAFETY: `i` is below `output_count`.
            unsafe { outputs.add(i).write(Shape { dtype, ndim: shape.len() as i32, dims }) };
        }
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}

/// The values of the parameters that are sizes, in a call with these inputs: `sizes` has a place for each entry of the
/// description's `parameters`; those that are no size get 0. The data of the inputs is not read.
///
/// # Safety
///
/// As `ffgrad_output_shapes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_sizes(
    function: Handle,
    inputs: *const Array,
    input_count: usize,
    sizes: *mut i64,
    size_count: usize,
    error: *mut *mut Failure,
) -> i32 {
    let body = || {
        let function = FUNCTIONS.get(function)?;
        // SAFETY: the caller's promise.
        let call = unsafe { Prepared::new(&function, inputs, input_count) }?;
        let count = call.plan().args.len();
        if size_count != count {
            let name = &function.spec().function;
            return Err(Failure::misuse(
                "count",
                format!("`{name}` has {}, {}", names::counted(count, "parameter"), names::given(size_count)),
            ));
        }
        let resolved = function.resolve(&call.inputs)?;
        for (i, &size) in resolved.sizes.iter().enumerate() {
            // SAFETY: `i` is below `size_count`, and the place is the caller's promise.
            unsafe { needed(sizes, "sizes")?.add(i).write(size) };
        }
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}

/// Computes the function: its values are written to `outputs`, in the order of the description's outputs.
/// `FFGRAD_NONE` stands for an output that is not wanted.
///
/// Bit i of `expected`: a gradient for input i will be requested; it is built and verified now, so that a
/// function without one is refused before time is spent on it. 0 is always right.
///
/// # Safety
///
/// As `ffgrad_output_shapes`; the outputs have memory for the shapes that it returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_call(
    function: Handle,
    inputs: *const Array,
    input_count: usize,
    expected: u64,
    outputs: *const Array,
    output_count: usize,
    error: *mut *mut Failure,
) -> i32 {
    let body = || {
        let function = FUNCTIONS.get(function)?;
        // SAFETY: the caller's promise, passed on.
        let call = unsafe { Prepared::new(&function, inputs, input_count) }?;
        // SAFETY: the caller's promise, passed on.
        let outputs = unsafe { arrays::list("outputs", outputs, output_count) }?;
        let lent = call.lent([&[], &[]]);
        // SAFETY: the caller's promise, passed on.
        let mut places = unsafe { Places::new(call.named(), &call.plan().outputs, outputs, 0, lent) }?;
        let outcome = function.primal(&call.inputs, expected, &mut places);
        places.finish(outcome)
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}

/// Vector-Jacobian product: the transposed Jacobian applied to the cotangents of the outputs. Gradients go to
/// `gradients`, one place an input; they are written, or added with `FFGRAD_ACCUMULATE` in `flags`. `FFGRAD_NONE` among
/// the cotangents is zero, among the gradients one that is not wanted. Nothing else is changed.
///
/// # Safety
///
/// As `ffgrad_call`; `cotangents` has an array an output, `gradients` one an input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_vjp(
    function: Handle,
    inputs: *const Array,
    input_count: usize,
    cotangents: *const Array,
    cotangent_count: usize,
    gradients: *const Array,
    gradient_count: usize,
    flags: u32,
    error: *mut *mut Failure,
) -> i32 {
    let body = || {
        let function = FUNCTIONS.get(function)?;
        // SAFETY: the caller's promise, passed on.
        let call = unsafe { Prepared::new(&function, inputs, input_count) }?;
        let plan = call.plan();
        let of = (plan, plan.outputs.as_slice());
        // SAFETY: the caller's promise, passed on.
        let cotangents = unsafe { shadows("cotangents", of, cotangents, cotangent_count) }?;
        // SAFETY: the caller's promise, passed on.
        let gradients = unsafe { arrays::list("gradients", gradients, gradient_count) }?;
        let lent = call.lent([&cotangents, &[]]);
        // SAFETY: the caller's promise, passed on.
        let mut places = unsafe { Places::new(call.named(), &plan.inputs, gradients, flags, lent) }?;
        places.only_derivatives()?;
        let outcome = function.vjp(&call.inputs, &cotangents, places.mask(), &mut places);
        places.finish(outcome)
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}

/// Jacobian-vector product: the Jacobian applied to the tangents of the inputs. The outputs' tangents go to `results`,
/// one place an output; they are written, or added with `FFGRAD_ACCUMULATE` in `flags`. `FFGRAD_NONE` among the tangents
/// is zero, among the results one that is not wanted.
///
/// # Safety
///
/// As `ffgrad_call`; `tangents` has an array an input, `results` one an output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_jvp(
    function: Handle,
    inputs: *const Array,
    input_count: usize,
    tangents: *const Array,
    tangent_count: usize,
    results: *const Array,
    result_count: usize,
    flags: u32,
    error: *mut *mut Failure,
) -> i32 {
    let body = || {
        let function = FUNCTIONS.get(function)?;
        // SAFETY: the caller's promise, passed on.
        let call = unsafe { Prepared::new(&function, inputs, input_count) }?;
        let plan = call.plan();
        let of = (plan, plan.inputs.as_slice());
        // SAFETY: the caller's promise, passed on.
        let tangents = unsafe { shadows("tangents", of, tangents, tangent_count) }?;
        // SAFETY: the caller's promise, passed on.
        let results = unsafe { arrays::list("results", results, result_count) }?;
        let lent = call.lent([&tangents, &[]]);
        // SAFETY: the caller's promise, passed on.
        let mut places = unsafe { Places::new(call.named(), &plan.outputs, results, flags, lent) }?;
        places.only_derivatives()?;
        let outcome = function.jvp(&call.inputs, &tangents, &mut places);
        places.finish(outcome)
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}

/// Hessian-vector product: the change of what `ffgrad_vjp` computes, with these cotangents held fixed, along the
/// tangents of the inputs. Results go to `results`, one place an input, as in `ffgrad_vjp`.
///
/// # Safety
///
/// As `ffgrad_vjp`; `tangents` has an array an input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_hvp(
    function: Handle,
    inputs: *const Array,
    input_count: usize,
    cotangents: *const Array,
    cotangent_count: usize,
    tangents: *const Array,
    tangent_count: usize,
    results: *const Array,
    result_count: usize,
    flags: u32,
    error: *mut *mut Failure,
) -> i32 {
    let body = || {
        let function = FUNCTIONS.get(function)?;
        // SAFETY: the caller's promise, passed on.
        let call = unsafe { Prepared::new(&function, inputs, input_count) }?;
        let plan = call.plan();
        let (of_outputs, of_inputs) = ((plan, plan.outputs.as_slice()), (plan, plan.inputs.as_slice()));
        // SAFETY: the caller's promise, passed on.
        let cotangents = unsafe { shadows("cotangents", of_outputs, cotangents, cotangent_count) }?;
        // SAFETY: the caller's promise, passed on.
        let tangents = unsafe { shadows("tangents", of_inputs, tangents, tangent_count) }?;
        // SAFETY: the caller's promise, passed on.
        let results = unsafe { arrays::list("results", results, result_count) }?;
        let lent = call.lent([&cotangents, &tangents]);
        // SAFETY: the caller's promise, passed on.
        let mut places = unsafe { Places::new(call.named(), &plan.inputs, results, flags, lent) }?;
        places.only_derivatives()?;
        let mask = places.mask();
        let outcome = function.hvp(&call.inputs, &cotangents, &tangents, mask, &mut places);
        places.finish(outcome)
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}
