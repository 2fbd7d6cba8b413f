//! Leaves code that starts threads out of a derivative: a call that comes there stops it, and ends in an error.
//!
//! Libraries have a branch for threads of their own beside the one that does all in the thread of the call, and most calls take the second one. What a
//! thread does has no derivative; without its start, what waits for it has nothing to do.
//!
//! ```text
//! if (large) left = std::async(std::launch::async, build, a);     if (large) stop();
//! else       node.left = build(a);                                else       node.left = build(a);
//! ```
//!
//! The stop is a call that does not return, so the branch is a check for what comes later ([`dead_ends`](super::dead_ends)): its marker stops the derivative. A
//! function that starts threads in any case stays as it is, and is refused with its line; so is one whose stop is no such branch's.

use crate::ir::markers::WRAPPER;
use crate::ir::{self, Block, Op, Value, blocks, callers, edges};
use crate::rules::inactive;
use core_ad::names;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// Name of the function that stands where threads were started.
const STOP: &str = "ffgrad.starts.thread";

/// Functions of C that start a thread, and members of classes that do.
const STARTERS: [&str; 4] =
    ["pthread_create", "thrd_create", "std::thread::_M_start_thread", "boost::thread::start_thread"];

/// Their constructors, which call those functions: the names that they begin with.
const CONSTRUCTORS: [&str; 2] = ["std::thread::thread<", "std::jthread::jthread<"];

/// What starts a thread where its first number, the policy, has bit 0.
const ASYNC: &str = "std::async<";

/// Functions that wait for a thread that was started, or let it go: the names that they begin with.
const WAITING: [&str; 8] = [
    "pthread_join",
    "pthread_detach",
    "thrd_join",
    "thrd_detach",
    "std::thread::join",
    "std::thread::detach",
    "std::__atomic_futex_unsigned_base::",
    "boost::thread::join",
];

/// Replaces what starts threads by stops; the first function that does, if any. `symbol` is the function in question. A program of several processes (MPI) stays as it is:
/// its derivatives do not stop at checks.
pub fn leave_out(module: &Module<'_>, symbol: &str) -> Option<String> {
    let starters = starters(module);
    if starters.is_empty() || module.get_functions().any(|f| is_of_mpi(&f.get_name().to_string_lossy())) {
        return None;
    }
    let all = ir::functions(module);
    let starts: HashSet<Value> =
        ir::all_instructions(module).into_iter().filter(|i| started_by(*i, &starters).is_some()).collect();
    let name = starts.iter().find_map(|call| started_by(*call, &starters)).cloned()?;
    let ends = without_return(&all, starts.clone());
    if ends.functions.contains(symbol) {
        return None;
    }
    let stop = stop(module);
    // Of several calls in a block the first one is its end.
    let first = |block: Block| block.instructions().into_iter().find(|i| ends.calls.contains(i));
    let last: Vec<Value> = all.iter().flat_map(|f| blocks(*f)).filter_map(first).collect();
    for call in last {
        match starts.contains(&call) {
            true => edges::end_with_call(call, Value(stop.as_value_ref())),
            false => edges::end_after(call),
        }
    }
    all.into_iter().for_each(edges::delete_unreachable);
    module.get_functions().filter(|f| f.count_basic_blocks() == 0 && waits(*f)).for_each(|f| {
        inactive::mark_one(module, f, true);
    });
    Some(name)
}

/// Whether the function has to be refused: a stop is left that no check stands for (where a switch leads there, Enzyme takes its other cases for all that there are),
/// or all calls come to one.
pub fn must_be_refused(module: &Module<'_>) -> bool {
    let returns = |f: FunctionValue<'_>| blocks(f).into_iter().any(|block| block.terminator().is(Op::LLVMRet));
    if !module.get_function(WRAPPER).is_some_and(returns) {
        return true;
    }
    let stops = stops(module);
    let others = ir::functions(module).into_iter().filter(|f| !stops.contains(&*f.get_name().to_string_lossy()));
    let calls = others.flat_map(blocks).flat_map(Block::instructions);
    calls.filter_map(Value::callee).any(|name| stops.contains(&name))
}

/// The function that stops, and those that do nothing but come to it, as code for errors does that was put apart. None where it is not called.
pub fn stops(module: &Module<'_>) -> HashSet<String> {
    if module.get_function(STOP).is_none() {
        return HashSet::new();
    }
    let (mut names, _) = callers::of(module, HashSet::from([STOP.to_owned()]));
    for function in ir::functions(module) {
        if blocks(function).into_iter().any(|block| block.terminator().is(Op::LLVMRet)) {
            names.remove(&*function.get_name().to_string_lossy());
        }
    }
    names
}

