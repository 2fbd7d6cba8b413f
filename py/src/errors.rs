//! Converts the driver's errors to the exceptions of `ffgrad.errors`, with their attributes.

use compile_driver::Error;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The Python exception for an error: the class by its kind, the message, and the details as attributes.
pub fn to_python(py: Python<'_>, error: &Error, function: Option<&str>) -> PyErr {
    build(py, error, function).unwrap_or_else(|e| e)
}

fn build(py: Python<'_>, error: &Error, function: Option<&str>) -> PyResult<PyErr> {
    let class = error.kind().name();
    let class = py.import("ffgrad.errors")?.getattr(class)?;
    let details = PyDict::new(py);
    details.set_item("function", function)?;
    details.set_item("code", error.code())?;
    if let Some(d) = error.diagnosis() {
        if !d.function.is_empty() {
            details.set_item("function", &d.function)?;
        }
        details.set_item("file", d.location.as_ref().map(|l| &l.file))?;
        details.set_item("line", d.location.as_ref().map(|l| l.line))?;
        details.set_item("expected", &d.expected)?;
        details.set_item("found", &d.found)?;
        details.set_item("hints", &d.advice)?;
        details.set_item("output", &d.output)?;
        details.set_item("kept", &d.kept)?;
    }
    if let Error::Toolchain(e) = error {
        details.set_item("component", e.component())?;
    }
    if let Error::Signature(e) = error {
        details.set_item("problems", &e.problems)?;
        details.set_item("prototype", &e.prototype)?;
        details.set_item("suggestion", &e.suggestion)?;
    }
    if let Error::Shape(e) = error {
        details.set_item("argument", &e.argument)?;
        details.set_item("expected", &e.expected)?;
        details.set_item("found", &e.got)?;
    }
    let exception = class.call((error.to_string(),), Some(&details))?;
    Ok(PyErr::from_value(exception))
}

/// The exception for an argument of `enzyme` and its relatives that is of the wrong kind.
pub fn argument(py: Python<'_>, text: &str, function: Option<&str>) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let class = py.import("ffgrad.errors")?.getattr("ArgumentError")?;
        let details = PyDict::new(py);
        details.set_item("function", function)?;
        Ok(PyErr::from_value(class.call((text,), Some(&details))?))
    };
    build().unwrap_or_else(|error| error)
}

/// Emits a `GradientWarning` that points at the user's own line.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    py.import("ffgrad.errors")?.call_method1("_warn", (text,)).map(|_| ())
}
