//! Keeps LLVM from reading memory by vectors of addresses, which it then gets wrong.
//!
//! The SLP vectoriser of LLVM 22 turns loads from a local array at computed places into a masked gather, and then no longer
//! sees that stores to the array must come before it: to its alias analysis, which remembers from before the gather was
//! there that nobody holds the array's address, a vector of addresses is no way to reach it. It moves the stores down, and the
//! gather reads what nobody has written (`tests/torture/found/p40495.c`). And of a loop that reads one element under a condition the
//! loop vectoriser makes a gather from an address that is garbage (`p60830.c`: a crash). Both only where the CPU has gathers,
//! AVX-512 mostly. One by one the loads cost about the same.

use crate::ir::{self, set_string_attribute};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;

/// Has LLVM make none on x86. Elsewhere it makes none of vectors whose length is fixed.
pub fn forbid(module: &Module<'_>) {
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
