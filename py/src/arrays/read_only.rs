//! Read-only arrays of producers from before DLPack 1.0 (NumPy until 2.0), which refuse to export them: a capsule of theirs cannot say
//! that nobody may write. Inputs are only read, so the array is seen through another one over the same memory.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What NumPy makes an array of: a description of memory, and who owns that.
#[pyclass(frozen)]
struct Memory {
    description: Py<PyDict>,
    _owner: Py<PyAny>,
}

#[pymethods]
impl Memory {
    #[getter(__array_interface__)]
    fn description(&self, py: Python<'_>) -> Py<PyDict> {
        self.description.clone_ref(py)
    }
}

/// Exports a read-only array through `__array_interface__`: a capsule that keeps the array alive, of the same memory.
///
/// `None` where the object is no array with memory that is read-only, or for another reason cannot be exported.
pub fn export<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = object.py();
    let own = object.getattr(pyo3::intern!(py, "__array_interface__")).ok()?.cast_into::<PyDict>().ok()?;
    let (address, is_read_only) =
        own.get_item("data").ok()??.cast::<PyTuple>().ok()?.extract::<(usize, bool)>().ok()?;
    if !is_read_only {
        return None;
    }
    let description = own.copy().ok()?;
    description.set_item("data", (address, false)).ok()?;
    let memory = Memory { description: description.unbind(), _owner: object.clone().unbind() };
    let array = py.import("numpy").ok()?.call_method1("asarray", (Bound::new(py, memory).ok()?,)).ok()?;
    array.call_method0(pyo3::intern!(py, "__dlpack__")).ok()
}
