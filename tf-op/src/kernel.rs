//! One kernel for all operations: TensorFlow's tensors in, the driver's call, tensors allocated by TensorFlow out.
//!
//! | tensor | copies |
//! |---|---|
//! | input, cotangent, tangent | none here: the driver gets TensorFlow's own memory |
//! | result | none: the driver writes to what TensorFlow allocated |

use crate::api::{self, Api, Code, Construction, Context, OwnStatus, Tensor, from_tensorflow, to_tensorflow};
use crate::exports;
use compile_driver::os::interrupt;
use compile_driver::registry::{self, Entry, Trouble};
use compile_driver::{Error, Function, Input, Kind, NO_MEMORY, Results, View};
use core_ad::DType;
use core_ad::diagnostics::Diagnosis;
use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// What a node computes; masks as in its attributes.
enum Task {
    Primal { expected: u64 },
    Vjp { mask: u64, cotangents: u64 },
    Jvp { tangents: u64 },
    Hvp { mask: u64, cotangents: u64, tangents: u64 },
}

/// A node's kernel.
enum Kernel {
    Call { attribute: String, entry: Arc<Entry>, task: Task },
    Refuse { message: String },
}

/// A failure, as TensorFlow's status.
struct Failure {
    code: Code,
    text: String,
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Attribute(text) => Failure { code: Code::InvalidArgument, text },
            Trouble::Driver(error) => error.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { code: code(error.kind()), text: error.to_string() }
    }
}

/// TensorFlow's word for each class of errors.
const fn code(kind: Kind) -> Code {
    match kind {
        Kind::Compile | Kind::Signature | Kind::Shape | Kind::Dtype | Kind::Device => Code::InvalidArgument,
        Kind::Toolchain | Kind::Pack | Kind::Cache => Code::FailedPrecondition,
        Kind::Differentiation => Code::Unimplemented,
        Kind::Memory => Code::ResourceExhausted,
        Kind::Foreign => Code::Unknown,
        Kind::Interrupted => Code::Cancelled,
    }
}

/// Reads the attributes of a node.
struct Attributes<'a> {
    api: &'a Api,
    node: *mut Construction,
    status: OwnStatus<'a>,
}

