//! Finds the loops that are to be checkpointed in unoptimised code, and puts a call into their latches that stays there.

use super::{Refusal, refusal};
use crate::analysis::cfg::LoopNest;
use crate::analysis::reachable::reachable;
use crate::ir::{self, Block, Op, Value};
use crate::lowering::caught::build::Edit;
use crate::lowering::openmp::location;
use core_ad::diagnostics::Location;
use core_ad::protocol::CheckpointPlace;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::BTreeSet;

/// The name of the anchor: `void ffgrad.checkpointed(i64 snapshots)`.
pub const ANCHOR: &str = "ffgrad.checkpointed";

/// Part of the name of the function that the macro calls.
const MACRO: &str = "ffgrad_checkpoint_next_loop";

/// Call-site attributes of an anchor: where the macro, or the loop, stands.
const FILE: &str = "ffgrad.file";
const LINE: &str = "ffgrad.line";

const SNAPSHOTS: &str = "FFGRAD_CHECKPOINT takes the number of snapshots, 1 or more, and stands right before the loop.";

/// Whether a module has anchors.
pub fn is_used(module: &Module<'_>) -> bool {
    module.get_function(ANCHOR).is_some_and(|f| f.count_basic_blocks() == 0)
        && ir::functions(module).into_iter().any(|f| !in_function(f).is_empty())
}

/// The anchors in a function.
pub fn in_function(function: FunctionValue<'_>) -> Vec<Value> {
    let all = function.get_basic_blocks().into_iter().flat_map(|b| Block(b.as_mut_ptr()).instructions());
    all.filter(|i| i.callee().is_some_and(|name| name == ANCHOR)).collect()
}

/// Takes all anchors out.
pub fn forget(module: &Module<'_>) {
    ir::functions(module).into_iter().flat_map(in_function).for_each(Value::erase);
}

/// Anchors the loops behind the macro and those at the given places.
///
/// # Errors
///
/// Where there is no loop.
pub fn anchor(module: &Module<'_>, places: &[CheckpointPlace]) -> Result<(), Refusal> {
    let edit = Edit::of(module);
    for function in ir::functions(module) {
        let all = function.get_basic_blocks().into_iter().flat_map(|b| Block(b.as_mut_ptr()).instructions());
        let calls: Vec<Value> = all.filter(|i| i.callee().is_some_and(|name| name.contains(MACRO))).collect();
        if calls.is_empty() {
            continue;
        }
        let nest = LoopNest::of(function);
        for call in &calls {
            // SAFETY: a live call.
            let at = unsafe { location(call.0) };
            let latches = nest.as_ref().and_then(|nest| following(nest, *call)).ok_or_else(|| {
                let name = core_ad::names::short(&function.get_name().to_string_lossy());
                let headline = format!("no loop follows FFGRAD_CHECKPOINT in `{name}`");
                refusal::no_loop(headline, at.clone(), SNAPSHOTS)
            })?;
            if call.operand(0).constant().is_some_and(|n| n < 1) {
                let headline =
                    format!("FFGRAD_CHECKPOINT({}) keeps no snapshot", call.operand(0).constant().unwrap_or(0));
                return Err(refusal::no_loop(headline, at, SNAPSHOTS));
            }
            latches.into_iter().for_each(|latch| place(&edit, latch, call.operand(0), at.as_ref()));
        }
        calls
            .into_iter()
            .map(|call| if call.is(Op::LLVMInvoke) { edit.make_call(call) } else { call })
            .for_each(Value::erase);
    }
    for wanted in places {
        at_line(module, &edit, wanted)?;
    }
    Ok(())
}

/// The latches of the loop that comes next after an instruction.
fn following(nest: &LoopNest, call: Value) -> Option<Vec<Block>> {
    let start = nest.cfg.number(call.parent());
    let (mut at, mut seen) = (start, BTreeSet::new());
    while seen.insert(at) {
        let end = nest.blocks[at].terminator();
        let next: BTreeSet<usize> = match end.op() {
            Some(Op::LLVMInvoke) => nest.cfg.successors[at].iter().copied().take(1).collect(),
            _ => nest.cfg.successors[at].iter().copied().collect(),
        };
        let [only] = next.into_iter().collect::<Vec<_>>()[..] else { return None };
        at = only;
        if let Some(found) = nest.loops.iter().find(|l| l.header == at) {
            return (!found.body[start]).then(|| found.latches.iter().map(|l| nest.blocks[*l]).collect());
        }
    }
    None
}

