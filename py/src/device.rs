//! Arrays on a GPU through DLPack: imports a framework's arrays without a copy, exports results.
//!
//! | array | in | out |
//! |---|---|---|
//! | of another library | [`DeviceView`]: the capsule that it gave for our stream, held | |
//! | of ours, [`DeviceArray`] | by its address | `__dlpack__(stream=...)`: the consumer's stream waits for ours; its memory lives as long as the capsule |
//!
//! Streams are numbers as in DLPack, which are the driver's own handles: 1 is the legacy default stream.

use crate::arrays;
use crate::errors;
use crate::function::Function;
use crate::interrupt::detached;
use compile_driver::Error;
use compile_driver::gpu::errors::Kernel;
use compile_driver::gpu::memory::{self, Memory};
use core_ad::DType;
use dlpark::ffi::{DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::ffi::{CStr, c_void};
use std::sync::Arc;

const VERSIONED: &CStr = c"dltensor_versioned";
const LEGACY: &CStr = c"dltensor";

/// An array of another library, on a GPU. It holds the capsule, and so the memory.
#[pyclass(frozen, module = "ffgrad._native")]
pub struct DeviceView {
    /// Where its first element is.
    #[pyo3(get)]
    address: u64,
    /// Extents.
    #[pyo3(get)]
    shape: Vec<i64>,
    /// Whether the elements are contiguous.
    #[pyo3(get)]
    contiguous: bool,
    /// Element type, as in NumPy; `None` for one that no parameter has.
    #[pyo3(get)]
    dtype: Option<&'static str>,
    /// Number of the device.
    #[pyo3(get)]
    device: i32,
    _capsule: Py<PyAny>,
}

#[pymethods]
impl DeviceView {
    #[new]
    fn new(capsule: Bound<'_, PyAny>) -> PyResult<Self> {
        let tensor = arrays::tensor_of(&capsule)?;
        if tensor.device.device_type != DLDeviceType::CUDA && tensor.device.device_type != DLDeviceType::CUDAMANAGED {
            return Err(PyBufferError::new_err("the array is not on a CUDA device"));
        }
        let numbers = |p: *mut i64| match tensor.ndim == 0 || p.is_null() {
            true => Vec::new(),
            // SAFETY: shape and strides have `ndim` numbers and live as long as the capsule.
            false => unsafe { std::slice::from_raw_parts(p, tensor.ndim as usize) }.to_vec(),
        };
        let (shape, strides) = (numbers(tensor.shape), numbers(tensor.strides));
        let contiguous = strides.is_empty() || is_contiguous(&shape, &strides);
        let address = tensor.data as u64 + tensor.byte_offset;
        let dtype = arrays::from_dlpack(tensor.dtype).map(DType::name);
        Ok(DeviceView {
            address,
            shape,
            contiguous,
            dtype,
            device: tensor.device.device_id,
            _capsule: capsule.unbind(),
        })
    }
}

fn is_contiguous(shape: &[i64], strides: &[i64]) -> bool {
    let mut expected = 1;
    shape.contains(&0)
        || shape.iter().zip(strides).rev().all(|(&extent, &stride)| {
            let fits = extent == 1 || stride == expected;
            expected *= extent;
            fits
        })
}

/// An array on a GPU that is ours, until a library takes it.
#[pyclass(frozen, module = "ffgrad._native")]
pub struct DeviceArray {
    memory: Arc<Memory>,
    function: Arc<compile_driver::Function>,
    #[pyo3(get)]
    shape: Vec<i64>,
    dtype: DType,
    #[pyo3(get)]
    device: i32,
    stream: u64,
}

#[pymethods]
impl DeviceArray {
    /// Takes memory for an array, in the order of a stream. `data`: its bytes; else `source`: the address of an array of the same
    /// size on the device, which is copied; else zeros.
    #[new]
    #[pyo3(signature = (function, device, stream, shape, dtype, data=None, source=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        function: &Function,
        device: i32,
        stream: u64,
        shape: Vec<i64>,
        dtype: &str,
        data: Option<&[u8]>,
        source: Option<u64>,
    ) -> PyResult<Self> {
        let function = function.inner.clone();
        let Some(dtype) = crate::xla::named(dtype) else {
            return Err(PyTypeError::new_err(format!("no parameter has the element type {dtype}")));
        };
        let bytes = shape.iter().product::<i64>() as usize * dtype.size();
        if data.is_some_and(|d| d.len() != bytes) {
            return Err(PyValueError::new_err("the data has another size"));
        }
        let made = (|| {
            let kernel = Kernel::of(function.spec(), function.manifest());
            let memory = Memory::new(kernel, device, stream, bytes)?;
            match (data, source) {
                (Some(data), _) => memory.upload(kernel, data)?,
                // SAFETY: the front end gives the address of an array of this shape and type.
                (None, Some(address)) => unsafe { memory.copy_from(kernel, address) }?,
                (None, None) => memory.zero(kernel)?,
            }
            Ok(memory)
        })();
        let memory = made.map_err(|e: Error| errors::to_python(py, &e, Some(&function.spec().function)))?;
        Ok(DeviceArray { memory: Arc::new(memory), function, shape, dtype, device, stream })
    }

    /// Where it is.
    #[getter]
    fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Element type, as in NumPy.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.dtype.name()
    }

    /// DLPack's number of the kind of device, CUDA, and which one.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (DLDeviceType::CUDA.0 as i32, self.device)
    }

    /// A capsule for a consumer that works on `stream`; that one waits for the work that is pending here.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if dl_device.is_some_and(|d| d != self.__dlpack_device__()) || copy == Some(true) {
            return Err(PyBufferError::new_err("ffgrad exports its arrays in place, without a copy"));
        }
        // -1: the consumer orders the streams itself; none is the legacy default one, as 1.
        if stream != Some(-1) {
            let later = stream.unwrap_or(1) as u64;
            let kernel = Kernel::of(self.function.spec(), self.function.manifest());
            let ordered = memory::order(kernel, self.device, self.stream, later);
            ordered.map_err(|e| errors::to_python(py, &e, Some(&self.function.spec().function)))?;
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        capsule(py, self, versioned)
    }
}

