//! Framework arrays, by DLPack.
//!
//! | array | in | out | copies |
//! |---|---|---|---|
//! | type with `__dlpack_c_exchange_api__` (torch ≥ 2.10) | borrowed `DLTensor`, no allocation | the type's own allocator | none |
//! | object with `__dlpack__` (NumPy, older torch, ...) | versioned or legacy capsule, held for the call | a callable of the front end | none |
//! | Python number | constant, in the parameter's type | | |
//!
//! The layouts are dlpark's, generated from dlpack.h.

use crate::errors;
use compile_driver::{Error, Input, Results, View};
use core_ad::DType;
use core_ad::diagnostics::Diagnosis;
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLPackExchangeAPI,
    DLTensor,
};
use ffgrad_torch::NewTensor;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt, PyTuple};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull};

/// The exchange table of an array type, valid for the life of the process.
#[derive(Clone, Copy)]
pub struct Exchange {
    table: NonNull<DLPackExchangeAPI>,
    /// Arrays of the type may carry a sign still to be applied (torch's negative bit), of which DLPack knows
    /// nothing.
    lazy_sign: bool,
}

// SAFETY: the table is immutable and owned by the framework for the life of the process.
unsafe impl Send for Exchange {}
// SAFETY: as above.
unsafe impl Sync for Exchange {}

thread_local! {
    /// The last array type seen and its table: calls come in runs of one type.
    static LAST: RefCell<Option<(usize, Option<Exchange>)>> = const { RefCell::new(None) };
}

impl Exchange {
    /// The table of a type, if it offers one.
    pub fn of_type(ty: &Bound<'_, PyAny>) -> Option<Self> {
        let key = ty.as_ptr() as usize;
        let last = LAST.with_borrow(|l| l.filter(|(k, _)| *k == key));
        if let Some((_, found)) = last {
            return found;
        }
        let found = Self::look_up(ty);
        LAST.set(Some((key, found)));
        found
    }

    fn look_up(ty: &Bound<'_, PyAny>) -> Option<Self> {
        let capsule = ty.getattr(pyo3::intern!(ty.py(), "__dlpack_c_exchange_api__")).ok()?;
        let capsule = capsule.cast_into::<PyCapsule>().ok()?;
        let pointer = capsule.pointer_checked(Some(c"dlpack_exchange_api")).ok()?;
        let table = pointer.cast::<DLPackExchangeAPI>();
        // SAFETY: a capsule of this name holds such a table; its header is stable across versions.
        let major = unsafe { table.as_ref() }.header.version.major;
        let lazy_sign = ty.hasattr(pyo3::intern!(ty.py(), "is_neg")).unwrap_or(false);
        (major == 1).then_some(Exchange { table, lazy_sign })
    }

    fn table(&self) -> &DLPackExchangeAPI {
        // SAFETY: see the type.
        unsafe { self.table.as_ref() }
    }

    fn borrow(&self, array: &Bound<'_, PyAny>) -> Option<PyResult<DLTensor>> {
        let function = self.table().dltensor_from_py_object_no_sync?;
        // SAFETY: an all-zero DLTensor is valid; the function fills it or sets an exception.
        let mut tensor: DLTensor = unsafe { std::mem::zeroed() };
        // SAFETY: the object is of the type that the table came from.
        let status = unsafe { function(array.as_ptr().cast(), &mut tensor) };
        Some(if status == 0 { Ok(tensor) } else { Err(PyErr::fetch(array.py())) })
    }