/// Anchors the outermost loops that begin at a line.
fn at_line(module: &Module<'_>, edit: &Edit, wanted: &CheckpointPlace) -> Result<(), Refusal> {
    let (mut lines, mut found) = (BTreeSet::new(), false);
    for function in ir::functions(module) {
        let Some(nest) = LoopNest::of(function) else { continue };
        let begins = |l: &crate::analysis::cfg::NaturalLoop| -> Option<Location> {
            let ends = std::iter::once(l.header).chain(l.latches.iter().copied());
            // SAFETY: live terminators.
            let at = ends.filter_map(|b| unsafe { location(nest.blocks[b].terminator().0) });
            at.filter(|at| is_file(&at.file, &wanted.file) && at.line > 0).min_by_key(|at| at.line)
        };
        let all: Vec<_> = nest.loops.iter().filter_map(|l| Some((l, begins(l)?))).collect();
        lines.extend(all.iter().map(|(_, at)| at.line));
        let here: Vec<_> = all.iter().filter(|(_, at)| at.line == wanted.line).collect();
        for (one, at) in &here {
            if here.iter().any(|(other, _)| other.is_around(one)) {
                continue;
            }
            found = true;
            // SAFETY: a constant of the builder's type.
            let snapshots = Value(edit.number(wanted.snapshots));
            one.latches.iter().for_each(|latch| place(edit, nest.blocks[*latch], snapshots, Some(at)));
        }
    }
    if found {
        return Ok(());
    }
    let headline = format!("no loop begins at {}:{}", wanted.file, wanted.line);
    let known: Vec<String> = lines.iter().map(u32::to_string).collect();
    let advice = match known.as_slice() {
        [] => format!("The option `checkpoint` names no file with a loop in `{}`.", wanted.file),
        _ => format!("Loops of that file begin at the lines {}.", known.join(", ")),
    };
    Err(refusal::no_loop(headline, None, &advice))
}

/// Refuses a place whose loops are all in functions that `symbol` does not reach.
///
/// # Errors
///
/// The place.
pub fn within(module: &Module<'_>, symbol: &str, places: &[CheckpointPlace]) -> Result<(), Refusal> {
    let Some(function) = module.get_function(symbol) else { return Ok(()) };
    let functions = ir::functions(module);
    // What a table holds may be called through it.
    let in_table = |f: &FunctionValue<'_>| Value(f.as_value_ref()).users().iter().any(|user| !user.is_instruction());
    let roots: Vec<FunctionValue<'_>> =
        functions.iter().copied().filter(in_table).chain(std::iter::once(function)).collect();
    // SAFETY: functions of a live module.
    let reached = unsafe { reachable(&roots) };
    for wanted in places.iter().filter(|place| !place.in_source) {
        let is_here = |f: &FunctionValue<'_>| {
            let places = in_function(*f).into_iter().filter_map(place_of);
            places.into_iter().any(|at| is_file(&at.file, &wanted.file) && at.line == wanted.line)
        };
        let holders: Vec<&FunctionValue<'_>> = functions.iter().filter(|f| is_here(f)).collect();
        if !holders.is_empty() && !holders.iter().any(|f| reached.contains(&f.as_value_ref())) {
            let name = |symbol: &str| core_ad::names::short(&core_ad::names::demangle(symbol));
            let (own, other) = (name(symbol), name(&holders[0].get_name().to_string_lossy()));
            let headline =
                format!("the loop at {}:{} is in `{other}`, which `{own}` does not call", wanted.file, wanted.line);
            return Err(refusal::no_loop(
                headline,
                None,
                "The option `checkpoint` names loops of the function, or of what it calls.",
            ));
        }
    }
    Ok(())
}

/// Whether a file is the one that was named, by the last components that both have: a compiler may have been given less than all.
fn is_file(file: &str, named: &str) -> bool {
    let parts =
        |path: &'_ str| path.rsplit('/').filter(|p| !p.is_empty() && *p != ".").map(str::to_owned).collect::<Vec<_>>();
    parts(file).iter().zip(&parts(named)).all(|(own, other)| own == other)
}

/// Puts an anchor at the end of a latch.
fn place(edit: &Edit, latch: Block, snapshots: Value, at: Option<&Location>) {
    // SAFETY: a live block of the builder's module, and a value that is there before the loop.
    unsafe {
        let name = std::ffi::CString::new(ANCHOR).unwrap_or_default();
        let mut function = LLVMGetNamedFunction(edit.module, name.as_ptr());
        if function.is_null() {
            let ty = LLVMFunctionType(edit.void, [edit.i64].as_mut_ptr(), 1, 0);
            function = LLVMAddFunction(edit.module, name.as_ptr(), ty);
            edit.mark_inactive(function);
            edit.attribute(function, "nounwind", 0);
            edit.attribute(function, "willreturn", 0);
            // memory(inaccessiblemem: readwrite): it stays, and hides nothing of the program's memory.
            edit.attribute(function, "memory", 0b1100);
        }
        edit.before(latch.terminator());
        let call = edit.call(function, &[snapshots.0]);
        let Some(at) = at else { return };
        for (key, value) in [(FILE, at.file.clone()), (LINE, at.line.to_string())] {
            let (length, size) = (key.len() as u32, value.len() as u32);
            let made =
                LLVMCreateStringAttribute(edit.context, key.as_ptr().cast(), length, value.as_ptr().cast(), size);
            LLVMAddCallSiteAttribute(call, u32::MAX, made);
        }
    }
}

/// Where the loop of an anchor stands.
pub fn place_of(anchor: Value) -> Option<Location> {
    let text = |key: &str| {
        let mut length = 0;
        // SAFETY: a live call; the value of an attribute has the length that LLVM gives.
        unsafe {
            let found = LLVMGetCallSiteStringAttribute(anchor.0, u32::MAX, key.as_ptr().cast(), key.len() as u32);
            if found.is_null() {
                return None;
            }
            let start = LLVMGetStringAttributeValue(found, &mut length);
            Some(String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length as usize)).into_owned())
        }
    };
    Some(Location { file: text(FILE)?, line: text(LINE)?.parse().ok()?, column: 0, text: None })
}
