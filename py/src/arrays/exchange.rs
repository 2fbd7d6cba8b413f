//! DLPack's exchange table of an array type (C functions that export and create arrays), and DLPack's names for dtypes.

use core_ad::DType;
use dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensorVersioned, DLPackExchangeAPI, DLTensor,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{self, NonNull};

/// The exchange table of an array type, valid for the life of the process.
#[derive(Clone, Copy)]
pub struct Exchange {
    table: NonNull<DLPackExchangeAPI>,
    /// Arrays of the type may carry a sign still to be applied (torch's negative bit), of which DLPack knows
    /// nothing.
    pub lazy_sign: bool,
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

    /// The layout of an array, which stays the array's; `None` where the table does not have it.
    pub fn borrow(&self, array: &Bound<'_, PyAny>) -> Option<PyResult<DLTensor>> {
        let function = self.table().dltensor_from_py_object_no_sync?;
        // SAFETY: an all-zero DLTensor is valid; the function fills it or sets an exception.
        let mut tensor: DLTensor = unsafe { std::mem::zeroed() };
        // SAFETY: the object is of the type that the table came from.
        let status = unsafe { function(array.as_ptr().cast(), &mut tensor) };
        Some(if status == 0 { Ok(tensor) } else { Err(PyErr::fetch(array.py())) })
    }

    /// A new array of the type that the table came from.
    pub fn allocate(&self, dtype: DType, shape: &[i64]) -> Result<NonNull<DLManagedTensorVersioned>, String> {
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

    /// A made array as a Python object.
    pub fn hand_over<'py>(
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

// SAFETY: the table is immutable and owned by the framework for the life of the process.
unsafe impl Send for Exchange {}
// SAFETY: as above.
unsafe impl Sync for Exchange {}

thread_local! {
    /// The last array type seen and its table: calls come in runs of one type.
    static LAST: RefCell<Option<(usize, Option<Exchange>)>> = const { RefCell::new(None) };
}

unsafe extern "C" fn set_error(context: *mut c_void, _kind: *const c_char, message: *const c_char) {
    if !context.is_null() && !message.is_null() {
        // SAFETY: `context` is the `String` that `allocate` passed, `message` a C string.
        unsafe { *context.cast::<String>() = CStr::from_ptr(message).to_string_lossy().into_owned() };
    }
}
