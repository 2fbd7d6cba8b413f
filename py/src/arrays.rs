//! Framework arrays on the CPU, exchanged by DLPack.
//!
//! | array | in | out | copies |
//! |---|---|---|---|
//! | type with `__dlpack_c_exchange_api__` (torch ≥ 2.10) | borrowed `DLTensor`, no allocation | the type's own allocator | none |
//! | object with `__dlpack__` (NumPy, older torch, ...) | versioned or legacy capsule, held for the call | a callable of the front end | none |
//! | read-only NumPy array, NumPy until 2.0 | legacy capsule of a second array over its memory | | none |
//! | Python number | constant, in the parameter's type | | |
//!
//! The layouts are dlpark's, generated from dlpack.h.

mod exchange;
mod read_only;
mod results;

pub use exchange::{from_dlpack, to_dlpack};
pub use results::Allocated;

use crate::errors;
use compile_driver::{Error, Input, View};
use core_ad::DType;
use core_ad::diagnostics::Diagnosis;
use dlpark::ffi::{DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLTensor};
use exchange::Exchange;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt};
use smallvec::SmallVec;

/// What a Python object is to a call. The object must outlive it.
pub enum Given<'py> {
    /// An array, with the capsule that keeps it alive where one was needed.
    Array { tensor: DLTensor, dtype: DType, _keep: Option<Bound<'py, PyAny>> },
    /// A number.
    Float(f64),
    /// A whole number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// `None`.
    Nothing,
}

// SAFETY: a `Given` crosses to code without the GIL by reference only; the Python references inside are
// neither cloned nor dropped there.
unsafe impl Send for Given<'_> {}
// SAFETY: as above.
unsafe impl Sync for Given<'_> {}

impl<'py> Given<'py> {
    /// Reads the layout of an object.
    ///
    /// # Errors
    ///
    /// `DtypeError` and `DeviceError` for arrays no foreign function takes, `TypeError` for other objects.
    pub fn from_object(object: &Bound<'py, PyAny>, name: &dyn Fn() -> String) -> PyResult<Self> {
        let ty = object.get_type();
        let exchange = Exchange::of_type(ty.as_any());
        if exchange.is_some_and(|e| e.lazy_sign)
            && object.call_method0(pyo3::intern!(object.py(), "is_neg"))?.is_truthy()?
        {
            return Self::kept_alive(object.call_method0("resolve_neg")?, name);
        }
        if let Some(borrowed) = exchange.and_then(|e| e.borrow(object)) {
            let tensor = borrowed.map_err(|e| unreadable(object, &e, name))?;
            return Self::array(object, tensor, None, name);
        }
        if object.is_none() {
            return Ok(Given::Nothing);
        }
        if let Ok(value) = object.cast::<PyBool>() {
            return Ok(Given::Bool(value.is_true()));
        }
        if object.is_instance_of::<PyFloat>() {
            return Ok(Given::Float(object.extract()?));
        }
        if object.is_instance_of::<PyInt>() {
            return object.extract().map(Given::Int).map_err(|_| too_large(object, name));
        }
        match from_capsule(object, name) {
            Ok((tensor, capsule)) => Self::array(object, tensor, Some(capsule), name),
            Err(error) if object.hasattr(pyo3::intern!(object.py(), "__dlpack__"))? => Err(error),
            // NumPy's integers are numbers, whatever their width. Asked last: arrays pay nothing for it.
            Err(error) => match object.call_method0(pyo3::intern!(object.py(), "__index__")) {
                Ok(index) => index.extract().map(Given::Int).map_err(|_| too_large(object, name)),
                Err(_) => Err(error),
            },
        }
    }

    fn array(
        object: &Bound<'py, PyAny>,
        tensor: DLTensor,
        keep: Option<Bound<'py, PyAny>>,
        name: &dyn Fn() -> String,
    ) -> PyResult<Self> {
        let py = object.py();
        if !matches!(tensor.device.device_type, DLDeviceType::CPU | DLDeviceType::CUDAHOST) {
            return Err(errors::to_python(py, &wrong_device(&name(), &tensor), None));
        }
        if tensor.data.is_null() && elements(&tensor) > 0 {
            return Self::without_memory(object, name);
        }
        match from_dlpack(tensor.dtype) {
            Some(dtype) => Ok(Given::Array { tensor, dtype, _keep: keep }),
            None => {
                let found = object.getattr("dtype").map_or_else(|_| "?".to_owned(), |d| d.to_string());
                Err(errors::to_python(py, &unknown_dtype(&name(), &found), None))
            }
        }
    }

