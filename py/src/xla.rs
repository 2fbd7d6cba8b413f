//! Native side of `ffgrad.jax`: the handler for XLA, shapes of abstract values, builds before the first call.

use crate::errors;
use crate::function::Function;
use crate::interrupt::detached;
use compile_driver::{Error, Input, View};
use core_ad::DType;
use core_ad::DerivativeSet;
use core_ad::diagnostics::Diagnosis;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ptr::{self, NonNull};

/// The handler, in a capsule as `jax.ffi.register_ffi_target` takes it: the bare function pointer.
#[pyfunction]
pub fn xla_handler(py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
    ffgrad_xla::on_warning(warn);
    let handler = NonNull::new(ffgrad_xla::handler()).ok_or_else(|| PyRuntimeError::new_err("no handler"))?;
    // SAFETY: the address of a function of this library, which is never unloaded.
    unsafe { PyCapsule::new_with_pointer(py, handler, c"xla._CUSTOM_CALL_TARGET") }
}

/// From a thread of XLA's. Where a filter raises warnings as exceptions, its text is the error of the call.
fn warn(text: &str) -> Result<(), String> {
    let outcome = Python::try_attach(|py| errors::warn(py, text).map_err(|e| e.value(py).to_string()));
    // An executable may run on while Python ends.
    outcome.unwrap_or_else(|| {
        eprintln!("ffgrad: {text}");
        Ok(())
    })
}

/// Makes an opened function known to the handler under the specification that operations name it by.
#[pyfunction]
pub fn xla_register(function: &Function, spec: &str) {
    compile_driver::registry::insert(spec, function.inner.clone());
}

/// Types and shapes of the outputs for inputs of these types and shapes.
#[pyfunction]
pub fn result_types(
    py: Python<'_>,
    function: &Function,
    inputs: Vec<(String, Vec<i64>)>,
) -> PyResult<Vec<(&'static str, Vec<i64>)>> {
    let (inner, name) = (&function.inner, &function.inner.spec().function);
    let plan = &inner.manifest().plan;
    let raise = |error: &Error| errors::to_python(py, error, Some(name));
    let mut given = Vec::with_capacity(inputs.len());
    for (i, (dtype, shape)) in inputs.iter().enumerate() {
        let parameter = plan.inputs.get(i).map_or("?", |&arg| plan.args[arg].name.as_str());
        let dtype = named(dtype).ok_or_else(|| raise(&unknown(name, parameter, dtype)))?;
        given.push(Input::Array(View { data: ptr::null(), dtype, shape, strides: None }));
    }
    let resolved = inner.resolve(&given).map_err(|e| raise(&e))?;
    Ok(plan.outputs.iter().map(|&arg| (plan.args[arg].dtype.name(), resolved.shapes[arg].clone())).collect())
}

/// Builds derivatives of the inputs in `mask` now, so that what cannot be differentiated is refused before a call; of order `none`
/// what values need, of which derivatives may be asked for later.
#[pyfunction]
pub fn prepare(py: Python<'_>, function: &Function, mask: u64, order: &str) -> PyResult<()> {
    let wanted = match order {
        "none" => None,
        "first" => Some(DerivativeSet::first(mask)),
        "second" => Some(DerivativeSet::second(mask)),
        "forward" => Some(DerivativeSet::forward(mask)),
        other => return Err(PyValueError::new_err(format!("no derivatives are called {other}"))),
    };
    let inner = &function.inner;
    let build = || wanted.map_or_else(|| inner.prepare_values(mask), |wanted| inner.prepare(wanted));
    detached(py, build)?.map_err(|e| errors::to_python(py, &e, Some(&inner.spec().function)))
}

pub fn named(name: &str) -> Option<DType> {
    const ALL: [DType; 11] = [
        DType::F32,
        DType::F64,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::Bool,
    ];
    ALL.into_iter().find(|dtype| dtype.name() == name)
}

fn unknown(function: &str, parameter: &str, found: &str) -> Error {
    let headline = format!("`{parameter}` of `{function}` has an element type that no foreign parameter has");
    Error::Dtype(Box::new(
        Diagnosis::new("dtype", function, headline).mismatch("float32, float64, an integer type or bool", found),
    ))
}