impl Attributes<'_> {
    fn mask(&self, name: &CStr) -> u64 {
        let mut value = 0_i64;
        // SAFETY: TensorFlow's node, a C string, and room for the answer.
        unsafe { (self.api.attr_i64)(self.node, name.as_ptr(), &mut value, self.status.raw()) };
        value as u64
    }

    fn text(&self, name: &CStr) -> String {
        let (mut list, mut length) = (0_i32, 0_i32);
        // SAFETY: as above.
        unsafe { (self.api.attr_size)(self.node, name.as_ptr(), &mut list, &mut length, self.status.raw()) };
        let mut bytes = vec![0_u8; length.max(0) as usize];
        // SAFETY: as above; at most `bytes.len()` bytes are written.
        unsafe {
            (self.api.attr_string)(self.node, name.as_ptr(), bytes.as_mut_ptr().cast(), bytes.len(), self.status.raw())
        };
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn create(node: *mut Construction, read: impl FnOnce(&Attributes<'_>) -> Kernel) -> *mut c_void {
    let Some(api) = api::api() else { return ptr::null_mut() };
    let attributes = Attributes { api, node, status: OwnStatus::new(api) };
    let kernel = catch_unwind(AssertUnwindSafe(|| read(&attributes)));
    if attributes.status.error().is_some() {
        // SAFETY: TensorFlow's node and a status with the reason.
        unsafe { (api.construction_failure)(node, attributes.status.raw()) };
        return ptr::null_mut();
    }
    kernel.map_or(ptr::null_mut(), |kernel| Box::into_raw(Box::new(kernel)).cast())
}

fn create_call(node: *mut Construction, task: impl FnOnce(&Attributes<'_>) -> Task) -> *mut c_void {
    create(node, |a| {
        let attribute = a.text(c"spec");
        Kernel::Call { entry: registry::entry(&attribute), attribute, task: task(a) }
    })
}

/// Creates the kernel of `FfgradPrimal`.
pub unsafe extern "C" fn create_primal(node: *mut Construction) -> *mut c_void {
    create_call(node, |a| Task::Primal { expected: a.mask(c"expected") })
}

/// Creates the kernel of `FfgradVjp`.
pub unsafe extern "C" fn create_vjp(node: *mut Construction) -> *mut c_void {
    create_call(node, |a| Task::Vjp { mask: a.mask(c"mask"), cotangents: a.mask(c"cotangents") })
}

/// Creates the kernel of `FfgradJvp`.
pub unsafe extern "C" fn create_jvp(node: *mut Construction) -> *mut c_void {
    create_call(node, |a| Task::Jvp { tangents: a.mask(c"tangents") })
}

/// Creates the kernel of `FfgradHvp`.
pub unsafe extern "C" fn create_hvp(node: *mut Construction) -> *mut c_void {
    create_call(node, |a| Task::Hvp {
        mask: a.mask(c"mask"),
        cotangents: a.mask(c"cotangents"),
        tangents: a.mask(c"tangents"),
    })
}

/// Creates the kernel of `FfgradRefuse`.
pub unsafe extern "C" fn create_refusal(node: *mut Construction) -> *mut c_void {
    create(node, |a| Kernel::Refuse { message: a.text(c"message") })
}

/// Frees a kernel.
pub unsafe extern "C" fn delete(kernel: *mut c_void) {
    if !kernel.is_null() {
        // SAFETY: made by `create`, and TensorFlow deletes it once.
        drop(unsafe { Box::from_raw(kernel.cast::<Kernel>()) });
    }
}

/// Runs a kernel.
pub unsafe extern "C" fn compute(kernel: *mut c_void, context: *mut Context) {
    let Some(api) = api::api() else { return };
    // SAFETY: made by `create`, shared by all threads that run the node; null where that failed.
    let kernel = unsafe { kernel.cast::<Kernel>().as_ref() };
    let outcome = catch_unwind(AssertUnwindSafe(|| match kernel {
        Some(Kernel::Call { attribute, entry, task }) => {
            let _call = interrupt::Call::begin();
            Run { api, context }.call(entry.function(attribute)?, task)
        }
        Some(Kernel::Refuse { message }) => Err(Failure { code: Code::Unimplemented, text: message.clone() }),
        None => Err(Failure { code: Code::Internal, text: "a kernel of ffgrad was not constructed".to_owned() }),
    }));
    let failure = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(failure)) => failure,
        Err(_) => Failure { code: Code::Internal, text: "ffgrad failed; the reason is on standard error".to_owned() },
    };
    let status = OwnStatus::new(api);
    status.set(failure.code, &failure.text);
    // SAFETY: TensorFlow's context of this run.
    unsafe { (api.failure)(context, status.raw()) };
}

/// An input of the node, held while it is read.
struct Held<'a> {
    api: &'a Api,
    tensor: *mut Tensor,
    dtype: Option<DType>,
    shape: Vec<i64>,
}

impl Held<'_> {
    fn view(&self) -> View<'_> {
        // SAFETY: the tensor is live.
        let data = unsafe { (self.api.tensor_data)(self.tensor) }.cast::<u8>();
        View { data, dtype: self.dtype.unwrap_or(DType::U8), shape: &self.shape, strides: None }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: `get_input` gave us this reference.
        unsafe { (self.api.delete_tensor)(self.tensor) };
    }
}

/// One run of a node.
struct Run<'a> {
    api: &'a Api,
    context: *mut Context,
}

