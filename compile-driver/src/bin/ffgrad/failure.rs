//! Converts an error to JSON, for verbs called with `--json`.

use std::error::Error;

use serde_json::{Value, json};

use crate::wording;

/// `{"error": {...}}`; what is not known is null.
pub fn as_json(error: &(dyn Error + 'static), message: &str) -> Value {
    let driver = error.downcast_ref::<compile_driver::Error>();
    let toolchain =
        error.downcast_ref::<compile_driver::toolchain::ToolchainError>().map(|_| ("ToolchainError", "toolchain"));
    let (class, code) = match driver {
        Some(error) => (Some(error.kind().name()), error.code()),
        None => toolchain.unzip(),
    };
    let diagnosis = driver.and_then(|error| error.diagnosis());
    let location = diagnosis.and_then(|d| d.location.as_ref());
    json!({ "error": {
        "class": class,
        "code": code,
        "message": message,
        "function": diagnosis.map(|d| &d.function),
        "file": location.map(|l| &l.file),
        "line": location.map(|l| l.line),
        "expected": diagnosis.and_then(|d| d.expected.as_ref()),
        "found": diagnosis.and_then(|d| d.found.as_ref()),
        "hints": diagnosis.map_or(&[][..], |d| &d.advice).iter().map(|h| wording::of_command(h)).collect::<Vec<_>>(),
    } })
}