    /// A tensor made for this call, kept for its length.
    fn kept_alive(object: Bound<'py, PyAny>, name: &dyn Fn() -> String) -> PyResult<Self> {
        match Self::from_object(&object, name)? {
            Given::Array { tensor, dtype, .. } => Ok(Given::Array { tensor, dtype, _keep: Some(object) }),
            other => Ok(other),
        }
    }

    /// Tensors that only stand for memory: torch's zero tensors are made real, others are refused.
    fn without_memory(object: &Bound<'py, PyAny>, name: &dyn Fn() -> String) -> PyResult<Self> {
        let is_zero = object.call_method0("_is_zerotensor").and_then(|z| z.is_truthy()).unwrap_or(false);
        if is_zero {
            return Self::kept_alive(object.call_method0("clone")?, name);
        }
        let error = Error::Device(Box::new(
            Diagnosis::new("no-memory", "", format!("`{}` has a shape but no memory (a meta or fake tensor)", name()))
                .advise("Foreign code needs numbers: give a tensor on the CPU."),
        ));
        Err(errors::to_python(object.py(), &error, None))
    }

    /// As an input of a call.
    pub fn input(&self) -> Option<Input<'_>> {
        Some(match self {
            Given::Array { .. } => Input::Array(self.view()?),
            Given::Float(v) => Input::Float(*v),
            Given::Int(v) => Input::Int(*v),
            Given::Bool(v) => Input::Bool(*v),
            Given::Nothing => return None,
        })
    }

    /// As an array, if it is one.
    pub fn view(&self) -> Option<View<'_>> {
        let Given::Array { tensor, dtype, .. } = self else { return None };
        let extents = |p: *mut i64| {
            if tensor.ndim == 0 || p.is_null() {
                return None;
            }
            // SAFETY: shape and strides have `ndim` numbers and live as long as the object.
            Some(unsafe { std::slice::from_raw_parts(p, tensor.ndim as usize) })
        };
        // SAFETY: the offset is within the array by DLPack's rules.
        let data = unsafe { tensor.data.cast::<u8>().add(tensor.byte_offset as usize) };
        Some(View {
            data,
            dtype: *dtype,
            shape: extents(tensor.shape).unwrap_or(&[]),
            strides: extents(tensor.strides),
        })
    }
}

fn elements(tensor: &DLTensor) -> i64 {
    if tensor.ndim == 0 || tensor.shape.is_null() {
        return 1;
    }
    // SAFETY: the shape has `ndim` numbers.
    unsafe { std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize) }.iter().product()
}

/// The framework itself refuses to show the tensor's memory (meta device, sparse layout, ...).
fn unreadable(object: &Bound<'_, PyAny>, error: &PyErr, name: &dyn Fn() -> String) -> PyErr {
    let py = object.py();
    let text = error.value(py).to_string();
    let reason = text.lines().next().unwrap_or_default().to_owned();
    let place = |attribute: &str| object.getattr(attribute).map_or_else(|_| "?".to_owned(), |v| v.to_string());
    let headline = format!("`{}` cannot be passed to foreign code: {reason}", name());
    let found = format!("device {}, layout {}, dtype {}", place("device"), place("layout"), place("dtype"));
    let error = Error::Device(Box::new(
        Diagnosis::new("device", "", headline)
            .mismatch("a dense tensor of numbers on the CPU", found)
            .advise("Convert the input before the call: x.cpu(), x.to_dense()."),
    ));
    errors::to_python(py, &error, None)
}

fn wrong_device(name: &str, tensor: &DLTensor) -> Error {
    let device = match tensor.device.device_type {
        DLDeviceType::CUDA | DLDeviceType::CUDAMANAGED => "a CUDA device",
        DLDeviceType::ROCM => "a ROCm device",
        DLDeviceType::METAL => "a Metal device",
        _ => "a device other than the CPU",
    };
    Error::Device(Box::new(
        Diagnosis::new("device", "", format!("`{name}` is on {device}, but the function is compiled for the CPU"))
            .advise("Move the input to the CPU before the call: x.cpu()."),
    ))
}

fn unknown_dtype(name: &str, found: &str) -> Error {
    let diagnosis = Diagnosis::new("dtype", "", format!("`{name}` has an element type that no foreign parameter has"))
        .mismatch("float32, float64, an integer type or bool", found);
    let diagnosis = match found {
        "torch.bfloat16" | "torch.float16" => diagnosis.advise(
            "Convert the input before the call, x.float(), or call inside of torch.autocast, where ffgrad does that.",
        ),
        _ if is_swapped(found) => {
            diagnosis.advise("Convert it to the byte order of this machine: x.astype(x.dtype.newbyteorder(\"=\")).")
        }
        _ => diagnosis,
    };
    Error::Dtype(Box::new(diagnosis))
}

