//! Creates Python's tensor objects through the stable ABI, with PyTorch 2.14 and later.

use crate::api::{self, Api, Tensor};
use crate::tensors;
use core_ad::DType;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

/// Whether this thread records what it computes for reverse mode; `None` without PyTorch.
pub fn is_grad_enabled() -> Option<bool> {
    // SAFETY: takes nothing.
    api::api().map(|api| unsafe { (api.grad_mode)() })
}

/// A tensor that is not yet Python's.
pub struct NewTensor {
    api: &'static Api,
    raw: NonNull<Tensor>,
}

// SAFETY: tensors may be used and dropped on any thread.
unsafe impl Send for NewTensor {}

impl Drop for NewTensor {
    fn drop(&mut self) {
        // SAFETY: our own reference, dropped once.
        unsafe { (self.api.delete_tensor)(self.raw.as_ptr()) };
    }
}

impl NewTensor {
    /// Whether this process's PyTorch has what is needed.
    pub fn available() -> bool {
        api::api().is_some_and(|api| api.to_python.is_some())
    }

    /// An uninitialised tensor without gaps on the CPU, and its memory; nothing if PyTorch cannot make it.
    pub fn empty(dtype: DType, shape: &[i64], column_major: bool) -> Option<(Self, *mut u8)> {
        let api = api::api()?;
        let (raw, data) = tensors::empty(api, dtype, shape, column_major).ok()?;
        Some((NewTensor { api, raw }, data))
    }

    /// A new reference to the tensor as a Python object; null if Python cannot make it, with an exception set or not.
    ///
    /// # Safety
    ///
    /// The caller holds the GIL.
    pub unsafe fn into_python(self) -> *mut c_void {
        let mut object = ptr::null_mut();
        let Some(convert) = self.api.to_python else { return ptr::null_mut() };
        // SAFETY: a live tensor, the GIL held, room for the answer. Null asks for the plain type.
        match unsafe { convert(self.raw.as_ptr(), ptr::null_mut(), &mut object) } {
            0 => object,
            _ => ptr::null_mut(),
        }
    }
}
