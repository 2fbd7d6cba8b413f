//! The TensorFlow operation library: any foreign function as an operation, with its derivatives as operations.
//!
//! `tf.load_op_library` loads it into a process that runs TensorFlow; the constructor below then registers
//!
//! ```text
//! operation        inputs                              outputs                        attributes
//! FfgradPrimalV1   x                                   f(x)                           spec, mask, expected
//! FfgradVjpV1      x, cotangents in `cotangents`       Jᵀv of the inputs in `mask`    spec, mask, cotangents
//! FfgradJvpV1      x, tangents in `tangents`           J t, outputs that are floats   spec, mask, tangents
//! FfgradHvpV1      x, cotangents, tangents             ∂(Jᵀv)/∂x·t of `mask`          spec, mask, cotangents, tangents
//! FfgradRefuseV1   what the answer would depend on     (never any)                    message, result types
//! ```
//!
//! Masks are bit sets over the inputs or outputs of the call plan; `mask` are the inputs that can have a gradient, `results` (in all
//! derivatives) the types of f(x). `spec` is JSON that names the sources by path, so a saved
//! graph needs nothing else. What joins the operations into gradients is Python's: `ffgrad/tf.py`.
//!
//! No header and no library of TensorFlow is needed to build this: [`api`] finds its C functions in the process.
//! Neighbours: `compile_driver::registry` holds the opened functions, [`kernel`] runs them, [`ops`] registers.

mod api;
mod exports;
mod kernel;
mod ops;

/// Runs when the library is loaded. Without TensorFlow in the process nothing is registered.
extern "C" fn constructor() {
    if let Some(api) = api::api() {
        ops::register(api);
    }
}

#[used]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static CONSTRUCTOR: extern "C" fn() = constructor;