    fn allocate(&self, dtype: DType, shape: &[i64]) -> Result<NonNull<DLManagedTensorVersioned>, String> {
        let function = self.table().managed_tensor_allocator.ok_or("no allocator")?;
        let mut extents = shape.to_vec();
        let mut prototype = DLTensor {
            data: ptr::null_mut(),
            device: DLDevice { device_type: DLDeviceType::CPU, device_id: 0 },
            ndim: shape.len() as i32,
            dtype: to_dlpack(dtype),
            shape: extents.as_mut_ptr(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let mut message = String::new();
        let mut tensor: *mut DLManagedTensorVersioned = ptr::null_mut();
        // SAFETY: the prototype describes the wanted array; `set_error` writes to `message` only.
        unsafe { function(&mut prototype, &mut tensor, (&raw mut message).cast(), Some(set_error)) };
        NonNull::new(tensor).ok_or(message)
    }

    fn hand_over<'py>(
        &self,
        py: Python<'py>,
        tensor: NonNull<DLManagedTensorVersioned>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let function = self.table().managed_tensor_to_py_object_no_sync;
        let function = function.ok_or_else(|| PyTypeError::new_err("incomplete DLPack exchange table"))?;
        let mut object: *mut c_void = ptr::null_mut();
        // SAFETY: the tensor is owned and handed over; the object is a new reference.
        let status = unsafe { function(tensor.as_ptr(), &mut object) };
        if status != 0 || object.is_null() {
            return Err(PyErr::fetch(py));
        }
        // SAFETY: a new, non-null reference.
        Ok(unsafe { Bound::from_owned_ptr(py, object.cast()) })
    }
}

unsafe extern "C" fn set_error(context: *mut c_void, _kind: *const c_char, message: *const c_char) {
    if !context.is_null() && !message.is_null() {
        // SAFETY: `context` is the `String` that `allocate` passed, `message` a C string.
        unsafe { *context.cast::<String>() = CStr::from_ptr(message).to_string_lossy().into_owned() };
    }
}

pub fn to_dlpack(dtype: DType) -> DLDataType {
    let code = match dtype {
        DType::F32 | DType::F64 => DLDataTypeCode::FLOAT,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => DLDataTypeCode::INT,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => DLDataTypeCode::UINT,
        DType::Bool => DLDataTypeCode::BOOL,
    };
    DLDataType { code, bits: (dtype.size() * 8) as u8, lanes: 1 }
}

pub fn from_dlpack(dtype: DLDataType) -> Option<DType> {
    let bits = if dtype.lanes == 1 { dtype.bits } else { 0 };
    Some(match (dtype.code, bits) {
        (DLDataTypeCode::FLOAT, 32) => DType::F32,
        (DLDataTypeCode::FLOAT, 64) => DType::F64,
        (DLDataTypeCode::INT, 8) => DType::I8,
        (DLDataTypeCode::INT, 16) => DType::I16,
        (DLDataTypeCode::INT, 32) => DType::I32,
        (DLDataTypeCode::INT, 64) => DType::I64,
        (DLDataTypeCode::UINT, 8) => DType::U8,
        (DLDataTypeCode::UINT, 16) => DType::U16,
        (DLDataTypeCode::UINT, 32) => DType::U32,
        (DLDataTypeCode::UINT, 64) => DType::U64,
        (DLDataTypeCode::BOOL, 8) => DType::Bool,
        _ => return None,
    })
}

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
    /// Looks at an object.
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
        let (tensor, capsule) = from_capsule(object, name)?;
        Self::array(object, tensor, Some(capsule), name)
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
        Diagnosis::new("device", "", format!("`{name}` lies on {device}, but the function is compiled for the CPU"))
            .advise("Move the input to the CPU before the call: x.cpu()."),
    ))
}

fn unknown_dtype(name: &str, found: &str) -> Error {
    Error::Dtype(Box::new(
        Diagnosis::new("dtype", "", format!("`{name}` has an element type that no foreign parameter has"))
            .mismatch("float32, float64, an integer type or bool", found),
    ))
}

/// The framework cannot export the elements: text, dates, objects, numbers of the other byte order.
fn not_numbers(object: &Bound<'_, PyAny>, name: &dyn Fn() -> String) -> PyErr {
    let found = object.getattr("dtype").map_or_else(|_| "something else".to_owned(), |d| d.to_string());
    errors::to_python(object.py(), &unknown_dtype(&name(), &found), None)
}

/// No parameter holds it.
fn too_large(object: &Bound<'_, PyAny>, name: &dyn Fn() -> String) -> PyErr {
    let digits: String = object.str().map_or_else(|_| String::new(), |s| s.to_string().chars().take(40).collect());
    let headline = format!("`{}` cannot hold {digits}", name());
    let error =
        Error::Dtype(Box::new(Diagnosis::new("value-range", "", headline).mismatch("an integer of 64 bits", digits)));
    errors::to_python(object.py(), &error, None)
}

/// Imports through `__dlpack__`, versioned where the producer knows that.
fn from_capsule<'py>(object: &Bound<'py, PyAny>, name: &dyn Fn() -> String) -> PyResult<(DLTensor, Bound<'py, PyAny>)> {
    let py = object.py();
    let Ok(method) = object.getattr(pyo3::intern!(py, "__dlpack__")) else {
        let found = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("`{}` must be a tensor or a number, not {found}", name())));
    };
    let options = pyo3::types::PyDict::new(py);
    options.set_item("max_version", (1, 1))?;
    let capsule = match method.call((), Some(&options)) {
        Ok(capsule) => capsule,
        // Producers from before DLPack 1.0 take no version.
        Err(e) if e.is_instance_of::<PyTypeError>(py) => method.call0()?,
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

/// Results allocated in the framework.
pub struct Allocated<'f> {
    exchange: Option<Exchange>,
    /// `allocate(shape, dtype_name) -> array`, for frameworks without an exchange table.
    fallback: &'f Py<PyAny>,
    /// PyTorch makes its tensors itself, without a capsule around them.
    is_torch: bool,
    made: Few<(usize, Made)>,
}