impl<'a> Run<'a> {
    fn call(&self, function: &Function, task: &Task) -> Result<(), Failure> {
        // SAFETY: TensorFlow's context of this run.
        let count = unsafe { (self.api.input_count)(self.context) };
        let held = (0..count).map(|i| self.hold(i)).collect::<Result<Vec<Held<'_>>, Failure>>()?;
        let (cotangents, tangents) = match *task {
            Task::Primal { .. } => (0, 0),
            Task::Vjp { cotangents, .. } => (cotangents, 0),
            Task::Jvp { tangents } => (0, tangents),
            Task::Hvp { cotangents, tangents, .. } => (cotangents, tangents),
        };
        let shadows = (cotangents.count_ones() + tangents.count_ones()) as usize;
        let Some(given) = held.len().checked_sub(shadows) else {
            let text = format!("{} tensors cannot hold {shadows} cotangents and tangents", held.len());
            return Err(Failure { code: Code::InvalidArgument, text });
        };
        let plan = &function.manifest().plan;
        if let Some((position, tensor)) = held.iter().enumerate().find(|(_, h)| h.dtype.is_none()) {
            let name = plan.inputs.get(position).map_or("an input", |&arg| plan.args[arg].name.as_str());
            return Err(unknown_type(&function.spec().function, name, self.type_code(tensor)).into());
        }
        let inputs: Vec<Input<'_>> = held[..given].iter().map(|h| Input::Array(h.view())).collect();
        let mut rest = held[given..].iter();
        let mut spread = |mask: u64, count: usize| -> Vec<Option<View<'_>>> {
            (0..count).map(|i| (mask >> i & 1 == 1).then(|| rest.next().map(Held::view)).flatten()).collect()
        };
        let cotangents = spread(cotangents, plan.outputs.len());
        let tangents = spread(tangents, plan.inputs.len());
        let positions: u64 = match *task {
            Task::Primal { .. } => (0..plan.outputs.len()).map(|p| 1 << p).sum(),
            Task::Jvp { .. } => {
                let float = |&(_, &arg): &(usize, &usize)| plan.args[arg].dtype.is_float();
                plan.outputs.iter().enumerate().filter(float).map(|(p, _)| 1 << p).sum()
            }
            Task::Vjp { mask, .. } | Task::Hvp { mask, .. } => mask,
        };
        let mut results = self.outputs(function, positions)?;
        let outcome = match *task {
            Task::Primal { expected } => function.primal(&inputs, expected, &mut results),
            Task::Vjp { mask, .. } => function.vjp(&inputs, &cotangents, mask, &mut results),
            Task::Jvp { .. } => function.jvp(&inputs, &tangents, &mut results),
            Task::Hvp { mask, .. } => function.hvp(&inputs, &cotangents, &tangents, mask, &mut results),
        };
        if function.has_warnings() {
            function.take_warnings().iter().for_each(|text| exports::warn(text));
        }
        Ok(outcome?)
    }

    fn hold(&self, index: c_int) -> Result<Held<'a>, Failure> {
        let status = OwnStatus::new(self.api);
        let mut tensor = ptr::null_mut();
        // SAFETY: TensorFlow's context of this run; the reference is ours.
        unsafe { (self.api.get_input)(self.context, index, &mut tensor, status.raw()) };
        if let Some(text) = status.error() {
            return Err(Failure { code: Code::Internal, text });
        }
        // SAFETY: a live tensor.
        let (code, rank) = unsafe { ((self.api.tensor_type)(tensor), (self.api.tensor_rank)(tensor)) };
        // SAFETY: a live tensor, dimensions within its rank.
        let shape = (0..rank).map(|d| unsafe { (self.api.tensor_dim)(tensor, d) }).collect();
        Ok(Held { api: self.api, tensor, dtype: from_tensorflow(code), shape })
    }

    fn type_code(&self, held: &Held<'_>) -> c_int {
        // SAFETY: a live tensor.
        unsafe { (self.api.tensor_type)(held.tensor) }
    }

    /// The node's outputs, if there are as many as the function has now: a saved graph may be older than the source.
    fn outputs<'f>(&self, function: &'f Function, mask: u64) -> Result<Outputs<'f>, Failure>
    where
        'a: 'f,
    {
        // SAFETY: TensorFlow's context of this run.
        let count = unsafe { (self.api.output_count)(self.context) };
        match mask.count_ones() == count.max(0) as u32 {
            true => Ok(Outputs { api: self.api, context: self.context, mask, function: &function.spec().function }),
            false => Err(outdated(&function.spec().function).into()),
        }
    }
}

