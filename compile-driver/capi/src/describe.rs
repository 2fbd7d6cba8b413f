//! Describes a function to a language binding, as JSON. The layout is in `docs/reference/c-abi.md`.

use crate::abi;
use compile_driver::{Checkpointing, Function, Spec};
use core_ad::{Passing, Role};
use serde_json::{Value, json};

/// The description.
pub fn describe(function: &Function) -> Value {
    let manifest = function.manifest();
    let plan = &manifest.plan;
    let parameters: Vec<Value> = plan
        .args
        .iter()
        .enumerate()
        .map(|(i, arg)| {
            let shape: Vec<String> = arg.shape.iter().map(ToString::to_string).collect();
            json!({
                "name": arg.name,
                "role": role_name(arg.role),
                "type": abi::code_of(arg.dtype),
                "dtype": arg.dtype.name(),
                // Without a signature an array may have any number of dimensions, and before a `...` it may too.
                "rank": if arg.batched || arg.flat && !arg.shape.is_empty() { Value::Null } else { json!(arg.shape.len()) },
                "shape": shape,
                "pointer": arg.passing != Passing::Value,
                "column_major": arg.column_major,
                "differentiable": arg.is_differentiable(),
                "input": plan.inputs.iter().position(|&a| a == i),
                "output": plan.outputs.iter().position(|&a| a == i),
            })
        })
        .collect();
    json!({
        "abi": abi::FFGRAD_ABI_VERSION,
        "function": manifest.prototype.function,
        "prototype": manifest.prototype.to_string(),
        "file": manifest.prototype.file,
        "line": manifest.prototype.line,
        "signature": plan.signature,
        "order": order(function.spec()),
        "parameters": parameters,
        "inputs": plan.inputs,
        "outputs": plan.outputs,
        "manifest": manifest,
    })
}

/// What a reverse sweep over the steps of a loop did.
pub fn checkpointing(last: &Checkpointing) -> Value {
    json!({
        "steps": last.steps,
        "snapshots": last.snapshots,
        "on_disk": last.on_disk,
        "disk_bytes": last.disk,
        "forward": last.advanced,
        "recomputed": last.recomputed(),
        "state_bytes": last.state,
        "peak_bytes": last.peak,
        "seconds": last.time.as_secs_f64(),
    })
}

/// How the language of the sources lays out an array.
fn order(spec: &Spec) -> &'static str {
    let fortran = |suffix: &str| matches!(suffix, "f" | "for" | "f77" | "f90" | "f95" | "f03" | "f08" | "f18");
    let is_fortran = |path: &std::path::PathBuf| {
        path.extension().is_some_and(|e| fortran(&e.to_string_lossy().to_ascii_lowercase()))
    };
    if spec.sources.first().is_some_and(is_fortran) { "column-major" } else { "row-major" }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Input => "input",
        Role::Output => "output",
        Role::InOut => "inout",
        Role::Scratch => "scratch",
        Role::Size => "size",
        Role::Return => "return",
    }
}