enum Made {
    Torch(NewTensor),
    Tensor(NonNull<DLManagedTensorVersioned>),
    Object(Py<PyAny>),
    Reversed(Py<PyAny>),
}

// SAFETY: owned tensors may be handed over from any thread.
unsafe impl Send for Allocated<'_> {}

impl<'f> Allocated<'f> {
    /// Results of the framework whose array type is `ty`; `is_torch` where that is PyTorch's and [`NewTensor`] is
    /// available.
    pub fn new(ty: &Bound<'_, PyAny>, fallback: &'f Py<PyAny>, is_torch: bool) -> Self {
        let exchange = if is_torch { None } else { Exchange::of_type(ty) };
        Allocated { exchange, fallback, is_torch, made: SmallVec::new() }
    }

    /// The results as a list of `count` objects, `None` where none was asked for.
    pub fn into_objects<'py>(mut self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyTuple>> {
        if count == 1 {
            return PyTuple::new(py, [self.into_one_or_all(py, count)?]);
        }
        let mut objects: Few<Bound<'py, PyAny>> = SmallVec::from_elem(py.None().into_bound(py), count);
        for (position, made) in std::mem::take(&mut self.made) {
            let object = self.object(py, made)?;
            if let Some(place) = objects.get_mut(position) {
                *place = object;
            }
        }
        PyTuple::new(py, objects)
    }

    /// The only result where there is one, else all of them as [`Allocated::into_objects`] does.
    pub fn into_one_or_all<'py>(mut self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        if count != 1 {
            return self.into_objects(py, count).map(Bound::into_any);
        }
        match self.made.pop() {
            Some((_, made)) => self.object(py, made),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn object<'py>(&self, py: Python<'py>, made: Made) -> PyResult<Bound<'py, PyAny>> {
        match (made, self.exchange) {
            (Made::Torch(tensor), _) => {
                // SAFETY: `py` is the proof that the GIL is held.
                let object = unsafe { tensor.into_python() };
                // SAFETY: a new reference, or null.
                unsafe { Bound::from_owned_ptr_or_opt(py, object.cast()) }
                    .ok_or_else(|| PyErr::take(py).unwrap_or_else(|| PyTypeError::new_err("no tensor")))
            }
            (Made::Tensor(tensor), Some(exchange)) => exchange.hand_over(py, tensor),
            (Made::Tensor(_), None) => Ok(py.None().into_bound(py)),
            (Made::Object(object), _) => Ok(object.into_bound(py)),
            (Made::Reversed(object), _) => reversed(object.into_bound(py)),
        }
    }

    fn by_callable(&self, dtype: DType, shape: &[i64]) -> PyResult<(Py<PyAny>, *mut u8)> {
        Python::attach(|py| {
            let shape = PyTuple::new(py, shape)?;
            let object = self.fallback.bind(py).call1((shape, dtype.name()))?;
            let given = Given::from_object(&object, &|| "result".to_owned())?;
            let data = given.view().map_or(ptr::null_mut(), |v| v.data.cast_mut());
            Ok((object.unbind(), data))
        })
    }
}

impl Results for Allocated<'_> {
    fn allocate(&mut self, position: usize, dtype: DType, shape: &[i64]) -> compile_driver::Result<*mut u8> {
        let (made, data) = match self.exchange {
            _ if self.is_torch => {
                let (tensor, data) = new_tensor(dtype, shape, false)?;
                (Made::Torch(tensor), data)
            }
            Some(exchange) => {
                let tensor = exchange.allocate(dtype, shape).map_err(|e| no_memory(&e))?;
                // SAFETY: a fresh tensor of the framework.
                let inner = unsafe { tensor.as_ref() }.dl_tensor;
                // SAFETY: the offset is within the array.
                let data = unsafe { inner.data.cast::<u8>().add(inner.byte_offset as usize) };
                (Made::Tensor(tensor), data)
            }
            None => {
                let (object, data) = self.by_callable(dtype, shape).map_err(|e| no_memory(&e.to_string()))?;
                (Made::Object(object), data)
            }
        };
        self.made.push((position, made));
        Ok(never_null(data))
    }

    fn allocate_column_major(
        &mut self,
        position: usize,
        dtype: DType,
        shape: &[i64],
    ) -> compile_driver::Result<Option<*mut u8>> {
        if self.is_torch {
            let (tensor, data) = new_tensor(dtype, shape, true)?;
            self.made.push((position, Made::Torch(tensor)));
            return Ok(Some(never_null(data)));
        }
        let reversed: Vec<i64> = shape.iter().rev().copied().collect();
        let data = self.allocate(position, dtype, &reversed)?;
        if let Some((_, made)) = self.made.pop() {
            self.made.push((position, made.transposed()));
        }
        Ok(Some(data))
    }
}