/// Whether this is how NumPy writes the type of numbers that a parameter would have in this machine's byte order.
fn is_swapped(found: &str) -> bool {
    let numbers = ["f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"];
    found.strip_prefix(['<', '>']).is_some_and(|number| numbers.contains(&number))
}

/// An object that is neither an array nor a number.
pub fn no_array(name: &str, found: &str) -> Error {
    let headline = format!("`{name}` must be an array, a tensor or a number, not {found}");
    let diagnosis = Diagnosis::new("dtype", "", headline);
    Error::Dtype(Box::new(match found {
        "bytes" | "bytearray" => {
            diagnosis.advise("A parameter for text takes a str, as an array of int8 does: \"abc\".")
        }
        "list" | "tuple" => diagnosis.advise("Convert it before the call: numpy.asarray(..), torch.tensor(..)."),
        _ => diagnosis,
    }))
}

/// The framework cannot export the elements: text, dates, objects, numbers of the other byte order. Or they are numbers, and do not lie
/// as an array's do.
fn not_numbers(object: &Bound<'_, PyAny>, name: &dyn Fn() -> String) -> PyErr {
    let found = object.getattr("dtype").map_or_else(|_| "something else".to_owned(), |d| d.to_string());
    let error = match DType::ALL.iter().find(|dtype| dtype.name() == found) {
        Some(dtype) => scattered(object, &name(), *dtype),
        None => unknown_dtype(&name(), &found),
    };
    errors::to_python(object.py(), &error, None)
}

/// Numbers at distances that are no multiple of their size.
fn scattered(object: &Bound<'_, PyAny>, name: &str, dtype: DType) -> Error {
    let headline = format!(
        "the elements of `{name}` do not lie as those of an array do: it is a field of a structured array, perhaps"
    );
    let strides = object.getattr("strides").map_or_else(|_| "others".to_owned(), |s| s.to_string());
    Error::Device(Box::new(
        Diagnosis::new("device", "", headline)
            .mismatch(
                format!("{} at distances (strides) of multiples of {} bytes", dtype.name(), dtype.size()),
                format!("strides {strides}"),
            )
            .advise("Copy it before the call: numpy.ascontiguousarray(x)."),
    ))
}

/// No parameter holds it.
fn too_large(object: &Bound<'_, PyAny>, name: &dyn Fn() -> String) -> PyErr {
    let digits: String = object.str().map_or_else(|_| String::new(), |s| s.to_string().chars().take(40).collect());
    let headline = format!("`{}` cannot hold {digits}", name());
    let error = Error::Dtype(Box::new(
        Diagnosis::new("value-range", "", headline).mismatch("a number that 64 bits hold", digits),
    ));
    errors::to_python(object.py(), &error, None)
}

/// Imports through `__dlpack__`, versioned where the producer knows that.
fn from_capsule<'py>(object: &Bound<'py, PyAny>, name: &dyn Fn() -> String) -> PyResult<(DLTensor, Bound<'py, PyAny>)> {
    let py = object.py();
    let Ok(method) = object.getattr(pyo3::intern!(py, "__dlpack__")) else {
        let found = object.get_type().name()?;
        return Err(errors::to_python(py, &no_array(&name(), &found.to_string()), None));
    };
    let options = pyo3::types::PyDict::new(py);
    options.set_item("max_version", (1, 1))?;
    let capsule = match method.call((), Some(&options)) {
        Ok(capsule) => capsule,
        // Producers from before DLPack 1.0 take no version.
        Err(e) if e.is_instance_of::<PyTypeError>(py) => match method.call0() {
            Err(e) if e.is_instance_of::<PyBufferError>(py) => {
                read_only::export(object).ok_or_else(|| not_numbers(object, name))?
            }
            other => other?,
        },
        Err(e) if e.is_instance_of::<PyBufferError>(py) => return Err(not_numbers(object, name)),
        Err(e) => return Err(e),
    };
    Ok((tensor_of(&capsule)?, capsule))
}

/// What a capsule describes; it must outlive the answer.
pub fn tensor_of(capsule: &Bound<'_, PyAny>) -> PyResult<DLTensor> {
    let owned = capsule.clone().cast_into::<PyCapsule>().map_err(PyErr::from)?;
    Ok(if let Ok(p) = owned.pointer_checked(Some(c"dltensor_versioned")) {
        // SAFETY: a capsule of this name holds a versioned tensor; it stays in the capsule, whose
        // destructor frees it.
        unsafe { p.cast::<DLManagedTensorVersioned>().as_ref() }.dl_tensor
    } else {
        let p = owned.pointer_checked(Some(c"dltensor"))?;
        // SAFETY: as above, for the legacy layout.
        unsafe { p.cast::<DLManagedTensor>().as_ref() }.dl_tensor
    })
}

/// A list that seldom needs memory of its own.
pub type Few<T> = SmallVec<[T; 4]>;