/// What a capsule keeps alive.
struct Owner {
    _memory: Arc<Memory>,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

fn capsule<'py>(py: Python<'py>, array: &DeviceArray, versioned: bool) -> PyResult<Bound<'py, PyCapsule>> {
    let mut strides: Vec<i64> = vec![1; array.shape.len()];
    for i in (1..array.shape.len()).rev() {
        strides[i - 1] = strides[i] * array.shape[i].max(1);
    }
    let owner = Box::new(Owner { _memory: array.memory.clone(), shape: array.shape.clone(), strides });
    let owner = Box::into_raw(owner);
    // SAFETY: just made; the lists stay where they are as long as it lives.
    let (shape, strides) = unsafe { ((*owner).shape.as_mut_ptr(), (*owner).strides.as_mut_ptr()) };
    let dl_tensor = DLTensor {
        data: array.memory.address() as *mut c_void,
        device: DLDevice { device_type: DLDeviceType::CUDA, device_id: array.device },
        ndim: array.shape.len() as i32,
        dtype: arrays::to_dlpack(array.dtype),
        shape,
        strides,
        byte_offset: 0,
    };
    let (pointer, name): (*mut c_void, &'static CStr) = if versioned {
        let tensor = DLManagedTensorVersioned {
            version: DLPackVersion { major: 1, minor: 0 },
            manager_ctx: owner.cast(),
            deleter: Some(delete_versioned),
            flags: dlpark::DlpackFlags::empty(),
            dl_tensor,
        };
        (Box::into_raw(Box::new(tensor)).cast(), VERSIONED)
    } else {
        let tensor = DLManagedTensor { dl_tensor, manager_ctx: owner.cast(), deleter: Some(delete_legacy) };
        (Box::into_raw(Box::new(tensor)).cast(), LEGACY)
    };
    // SAFETY: a new tensor under its name, freed by the destructor unless a consumer renamed the capsule and took it over.
    unsafe {
        let object = pyo3::ffi::PyCapsule_New(pointer, name.as_ptr(), Some(unused));
        Bound::from_owned_ptr_or_err(py, object)?.cast_into::<PyCapsule>().map_err(PyErr::from)
    }
}

unsafe extern "C" fn delete_versioned(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: both were boxed in `capsule`, and deleters are called once.
    unsafe {
        let tensor = Box::from_raw(tensor);
        drop(Box::from_raw(tensor.manager_ctx.cast::<Owner>()));
    }
}

unsafe extern "C" fn delete_legacy(tensor: *mut DLManagedTensor) {
    // SAFETY: as above.
    unsafe {
        let tensor = Box::from_raw(tensor);
        drop(Box::from_raw(tensor.manager_ctx.cast::<Owner>()));
    }
}

/// Frees what no consumer took: those rename the capsule.
unsafe extern "C" fn unused(object: *mut pyo3::ffi::PyObject) {
    // SAFETY: Python calls this with the capsule that it was given to; names are compared before pointers are used.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(object, VERSIONED.as_ptr()) == 1 {
            delete_versioned(pyo3::ffi::PyCapsule_GetPointer(object, VERSIONED.as_ptr()).cast());
        } else if pyo3::ffi::PyCapsule_IsValid(object, LEGACY.as_ptr()) == 1 {
            delete_legacy(pyo3::ffi::PyCapsule_GetPointer(object, LEGACY.as_ptr()).cast());
        }
    }
}

/// The bytes of an array on a device; waits for the stream.
#[pyfunction]
pub fn download<'py>(
    py: Python<'py>,
    function: &Function,
    device: i32,
    stream: u64,
    address: u64,
    bytes: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let function = function.inner.clone();
    let mut data = vec![0; bytes];
    let outcome = detached(py, || {
        // SAFETY: the front end gives the address and size of an array.
        unsafe {
            memory::download(Kernel::of(function.spec(), function.manifest()), device, stream, address, &mut data)
        }
    })?;
    outcome.map_err(|e| errors::to_python(py, &e, Some(&function.spec().function)))?;
    Ok(PyBytes::new(py, &data))
}