fn new_tensor(dtype: DType, shape: &[i64], column_major: bool) -> compile_driver::Result<(NewTensor, *mut u8)> {
    NewTensor::empty(dtype, shape, column_major).ok_or_else(|| no_memory("PyTorch said why on standard error"))
}

/// An empty array may have no address; the driver takes null for "no result wanted".
fn never_null(data: *mut u8) -> *mut u8 {
    if data.is_null() { NonNull::<u64>::dangling().as_ptr().cast() } else { data }
}

/// A framework's row-major array seen with its dimensions in reverse, under the framework's own manager.
struct Transposed {
    inner: NonNull<DLManagedTensorVersioned>,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Transposed {
    fn wrap(inner: NonNull<DLManagedTensorVersioned>) -> NonNull<DLManagedTensorVersioned> {
        // SAFETY: an owned tensor, valid until its deleter is called.
        let (head, tensor) = unsafe { (inner.as_ref().flags, inner.as_ref().dl_tensor) };
        let rank = tensor.ndim as usize;
        // SAFETY: the shape has `ndim` numbers.
        let rows = unsafe { std::slice::from_raw_parts(tensor.shape, rank) };
        let shape: Vec<i64> = rows.iter().rev().copied().collect();
        let mut strides = vec![1; rank];
        for d in 1..rank {
            strides[d] = strides[d - 1] * shape[d - 1].max(1);
        }
        let mut own = Box::new(Transposed { inner, shape, strides });
        let dl_tensor = DLTensor { shape: own.shape.as_mut_ptr(), strides: own.strides.as_mut_ptr(), ..tensor };
        // SAFETY: as above.
        let version = unsafe { inner.as_ref() }.version;
        let outer = DLManagedTensorVersioned {
            version,
            manager_ctx: Box::into_raw(own).cast(),
            deleter: Some(delete_transposed),
            flags: head,
            dl_tensor,
        };
        NonNull::from(Box::leak(Box::new(outer)))
    }
}

unsafe extern "C" fn delete_transposed(outer: *mut DLManagedTensorVersioned) {
    // SAFETY: `outer` and its context were boxed in `wrap`, and are deleted once.
    unsafe {
        let outer = Box::from_raw(outer);
        let own = Box::from_raw(outer.manager_ctx.cast::<Transposed>());
        if let Some(deleter) = own.inner.as_ref().deleter {
            deleter(own.inner.as_ptr());
        }
    }
}

impl Made {
    /// The same memory with the dimensions in reverse order.
    fn transposed(self) -> Self {
        match self {
            Made::Tensor(tensor) => Made::Tensor(Transposed::wrap(tensor)),
            Made::Object(object) => Made::Reversed(object),
            other @ (Made::Torch(_) | Made::Reversed(_)) => other,
        }
    }
}

/// An array of a framework without an exchange table, with its dimensions in reverse: torch's and NumPy's word for it.
fn reversed<'py>(object: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !object.hasattr("permute")? {
        return object.call_method0("transpose");
    }
    let rank: usize = object.getattr("ndim")?.extract()?;
    let order: Vec<usize> = (0..rank).rev().collect();
    object.call_method1("permute", (order,))
}

impl Drop for Allocated<'_> {
    fn drop(&mut self) {
        for (_, made) in self.made.drain(..) {
            if let Made::Tensor(tensor) = made {
                // SAFETY: the tensor is owned here and was not handed over.
                unsafe {
                    if let Some(deleter) = tensor.as_ref().deleter {
                        deleter(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

fn no_memory(reason: &str) -> Error {
    let headline = format!("the framework could not allocate a result: {reason}");
    Error::Device(Box::new(Diagnosis::new("allocation", "", headline)))
}