/// The functions of a module that start a thread, by their symbols, with the name for messages.
fn starters(module: &Module<'_>) -> HashMap<String, String> {
    // Demangling takes time, and most functions have nothing to do with it.
    let may_be_one = |symbol: &String| ["thread", "thrd_", "async"].iter().any(|part| symbol.contains(part));
    let symbols = module.get_functions().map(|f| f.get_name().to_string_lossy().into_owned()).filter(may_be_one);
    symbols.filter_map(|symbol| starter(&symbol).map(|name| (symbol, name))).collect()
}

/// What a function starts a thread with, where it does.
fn starter(symbol: &str) -> Option<String> {
    let name = names::short(symbol);
    let known = STARTERS.iter().chain(&CONSTRUCTORS).chain([&ASYNC]).find(|start| name.starts_with(**start))?;
    Some(known.trim_end_matches('<').to_owned())
}

/// What a call starts a thread with, where it does.
fn started_by(call: Value, starters: &HashMap<String, String>) -> Option<&String> {
    let name = starters.get(&call.callee()?)?;
    if ASYNC.starts_with(name.as_str()) {
        let policy = call.operands().into_iter().find_map(Value::constant)?;
        return (policy & 1 == 1).then_some(name);
    }
    Some(name)
}

fn is_of_mpi(symbol: &str) -> bool {
    ["MPI_", "PMPI_", "mpi_"].iter().any(|start| symbol.starts_with(start))
}

fn waits(function: FunctionValue<'_>) -> bool {
    let name = names::short(&function.get_name().to_string_lossy());
    WAITING.iter().any(|start| name.starts_with(start))
}

/// Functions that do not return but by an exception, for they start a thread, and the calls of them and of what starts it.
struct Ends {
    functions: HashSet<String>,
    calls: HashSet<Value>,
}

fn without_return(all: &[FunctionValue<'_>], starts: HashSet<Value>) -> Ends {
    let mut ends = Ends { functions: HashSet::new(), calls: starts };
    let calls: Vec<(Value, String)> = all
        .iter()
        .flat_map(|f| blocks(*f))
        .flat_map(Block::instructions)
        .filter_map(|i| Some((i, i.callee()?)))
        .collect();
    loop {
        let holding: HashSet<String> = ends.calls.iter().map(|call| function_of(*call)).collect();
        let new: Vec<String> = all
            .iter()
            .filter(|f| {
                let name = f.get_name().to_string_lossy();
                holding.contains(&*name) && !ends.functions.contains(&*name) && !returns(**f, &ends.calls)
            })
            .map(|f| f.get_name().to_string_lossy().into_owned())
            .collect();
        if new.is_empty() {
            return ends;
        }
        ends.functions.extend(new);
        let of_these = calls.iter().filter(|(_, callee)| ends.functions.contains(callee)).map(|(call, _)| *call);
        ends.calls.extend(of_these);
    }
}

fn function_of(i: Value) -> String {
    // SAFETY: a live instruction of a function.
    Value(unsafe { LLVMGetBasicBlockParent(i.parent().0) }).name()
}

/// Whether a path comes to the function's return without one of these calls.
fn returns(function: FunctionValue<'_>, calls: &HashSet<Value>) -> bool {
    let mut open: Vec<Block> = blocks(function).first().copied().into_iter().collect();
    let mut seen: HashSet<Block> = open.iter().copied().collect();
    while let Some(block) = open.pop() {
        let end = block.terminator();
        if block.instructions().into_iter().any(|i| i != end && calls.contains(&i)) {
            continue;
        }
        if end.is(Op::LLVMRet) {
            return true;
        }
        let mut next = block.successors();
        if calls.contains(&end) {
            // Of an `invoke` the other edge is an exception's.
            next.remove(0);
        }
        open.extend(next.into_iter().filter(|block| seen.insert(*block)));
    }
    false
}

/// The function that stops, which has no body before Enzyme.
fn stop<'ctx>(module: &Module<'ctx>) -> FunctionValue<'ctx> {
    if let Some(stop) = module.get_function(STOP) {
        return stop;
    }
    let context = module.get_context();
    let stop = module.add_function(STOP, context.void_type().fn_type(&[], false), None);
    inactive::mark_one(module, stop, true);
    for name in ["noreturn", "nounwind", "cold"] {
        let kind = Attribute::get_named_enum_kind_id(name);
        stop.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
    }
    stop
}
