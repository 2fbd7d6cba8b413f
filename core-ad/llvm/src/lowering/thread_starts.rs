//! Leaves code that starts threads out of a derivative: a call that comes there stops it, and the caller is told.
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

use crate::ir::{self, Block, Op, Value, blocks, callers, edges};
use crate::rules::inactive;
use core_ad::names;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::HashSet;

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

/// Replaces what starts threads by stops; the first function that does, if any. `symbol` is the function in question.
pub fn leave_out(module: &Module<'_>, symbol: &str) -> Option<String> {
    let all = ir::functions(module);
    let calls = all.iter().flat_map(|f| blocks(*f)).flat_map(Block::instructions);
    let starts: Vec<(Value, String)> = calls.filter_map(|call| Some((call, starter(call)?))).collect();
    let (_, name) = starts.first()?;
    let starts_only: HashSet<Value> = starts.iter().map(|(call, _)| *call).collect();
    let ends = without_return(&all, starts_only.clone());
    if ends.functions.contains(symbol) {
        return None;
    }
    let name = name.clone();
    let stop = stop(module);
    for call in ends.calls {
        match starts_only.contains(&call) {
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

/// Whether a stop is left that no check stands for (where a switch leads there, Enzyme takes its other cases for all that there are), or all
/// calls come to one.
pub fn decide(module: &Module<'_>, wrapper: FunctionValue<'_>) -> bool {
    if !blocks(wrapper).into_iter().any(|block| block.terminator().is(Op::LLVMRet)) {
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

/// What a call starts a thread with, where it does.
fn starter(call: Value) -> Option<String> {
    let symbol = call.callee()?;
    let name = names::short(&symbol);
    let begins = |start: &&&str| name.starts_with(**start);
    if name.starts_with(ASYNC) {
        let policy = call.operands().into_iter().find_map(Value::constant)?;
        return (policy & 1 == 1).then(|| "std::async".to_owned());
    }
    let known = STARTERS.iter().find(begins).or_else(|| CONSTRUCTORS.iter().find(begins))?;
    Some(known.split('<').next().unwrap_or(known).to_owned())
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
            // Of an `invoke` the other way is an exception's.
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
