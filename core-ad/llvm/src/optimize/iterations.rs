//! Reverses the iterations of a loop one by one, so that what one needs for its derivative stays in registers and on the stack.
//!
//! Enzyme keeps what the reverse sweep needs in arrays over all iterations. For a loop over the elements of a mesh, which computes with small local
//! matrices, that is a kilobyte for each element, and reading and writing it costs more than the arithmetic. Where iterations are independent
//! ([`analysis::iterations`](crate::analysis::iterations)) each can as well be run again just before its reverse. Enzyme does that with a call (it calls it
//! combined forward and reverse) where nothing reads what the call writes, and nothing writes what it reads. So an iteration becomes a function,
//! and is called twice:
//!
//! ```text
//! for i:  ffgrad.once.0(i, x, y)         ; inactive, without a body: what the forward sweep does
//!         ffgrad.iteration.0(i, x, y)    ; what Enzyme differentiates, and moves to the reverse sweep
//! ```
//!
//! The second call and all other accesses of the function are marked by an alias scope as if they did not meet. That holds for what Enzyme may do with them: by
//! the analysis the iteration reads what is never written later, and the values that it adds to do not matter; what it writes again, when it is repeated, no
//! reverse of earlier code reads, since the first call has told Enzyme that it is overwritten. After Enzyme ([`resolve`]) the first call becomes the
//! iteration itself, and in derivatives that run the second one in the forward sweep (forward mode; a reverse mode that could not move it), it goes.
//!
//! It is done where much would be kept: see [`helps`]. A sum over the iterations goes through a variable, which the optimiser removes again.

mod after;
mod outline;

pub use after::{any, resolve};

use crate::analysis::iterations::{self, Iteration};
use crate::ir::identity::is_identity;
use crate::ir::{self, Op, Value, metadata};
use crate::llvm::pipelines;
use inkwell::module::Module;
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use std::collections::HashSet;

/// Prefix of the names of functions of one iteration.
const BODY: &str = "ffgrad.iteration.";

/// Prefix of the names of those that stand for them in the forward sweep.
const ONCE: &str = "ffgrad.once.";

/// The string in the alias scope.
const SCOPE: &str = "ffgrad.iterations";

/// Values that are some kilobytes together.
const LARGE: u64 = 256;

/// Outlines the iterations of such loops in functions after which nothing runs that could overwrite what they read: the wrapper around the user's
/// function, and what is reversed on copies. `drops`: of a function nothing needs what it writes, where it is reversed.
///
/// # Errors
///
/// None but LLVM's.
pub fn run(module: &Module<'_>, functions: &[(FunctionValue<'_>, bool)]) -> ir::Result<()> {
    let mut count = 0;
    for (function, drops) in functions {
        count += run_in(module, *function, *drops, count)?;
    }
    if count == 0 {
        return Ok(());
    }
    // What an iteration calls then has parameters that do not alias.
    let bodies = ir::functions(module).into_iter().filter(|f| f.get_name().to_string_lossy().starts_with(BODY));
    let calls = bodies.flat_map(|f| ir::blocks(f)).flat_map(ir::Block::instructions).filter(|i| i.is(Op::LLVMCall));
    calls.filter(|call| call.calls_a_body() && !is_kept(*call)).for_each(Value::inline_always);
    pipelines::inline_marked(module)
}

/// Does so in one function, and returns how many loops there were; `first`: the number of the first one.
fn run_in(module: &Module<'_>, function: FunctionValue<'_>, drops: bool, first: usize) -> ir::Result<usize> {
    let layout = TargetData::create(&module.get_data_layout().as_str().to_string_lossy());
    let found: Vec<Iteration> =
        iterations::independent(function, drops.then_some(&layout)).into_iter().filter(helps).collect();
    let mut calls = HashSet::new();
    for (number, iteration) in found.iter().enumerate() {
        let runs_forward = !drops || iteration.is_used || !iteration.is_outermost;
        calls.insert(outline::outline(module, function, iteration, first + number, runs_forward)?);
    }
    if calls.is_empty() {
        return Ok(0);
    }
    for i in ir::blocks(function).into_iter().flat_map(ir::Block::instructions) {
        let touches = matches!(i.op(), Some(Op::LLVMLoad | Op::LLVMStore | Op::LLVMCall | Op::LLVMAtomicRMW));
        if touches {
            metadata::add_scope(i, c"alias.scope", SCOPE);
        }
        if calls.contains(&i) {
            metadata::add_scope(i, c"noalias", SCOPE);
        }
    }
    Ok(found.len())
}

/// Whether Enzyme would keep much of an iteration in arrays: at least 16 values, and one for 4 operations. Elsewhere its own ways are better: maps and
/// stencils vectorise, and a row of a matrix product needs one value for many operations. Where it is kilobytes for each iteration, one for 32 operations
/// is enough: it takes about the same time, and a tenth of the memory. Where the forward sweep has to run the iterations too, since what they
/// compute is used, running them again has to pay: that takes some kilobytes, too.
fn helps(iteration: &Iteration) -> bool {
    let is_large = iteration.kept >= LARGE;
    let for_each = if is_large && !iteration.is_used { 32 } else { 4 };
    let is_enough = if iteration.is_used { is_large } else { iteration.kept >= 16 };
    is_enough && for_each * iteration.kept >= iteration.operations
}

/// Whether Enzyme is to keep what a call returns, instead of computing it again, within an iteration too.
fn is_kept(call: Value) -> bool {
    call.only_computes() || call.callee().is_some_and(|name| is_identity(&name))
}

/// The number in the name of a function of an iteration, or of a derivative of one.
fn number_in(name: &str, prefix: &str) -> Option<usize> {
    let rest = &name[name.find(prefix)? + prefix.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The calls of a function by name.
fn calls_of(function: inkwell::values::FunctionValue<'_>) -> Vec<Value> {
    use inkwell::values::AsValueRef;
    let function = Value(function.as_value_ref());
    function.users().into_iter().filter(|user| user.called() == Some(function)).collect()
}
