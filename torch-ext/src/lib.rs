//! The PyTorch operator library: any foreign function as an operator, with its derivatives as operators.
//!
//! Registered, on LibTorch's stable C ABI (2.10 and later; no C++, no compiler, one binary for all of them), are
//!
//! ```text
//! operator           inputs                            outputs                       numbers
//! ffgrad::primal     x                                 f(x)                          batch, expected
//! ffgrad::vjp        x, cotangents in `cotangents`     Jᵀv of the inputs in `mask`   batch, mask, cotangents
//! ffgrad::jvp        x, tangents in `tangents`         J t, outputs that are floats  batch, tangents
//! ffgrad::hvp        x, cotangents, tangents           ∂(Jᵀv)/∂x·t of `mask`         batch, mask, cotangents, tangents
//! ffgrad::jvp2       x, tangents, directions           ∂(J t)/∂x·s, as of jvp        batch, tangents, turning
//! ```
//!
//! Masks are bit sets over the inputs or outputs of the call plan; `batch` is the number of leading dimensions over which the
//! function is mapped. `spec` is JSON that names the sources by path, so an exported program needs nothing else. Autograd
//! formulas, shapes without data and the rules of `vmap` are Python's: `py/python/ffgrad/_torch/`.
//!
//! It comes in two forms. The Python package links it into its native half, so that eager calls and operators share one
//! opened function. As `libffgrad_torch.so` it is for processes without Python: whoever loads it has the operators.
//! No header and no library of PyTorch is needed to build either: [`api`] finds its C functions in the process.
//! Neighbours: [`kernel`] runs the operators, [`failure`] lets errors out, `compile_driver::registry` holds the functions.

mod api;
mod failure;
mod kernel;
mod operators;
mod python;
mod tensors;
mod warnings;

pub use failure::take as take_failure;
pub use python::{NewTensor, is_grad_enabled};
pub use warnings::{keep as keep_warnings, take as take_warnings};

use std::sync::OnceLock;

/// Registers the operators with the PyTorch of this process, once. Returns whether they are registered: not where there is
/// no PyTorch, or one without the stable ABI.
pub fn register() -> bool {
    static DONE: OnceLock<bool> = OnceLock::new();
    match api::api() {
        Some(api) => *DONE.get_or_init(|| operators::register(api)),
        None => false,
    }
}

/// Runs when the library is loaded.
extern "C" fn constructor() {
    register();
}

#[used]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static CONSTRUCTOR: extern "C" fn() = constructor;
