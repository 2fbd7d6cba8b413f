//! The error of a call: a status, a message, the details as JSON.
//!
//! In: an [`Error`] of the driver, a misuse of the ABI, a panic. Out: a [`Failure`], which the caller holds as
//! `ffgrad_error` until it frees it.

use crate::abi;
use compile_driver::{Error, Kind};
use serde_json::{Value, json};
use std::any::Any;
use std::ffi::CString;

/// A refusal. C holds it behind an opaque pointer.
#[derive(Debug)]
pub struct Failure {
    /// One of `FFGRAD_ERROR_...`.
    pub status: i32,
    /// For people.
    pub message: CString,
    /// For programs: a JSON object.
    pub details: CString,
}

/// Result of everything below the exported functions.
pub type Outcome<T> = Result<T, Box<Failure>>;

impl Failure {
    fn new(status: i32, message: &str, details: &Value) -> Box<Self> {
        Box::new(Failure { status, message: c_text(message), details: c_text(&details.to_string()) })
    }

    /// The ABI was not used as `ffgrad.h` specifies.
    pub fn misuse(code: &str, message: impl AsRef<str>) -> Box<Self> {
        Self::with(abi::FFGRAD_ERROR_MISUSE, code, message.as_ref())
    }

    /// A failure with a stable code and a message, and no further details.
    pub fn with(status: i32, code: &str, message: &str) -> Box<Self> {
        Self::new(status, message, &json!({ "kind": kind_name(status), "code": code }))
    }

    /// A failure of an argument, with what was expected and found.
    pub fn mismatch(status: i32, function: &str, code: &str, message: &str, sides: (String, String)) -> Box<Self> {
        let (expected, found) = sides;
        let text = format!("{message}\n  expected {expected}\n  found    {found}");
        let details = json!({
            "kind": kind_name(status), "code": code, "function": function, "expected": expected, "found": found,
        });
        Self::new(status, &text, &details)
    }

    /// A panic that was caught at the boundary.
    pub fn panic(payload: &(dyn Any + Send)) -> Box<Self> {
        let panic_text = payload.downcast_ref::<String>().map(String::as_str);
        let panic_text = panic_text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message = format!("a defect of ffgrad: {panic_text}\n  Please report it with the source that led to it.");
        Self::with(abi::FFGRAD_ERROR_INTERNAL, "panic", &message)
    }
}

impl From<Error> for Box<Failure> {
    fn from(error: Error) -> Self {
        let status = status_of(error.kind());
        let mut details = json!({ "kind": kind_name(status) });
        if let Some(d) = error.diagnosis() {
            details["code"] = json!(d.code);
            details["function"] = json!(d.function);
            details["file"] = json!(d.location.as_ref().map(|l| &l.file));
            details["line"] = json!(d.location.as_ref().map(|l| l.line));
            details["expected"] = json!(d.expected);
            details["found"] = json!(d.found);
            details["hints"] = json!(d.advice);
            details["output"] = json!(d.output);
            details["kept"] = json!(d.kept);
        }
        if let Error::Signature(e) = &error {
            details["problems"] = json!(e.problems);
            details["prototype"] = json!(e.prototype);
            details["suggestion"] = json!(e.suggestion);
        }
        if let Error::Shape(e) = &error {
            details["argument"] = json!(e.argument);
            details["expected"] = json!(e.expected);
            details["found"] = json!(e.got);
        }
        Failure::new(status, &error.to_string(), &details)
    }
}

fn status_of(kind: Kind) -> i32 {
    match kind {
        Kind::Toolchain => abi::FFGRAD_ERROR_TOOLCHAIN,
        Kind::Compile => abi::FFGRAD_ERROR_COMPILE,
        Kind::Signature => abi::FFGRAD_ERROR_SIGNATURE,
        Kind::Shape => abi::FFGRAD_ERROR_SHAPE,
        Kind::Dtype => abi::FFGRAD_ERROR_DTYPE,
        Kind::Device => abi::FFGRAD_ERROR_DEVICE,
        Kind::Differentiation => abi::FFGRAD_ERROR_DIFFERENTIATION,
        Kind::Memory => abi::FFGRAD_ERROR_MEMORY,
        Kind::Foreign => abi::FFGRAD_ERROR_FOREIGN,
        Kind::Pack => abi::FFGRAD_ERROR_PACK,
        Kind::Cache => abi::FFGRAD_ERROR_CACHE,
        Kind::Interrupted => abi::FFGRAD_ERROR_INTERRUPTED,
    }
}

fn kind_name(status: i32) -> &'static str {
    match status {
        abi::FFGRAD_ERROR_MISUSE => "misuse",
        abi::FFGRAD_ERROR_TOOLCHAIN => "toolchain",
        abi::FFGRAD_ERROR_COMPILE => "compile",
        abi::FFGRAD_ERROR_SIGNATURE => "signature",
        abi::FFGRAD_ERROR_SHAPE => "shape",
        abi::FFGRAD_ERROR_DTYPE => "dtype",
        abi::FFGRAD_ERROR_DEVICE => "device",
        abi::FFGRAD_ERROR_DIFFERENTIATION => "differentiation",
        abi::FFGRAD_ERROR_MEMORY => "memory",
        abi::FFGRAD_ERROR_FOREIGN => "foreign",
        abi::FFGRAD_ERROR_PACK => "pack",
        abi::FFGRAD_ERROR_CACHE => "cache",
        abi::FFGRAD_ERROR_INTERRUPTED => "interrupted",
        _ => "internal",
    }
}

/// Text for C: whatever a tool printed, a zero byte ends it for no one.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core_ad::diagnostics::Diagnosis;

    #[test]
    fn the_structure_of_an_error_survives() {
        let diagnosis = Diagnosis::new("dtype", "f", "`x` of `f` is `float*`").mismatch("float32", "float64");
        let failure = Box::<Failure>::from(Error::Dtype(Box::new(diagnosis)));
        assert_eq!(failure.status, abi::FFGRAD_ERROR_DTYPE);
        let details: Value = serde_json::from_slice(failure.details.as_bytes()).unwrap();
        assert_eq!(details["kind"], "dtype");
        assert_eq!((&details["expected"], &details["found"]), (&json!("float32"), &json!("float64")));
    }

    #[test]
    fn a_zero_byte_in_a_tools_output_is_a_space() {
        assert_eq!(c_text("a\0b").to_str(), Ok("a b"));
    }
}
