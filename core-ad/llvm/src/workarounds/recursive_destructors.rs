//! Keeps memory that recursive destructors would release until the derivative returns.
//!
//! ```text
//! struct Scaled : Term { std::shared_ptr<const Term> inner;  .. };
//! ```
//!
//! The destructor of `Scaled` releases a `Term`, which may be a `Scaled` again. Enzyme crashes on that circle of functions, of which some are
//! called through dispatchers: it needs the derivative of one before it has made it. A function that does nothing but count, and give
//! memory back, may as well not be called where the arena gives everything back at the end.
//!
//! What can see the difference keeps its destructors: the counts of a shared pointer that are read, a weak pointer, and each
//! destructor that does more.

use crate::analysis::virtual_tables::symbol;
use crate::ir::markers::OBJECT;
use crate::ir::{self, Block, Op, Value};
use crate::rules::lifetimes::FREEING;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMAtomicOrdering;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// Functions and their instructions.
type Bodies = HashMap<Value, Vec<Value>>;

/// Erases the calls that close a circle of functions which only release memory.
pub fn run(module: &Module<'_>) {
    if counts_are_read(module) {
        return;
    }
    let releasing = releasing(module);
    let closes = |caller: Value, i: &Value| {
        i.called().is_some_and(|callee| reaches(&releasing, callee, caller) && frees(&releasing, callee))
    };
    let closing: Vec<Value> =
        releasing.iter().flat_map(|(f, body)| body.iter().copied().filter(|i| closes(*f, i))).collect();
    closing.into_iter().for_each(Value::erase);
}

/// Whether a count of owners decides something besides the release: a weak pointer is locked, or `use_count` is called.
fn counts_are_read(module: &Module<'_>) -> bool {
    let is_plain_read = |i: Value| {
        // SAFETY: a live load.
        i.is(Op::LLVMLoad) && unsafe { LLVMGetOrdering(i.0) } == LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic
    };
    ir::all_instructions(module).into_iter().any(|i| i.is(Op::LLVMAtomicCmpXchg) || is_plain_read(i))
}

/// The functions without a result that do nothing but count and release, together with all that they call.
fn releasing(module: &Module<'_>) -> Bodies {
    let body = |f: FunctionValue<'_>| ir::blocks(f).into_iter().flat_map(Block::instructions).collect();
    let mut all: Bodies = ir::functions(module).into_iter().map(|f| (Value(f.as_value_ref()), body(f))).collect();
    loop {
        let known: HashSet<Value> = all.keys().copied().collect();
        all.retain(|_, body| body.iter().all(|i| is_part_of_release(*i, &known)));
        if all.len() == known.len() {
            return all;
        }
    }
}

/// Functions that a release may call besides. A pure virtual destructor ends in a trap.
const HARMLESS: [&str; 4] = ["llvm.lifetime.", "llvm.assume", "llvm.trap", OBJECT];

fn is_part_of_release(i: Value, releasing: &HashSet<Value>) -> bool {
    match i.op() {
        // The table of the base class, and counts of owners.
        Some(Op::LLVMStore) => {
            let value = i.operand(0);
            value.constant() == Some(0) || is_less_by_one(value, i.operand(1)) || is_address_constant(value)
        }
        Some(Op::LLVMAtomicRMW) => i.operand(1).constant() == Some(-1),
        Some(Op::LLVMLoad) => !i.is_float(),
        Some(Op::LLVMRet) => i.operands().is_empty(),
        Some(Op::LLVMCall) => {
            let harmless =
                |name: String| FREEING.contains(&name.as_str()) || HARMLESS.iter().any(|h| name.starts_with(h));
            i.called().is_some_and(|c| releasing.contains(&c)) || i.callee().is_some_and(harmless)
        }
        Some(
            Op::LLVMBr
            | Op::LLVMSwitch
            | Op::LLVMUnreachable
            | Op::LLVMICmp
            | Op::LLVMPHI
            | Op::LLVMSelect
            | Op::LLVMGetElementPtr,
        ) => true,
        Some(_) => is_count(i) && !i.is(Op::LLVMInvoke),
        None => false,
    }
}

/// Whether a value is what memory held, less one.
fn is_less_by_one(value: Value, memory: Value) -> bool {
    let by = match value.op() {
        Some(Op::LLVMAdd) => -1,
        Some(Op::LLVMSub) => 1,
        _ => return false,
    };
    let held = value.operand(0);
    value.operand(1).constant() == Some(by) && held.is(Op::LLVMLoad) && held.operand(0) == memory
}

fn is_count(value: Value) -> bool {
    // SAFETY: the type of a live value.
    unsafe { LLVMGetTypeKind(value.ty()) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind }
}

fn is_address_constant(value: Value) -> bool {
    // SAFETY: asked of a live value.
    value.is_pointer() && unsafe { LLVMIsConstant(value.0) != 0 }
}

/// Whether the circle of a function frees memory, and is of destructors only. Another recursion may mark the nodes of a graph, or reset a
/// tree that is used afterwards.
fn frees(bodies: &Bodies, function: Value) -> bool {
    let is_free = |i: &Value| i.callee().is_some_and(|name| FREEING.contains(&name.as_str()));
    let in_circle = |f: Value| reaches(bodies, function, f) && reaches(bodies, f, function);
    let circle: Vec<_> = bodies.iter().filter(|(f, _)| in_circle(**f)).collect();
    circle.iter().all(|(f, _)| is_destructor(&symbol(**f))) && circle.iter().any(|(_, body)| body.iter().any(is_free))
}

/// Whether a function is a destructor, or one that calls destructors: of the C++ library, or a dispatcher.
fn is_destructor(name: &str) -> bool {
    let ends = ["D0Ev", "D1Ev", "D2Ev"].iter().any(|end| name.starts_with("_Z") && name.ends_with(end));
    ends || ["_ZSt", "_ZNSt", "_ZNKSt", "ffgrad.dispatch."].iter().any(|start| name.starts_with(start))
}

/// Whether a function calls another, by however many between them.
fn reaches(bodies: &Bodies, from: Value, to: Value) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![from]);
    while let Some(function) = open.pop() {
        if function == to {
            return true;
        }
        if seen.insert(function) {
            open.extend(bodies.get(&function).into_iter().flatten().filter_map(|i| i.called()));
        }
    }
    false
}
