//! Defers the inlining of small functions that call `exp` and its like until after differentiation.
//!
//! Enzyme caches the results of calls for the reverse sweep, but recomputes arithmetic there, `exp` and `log` included. So a
//! small function that calls such functions is better kept as a call: its few results are cached, and the costly part runs
//! once. (A Monte-Carlo path: 1.3 times the hand-written gradient instead of 2.0.) Functions with loops are left to the
//! inliner: what they cache, they cache per iteration.

use crate::ir::{self, Block, Op, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::HashMap;

/// Attribute of such a function; Enzyme copies it to the derivatives.
const KEPT: &str = "ffgrad.kept";

/// Functions of the C library that cost as much as dozens of additions.
const COSTLY: [&str; 22] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "expm1", "log", "log10", "log1p", "log2", "pow", "sin", "tanh",
];

/// Marks costly functions `noinline`.
pub fn defer_inlining(module: &Module<'_>) {
    let context = module.get_context();
    for function in ir::functions(module).into_iter().filter(|f| is_costly(*f)) {
        function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(noinline(), 0));
        function.add_attribute(AttributeLoc::Function, context.create_string_attribute(KEPT, ""));
    }
}

/// After Enzyme: allows inlining of those functions and their derivatives.
pub fn undo(module: &Module<'_>) {
    for function in ir::functions(module) {
        if function.get_string_attribute(AttributeLoc::Function, KEPT).is_some() {
            function.remove_enum_attribute(AttributeLoc::Function, noinline());
        }
    }
}

fn noinline() -> u32 {
    Attribute::get_named_enum_kind_id("noinline")
}

fn is_costly(function: FunctionValue<'_>) -> bool {
    let attribute = |name| function.get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    let decided = attribute("alwaysinline").or(attribute("noinline")).is_some();
    let blocks = ir::blocks(function);
    let calls = || blocks.iter().flat_map(|b| b.instructions()).filter_map(Value::callee);
    !decided && calls().any(|name| COSTLY.contains(&plain(&name))) && !has_loop(&blocks)
}

/// Whether a call is of such a function of the C library, and computes only.
pub fn is_costly_call(call: Value) -> bool {
    call.is(Op::LLVMCall) && call.callee().is_some_and(|name| COSTLY.contains(&plain(&name))) && call.only_computes()
}

/// `exp` of `exp`, `expf` and `llvm.exp.f64`.
fn plain(name: &str) -> &str {
    match name.strip_prefix("llvm.") {
        Some(rest) => rest.split('.').next().unwrap_or(rest),
        None if COSTLY.contains(&name) => name,
        None => name.strip_suffix('f').unwrap_or(name),
    }
}

/// Whether some branch goes backwards in block order.
fn has_loop(blocks: &[Block]) -> bool {
    let order: HashMap<Block, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
    let back = |(i, block): (usize, &Block)| block.successors().iter().any(|s| order[s] <= i);
    blocks.iter().enumerate().any(back)
}
