//! `ffgrad._native`: what the Python front ends call.
//!
//! One class, [`Function`], whose methods take framework arrays by DLPack and return arrays of the same
//! framework. The GIL is released while tools or foreign code run. Private: the Python package wraps it.

mod arrays;
mod errors;
mod function;

use compile_driver::call::COPIES;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Bytes copied so far in this process, by reason.
#[pyfunction]
fn copies(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let counters = PyDict::new(py);
    let all = [("gathered", &COPIES.gathered), ("in_place", &COPIES.in_place), ("cotangents", &COPIES.cotangents)];
    for (name, counter) in all {
        counters.set_item(name, counter.load(Ordering::Relaxed))?;
    }
    Ok(counters)
}

/// Adds a folder in which the worker `ffgrad-llvm` is looked for.
#[pyfunction]
fn add_worker_dir(folder: PathBuf) {
    compile_driver::toolchain::add_worker_dir(folder);
}

/// The native part of the Python package.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<function::Function>()?;
    module.add_class::<function::Batch>()?;
    module.add_function(wrap_pyfunction!(copies, module)?)?;
    module.add_function(wrap_pyfunction!(add_worker_dir, module)?)
}
