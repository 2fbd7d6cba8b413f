//! Python classes for arguments and results other than arrays: which arrays are batched, and the tape of a forward call.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Which arrays of a call have leading batch dimensions; bit i of a mask stands for the i-th array.
#[pyclass(frozen, module = "ffgrad._native")]
pub struct Batch {
    shape: Vec<i64>,
    masks: [u64; 4],
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (shape, inputs = 0, cotangents = 0, tangents = 0, separate = 0))]
    fn new(shape: Vec<i64>, inputs: u64, cotangents: u64, tangents: u64, separate: u64) -> PyResult<Self> {
        if shape.iter().any(|&d| d < 0) {
            return Err(PyValueError::new_err("a batch dimension cannot be negative"));
        }
        Ok(Batch { shape, masks: [inputs, cotangents, tangents, separate] })
    }
}

/// What a forward call keeps for its gradient (`mode="tape"`), until it is used or dropped.
#[pyclass(frozen, module = "ffgrad._native")]
pub struct Tape {
    pub(crate) inner: Mutex<Option<compile_driver::Tape>>,
    /// The inputs whose gradients it was made for; known after its use too.
    pub(crate) mask: u64,
}

#[pymethods]
impl Tape {
    /// Bytes held; 0 once it was used.
    #[getter]
    fn nbytes(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, compile_driver::Tape::bytes)
    }
}

impl Batch {
    pub(crate) fn borrowed(&self) -> compile_driver::Batch<'_> {
        let [inputs, cotangents, tangents, separate] = self.masks;
        compile_driver::Batch { shape: &self.shape, inputs, cotangents, tangents, separate, ..Default::default() }
    }
}
