//! Keeps LLVM from reading local memory by vectors of addresses, which it then gets wrong.
//!
//! The SLP vectoriser of LLVM 22 turns loads from a local array at computed places into a masked gather, and then no longer
//! sees that stores to the array must come before it: to its alias analysis, which remembers from before the gather was
//! there that nobody holds the array's address, a vector of addresses is no way to reach it. It moves the stores down, and the
//! gather reads what nobody has written. (`tests/torture/found/p40495.c`; only where the CPU has gathers, AVX-512 mostly.)
//! Memory that others hold an address of, a function's arguments among it, is not affected.

use crate::ir::{self, Block, Op, Value};
use crate::linkage::set_string_attribute;
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;

/// Whether an optimised module has gathers from memory that may be local.
pub fn may_be_wrong(module: &Module<'_>) -> bool {
    let instructions = ir::functions(module).into_iter().flat_map(ir::blocks).flat_map(Block::instructions);
    instructions.filter(|i| is_gather(*i)).any(|gather| may_be_local(gather.operand(0)))
}

/// Has LLVM make no gathers, on x86. Elsewhere it makes none of vectors whose length is fixed.
pub fn forbid(module: &Module<'_>) {
    const FEATURES: &str = "target-features";
    for function in ir::functions(module) {
        let Some(features) = function.get_string_attribute(AttributeLoc::Function, FEATURES) else { continue };
        let features = format!("{},+prefer-no-gather", features.get_string_value().to_string_lossy());
        set_string_attribute(module, function, FEATURES, &features);
    }
}

fn is_gather(instruction: Value) -> bool {
    instruction.callee().is_some_and(|name| name.starts_with("llvm.masked.gather."))
}

/// Whether addresses may be those of local memory. Where a pointer has come from memory, its like is there too: the object
/// that it points to is nobody's alone.
fn may_be_local(addresses: Value) -> bool {
    match addresses.op() {
        Some(Op::LLVMGetElementPtr) => may_be_local(addresses.operand(0)),
        // One address in all lanes: the vector that is shuffled, then the scalar that is put in.
        Some(Op::LLVMShuffleVector) => may_be_local(addresses.operand(0)),
        Some(Op::LLVMInsertElement) if addresses.operand(0).is_null_or_undefined() => {
            may_be_local(addresses.operand(1))
        }
        Some(Op::LLVMLoad) => false,
        _ => true,
    }
}
