//! Native side of `ffgrad.export`: writes packs.

use crate::errors;
use crate::function::Function;
use crate::interrupt::detached;
use compile_driver::pack::read;
use compile_driver::pack::write::{Wish, export};
use core_ad::DerivativeSet;
use core_ad::derivative_set::Order;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Sets of derivatives that can be packed.
const ORDERS: [Order; 4] = [Order::First, Order::Second, Order::Forward, Order::Taped];

fn order(py: Python<'_>, name: &str) -> PyResult<Order> {
    ORDERS.into_iter().find(|&order| read::name(order) == name).ok_or_else(|| {
        let known: Vec<String> = ORDERS.iter().map(|&order| format!("\"{}\"", read::name(order))).collect();
        let text = format!("`{name}` is no set of derivatives; there are {}", known.join(", "));
        errors::argument(py, &text, None)
    })
}

/// Packs opened functions, each under a name of its own; returns the index as JSON.
#[pyfunction]
pub fn export_pack(
    py: Python<'_>,
    path: PathBuf,
    functions: Vec<(String, Py<Function>)>,
    derivatives: Vec<String>,
    add: bool,
    gpu: Option<Vec<String>>,
) -> PyResult<String> {
    let orders = derivatives.iter().map(|name| order(py, name)).collect::<PyResult<Vec<_>>>()?;
    let wishes = functions.iter().map(|(name, function)| {
        let function = &*function.get().inner;
        let mask = function.manifest().plan.differentiable_mask();
        let wanted = orders.iter().map(|&order| DerivativeSet { mask, order }).collect();
        Wish { function, name: Some(name.clone()), wanted, gpu: gpu.clone() }
    });
    let wishes: Vec<Wish<'_>> = wishes.collect();
    let index = detached(py, || export(&path, &wishes, add))?.map_err(|e| errors::to_python(py, &e, None))?;
    serde_json::to_string(&index).map_err(|e| PyValueError::new_err(e.to_string()))
}
