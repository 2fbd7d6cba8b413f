//! Forbids vector gathers on x86: LLVM 22 miscompiles them.
//!
//! The SLP vectoriser combines loads from a local array at computed indices into a masked gather, and then no longer sees that
//! stores to the array must come before it: its cached alias analysis assumes that the array's address is not captured, and a
//! vector of addresses does not count as an access. It sinks the stores below the gather, which reads
//! uninitialised memory (`tests/cases/enzyme_bugs/stores_below_gather_generated.c`). And for a loop that loads one element under a condition the loop
//! vectoriser builds a gather from a poison address (`p60830.c`: a crash). Both occur only where the CPU has gathers, AVX-512
//! mostly. Scalar loads cost about the same.

use crate::ir::{self, set_string_attribute};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;

/// Forbids gathers on x86. Elsewhere LLVM uses none for fixed-length vectors.
pub fn run(module: &Module<'_>) {
    const FEATURES: &str = "target-features";
    if !module.get_triple().as_str().to_bytes().starts_with(b"x86_64") {
        return;
    }
    for function in ir::functions(module) {
        let Some(features) = function.get_string_attribute(AttributeLoc::Function, FEATURES) else { continue };
        let features = format!("{},+prefer-no-gather", features.get_string_value().to_string_lossy());
        set_string_attribute(module, function, FEATURES, &features);
    }
}
