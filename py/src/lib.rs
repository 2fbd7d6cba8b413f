//! `ffgrad._native`: what the Python front ends call.
//!
//! One class, [`Function`], whose methods take framework arrays by DLPack and return arrays of the same
//! framework. The GIL is released while tools or foreign code run. Private: the Python package wraps it.

mod arrays;
mod device;
mod eager;
mod errors;
mod fingerprint;
mod function;
mod handles;
mod interrupt;
mod pack;
mod xla;

use compile_driver::call::copies::COPIES;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};

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

/// What an option takes, in words; `None` where there is none of this name.
#[pyfunction]
fn option_takes(name: &str) -> Option<String> {
    compile_driver::options::takes(name)
}

/// Registers PyTorch's operators; returns whether this process's PyTorch took them.
#[pyfunction]
fn torch_register() -> bool {
    ffgrad_torch::keep_warnings();
    ffgrad_torch::register()
}

/// The exception that the last failed operator of this thread meant, if the text is its own.
#[pyfunction]
fn torch_failure<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
    let error = ffgrad_torch::take_failure()?;
    // An earlier failure may not have been read.
    let headline = error.to_string();
    let is_own = text.contains(headline.lines().next().unwrap_or_default());
    let function = error.diagnosis().map(|d| d.function.clone());
    is_own.then(|| errors::to_python(py, &error, function.as_deref()).into_value(py).into_bound(py).into_any())
}

/// Emits the warnings of operators, if there are any.
#[pyfunction]
fn torch_warnings(py: Python<'_>) -> PyResult<()> {
    ffgrad_torch::take_warnings().iter().try_for_each(|text| errors::warn(py, text))
}

/// Refuses a second interpreter in the process: classes and exceptions here are one interpreter's objects.
fn only_here(_: Python<'_>) -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(-1);
    // SAFETY: the thread is attached to an interpreter, which is alive as long as it is.
    let own = unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => Ok(()),
        Err(first) if first == own => Ok(()),
        Err(_) => Err(PyImportError::new_err(
            "ffgrad is in use by another interpreter of this process, and serves one: use threads or processes",
        )),
    }
}

/// The native part of the Python package.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    only_here(module.py())?;
    interrupt::install(module)?;
    // Python never unloads an extension.
    compile_driver::build::kept_worker::allow();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<function::Function>()?;
    module.add_class::<eager::Eager>()?;
    module.add_class::<eager::Backward>()?;
    module.add_class::<handles::Batch>()?;
    module.add_class::<handles::Tape>()?;
    module.add_class::<device::DeviceView>()?;
    module.add_class::<device::DeviceArray>()?;
    module.add_function(wrap_pyfunction!(device::download, module)?)?;
    module.add_function(wrap_pyfunction!(copies, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint::fingerprints, module)?)?;
    module.add_function(wrap_pyfunction!(torch_register, module)?)?;
    module.add_function(wrap_pyfunction!(torch_failure, module)?)?;
    module.add_function(wrap_pyfunction!(torch_warnings, module)?)?;
    module.add_function(wrap_pyfunction!(interrupt::interrupt_host, module)?)?;
    module.add_function(wrap_pyfunction!(interrupt::interruption, module)?)?;
    module.add_function(wrap_pyfunction!(add_worker_dir, module)?)?;
    module.add_function(wrap_pyfunction!(option_takes, module)?)?;
    module.add_function(wrap_pyfunction!(pack::export_pack, module)?)?;
    module.add_function(wrap_pyfunction!(xla::xla_handler, module)?)?;
    module.add_function(wrap_pyfunction!(xla::xla_register, module)?)?;
    module.add_function(wrap_pyfunction!(xla::result_types, module)?)?;
    module.add_function(wrap_pyfunction!(xla::prepare, module)?)
}
