//! From the driver's errors to the exceptions of `ffgrad.errors`, structure included.

use compile_driver::{Error, Kind};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The Python exception for an error: the class by its kind, the message, and the details as attributes.
pub fn to_python(py: Python<'_>, error: &Error, function: Option<&str>) -> PyErr {
    build(py, error, function).unwrap_or_else(|e| e)
}

fn build(py: Python<'_>, error: &Error, function: Option<&str>) -> PyResult<PyErr> {
    let class = match error.kind() {
        Kind::Toolchain => "ToolchainError",
        Kind::Compile => "CompileError",
        Kind::Signature => "SignatureError",
        Kind::Shape => "ShapeError",
        Kind::Dtype => "DtypeError",
        Kind::Device => "DeviceError",
        Kind::Differentiation => "DifferentiationError",
        Kind::Foreign => "ForeignError",
        Kind::Pack => "PackError",
        Kind::Cache => "CacheError",
        // Who interrupts raises an exception of their own.
        Kind::Interrupted => "Error",
    };
    let class = py.import("ffgrad.errors")?.getattr(class)?;
    let details = PyDict::new(py);
    details.set_item("function", function)?;
    let code = match error.kind() {
        Kind::Signature => Some("signature"),
        Kind::Shape => Some("shape"),
        Kind::Toolchain => Some("toolchain"),
        Kind::Cache => Some("cache"),
        _ => None,
    };
    details.set_item("code", code)?;
    if let Some(d) = error.diagnosis() {
        details.set_item("code", &d.code)?;
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

/// Emits a `GradientWarning` that points at the user's own line.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    py.import("ffgrad.errors")?.call_method1("_warn", (text,)).map(|_| ())
}