fn unknown_type(function: &str, name: &str, code: c_int) -> Error {
    Error::Dtype(Box::new(
        Diagnosis::new(
            "dtype",
            function,
            format!("`{name}` of `{function}` has an element type that no foreign parameter has"),
        )
        .mismatch("float32, float64, an integer type or bool", type_name(code))
        .advise("Convert the input before the call, tf.cast(x, tf.float32); a Keras EnzymeLayer does so itself."),
    ))
}

fn outdated(function: &str) -> Error {
    let headline = format!("the graph was made from another version of `{function}`, with other outputs");
    Error::Arity(Box::new(
        Diagnosis::new("graph-outdated", function, headline)
            .advise("Make the graph, or save the model, again from this source."),
    ))
}

/// The names of the types that TensorFlow has beside ours.
fn type_name(code: c_int) -> String {
    match code {
        7 => "string".to_owned(),
        8 => "complex64".to_owned(),
        14 => "bfloat16".to_owned(),
        18 => "complex128".to_owned(),
        19 => "float16".to_owned(),
        other => format!("TensorFlow's type {other}"),
    }
}

/// Results allocated by TensorFlow: those in `mask` are the node's outputs, in order.
struct Outputs<'a> {
    api: &'a Api,
    context: *mut Context,
    mask: u64,
    function: &'a str,
}

impl Results for Outputs<'_> {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> compile_driver::Result<*mut u8> {
        if self.mask >> position & 1 == 0 {
            return Ok(ptr::null_mut());
        }
        let index = (self.mask & ((1 << position) - 1)).count_ones() as c_int;
        // SAFETY: TensorFlow's context of this run; there are as many outputs as bits.
        if unsafe { (self.api.output_type)(self.context, index) } != to_tensorflow(dtype) {
            return Err(outdated(self.function));
        }
        let bytes = shape.iter().product::<i64>().max(0) as usize * dtype.size();
        let status = OwnStatus::new(self.api);
        // SAFETY: TensorFlow's context of this run; the dimensions live through the call.
        let tensor = unsafe {
            let rank = shape.len() as c_int;
            (self.api.allocate_output)(
                self.context,
                index,
                to_tensorflow(dtype),
                shape.as_ptr(),
                rank,
                bytes,
                status.raw(),
            )
        };
        if let Some(text) = status.error() {
            return Err(no_memory(&text));
        }
        // SAFETY: a live tensor. Our reference goes; the context keeps the memory.
        let data = unsafe {
            let data = (self.api.tensor_data)(tensor).cast::<u8>();
            (self.api.delete_tensor)(tensor);
            data
        };
        // An empty array may have no address; the driver takes null for "no result wanted".
        Ok(if data.is_null() { NonNull::<u64>::dangling().as_ptr().cast() } else { data })
    }
}

fn no_memory(reason: &str) -> Error {
    let headline = format!("TensorFlow could not allocate a result: {reason}");
    Error::Memory(Box::new(Diagnosis::new(NO_MEMORY, "", headline)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_errors_has_a_code() {
        assert_eq!(code(Kind::Shape), Code::InvalidArgument);
        assert_eq!(code(Kind::Differentiation), Code::Unimplemented);
        assert_eq!(code(Kind::Memory), Code::ResourceExhausted);
        assert_eq!(code(Kind::Foreign), Code::Unknown);
        assert_eq!(code(Kind::Cache), Code::FailedPrecondition);
    }

    #[test]
    fn a_type_that_foreign_code_cannot_have_is_named() {
        let text = unknown_type("f", "x", 14).to_string();
        assert!(text.contains("`x` of `f`") && text.contains("bfloat16"), "{text}");
    }
}
