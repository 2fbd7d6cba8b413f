//! Arrays for results, made by the framework whose arrays came in.

use super::exchange::Exchange;
use super::{Few, Given};
use compile_driver::{Error, NO_MEMORY, Results};
use core_ad::DType;
use core_ad::diagnostics::Diagnosis;
use dlpark::ffi::{DLManagedTensorVersioned, DLTensor};
use ffgrad_torch::NewTensor;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;
use std::ptr::{self, NonNull};

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
    NewTensor::empty(dtype, shape, column_major)
        .ok_or_else(|| no_memory("PyTorch printed the reason on standard error"))
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
    Error::Memory(Box::new(Diagnosis::new(NO_MEMORY, "", headline)))
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
