//! What a function that an iteration calls does with the memory that it is given.

use super::flow::is_needed;
use super::{is_constant, is_harmless, is_plain, weight};
use crate::analysis::cfg::LoopNest;
use crate::analysis::memory_objects::origins;
use crate::ir::{self, Op, Value};
use inkwell::values::FunctionValue;

/// Functions that call others so deep are not followed.
const DEPTH: usize = 8;

/// What a function does. Its variables are its own.
pub(super) struct Effects {
    /// For each parameter whether it is a pointer to memory that is read, for a sum too.
    pub reads: Vec<bool>,
    /// For each parameter whether memory there is written.
    pub writes: Vec<bool>,
    /// As in [`super::Iteration`].
    pub kept: u64,
    pub operations: u64,
}

/// Where a pointer leads to.
struct Places {
    /// Numbers of parameters.
    parameters: Vec<usize>,
    /// Variables of the function.
    own: bool,
}

/// The effects of what a call calls; nothing where they are not known.
pub(super) fn effects(call: Value, depth: usize) -> Option<Effects> {
    // SAFETY: what a live call calls, and it is a function with a body.
    let function = call.called().filter(|_| call.calls_a_body()).and_then(|f| unsafe { FunctionValue::new(f.0) })?;
    let arguments = ir::arguments(function);
    if depth > DEPTH || call.is(Op::LLVMInvoke) {
        return None;
    }
    let count = arguments.len();
    let mut found = Effects { reads: vec![false; count], writes: vec![false; count], kept: 0, operations: 0 };
    let nest = LoopNest::of(function)?;
    for block in &nest.blocks {
        let around = nest.loops.iter().filter(|l| l.body[nest.cfg.number(*block)]).count();
        for i in block.instructions() {
            note(i, &arguments, &mut found, weight(around), depth)?;
        }
    }
    Some(found)
}

/// The same of an instruction that may be no call, or a call of a function without a body.
pub(super) fn effects_of_body(i: Value) -> Option<Effects> {
    if i.is(Op::LLVMCall) { effects(i, 0) } else { None }
}

/// How many floating-point numbers a call returns that computes only: Enzyme keeps them.
pub(super) fn results(call: Value) -> u64 {
    let parts = call.users().into_iter().filter(|user| user.is(Op::LLVMExtractValue) && user.is_float()).count();
    match call.only_computes() {
        true => u64::from(call.is_float()) + parts as u64,
        false => 0,
    }
}

fn note(i: Value, arguments: &[Value], found: &mut Effects, weight: u64, depth: usize) -> Option<()> {
    match i.op()? {
        Op::LLVMLoad => {
            let places = places(i.operand(0), arguments).filter(|_| !i.is_special())?;
            if i.is_float() && places.own && is_needed(i) {
                found.kept += weight;
            }
            // Where a copy or a sum of it goes is the caller's to know: it may be memory of the iteration's own.
            mark(&mut found.reads, &places);
        }
        Op::LLVMStore => {
            let places = places(i.operand(1), arguments).filter(|_| !i.is_special() && !i.operand(0).is_pointer())?;
            mark(&mut found.writes, &places);
        }
        Op::LLVMCall => note_call(i, arguments, found, weight, depth)?,
        Op::LLVMBr | Op::LLVMSwitch | Op::LLVMAlloca => {}
        Op::LLVMRet if i.operands().iter().all(|value| !value.is_pointer()) => {}
        op if is_plain(op) => found.operations += if super::computes(i) { weight } else { 0 },
        _ => return None,
    }
    Some(())
}

fn note_call(call: Value, arguments: &[Value], found: &mut Effects, weight: u64, depth: usize) -> Option<()> {
    let name = call.callee()?;
    if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
        mark(&mut found.reads, &places(call.operand(1), arguments)?);
        mark(&mut found.writes, &places(call.operand(0), arguments)?);
    } else if name.starts_with("llvm.memset.") {
        mark(&mut found.writes, &places(call.operand(0), arguments)?);
    } else if name.starts_with("llvm.lifetime.") || is_harmless(call, &name) {
        found.operations += if call.is_float() { weight } else { 0 };
    } else {
        let inner = effects(call, depth + 1)?;
        found.kept += weight * (inner.kept + results(call));
        found.operations += weight * inner.operations;
        for (i, (reads, writes)) in (0u32..).zip(inner.reads.iter().zip(&inner.writes)) {
            if *reads || *writes {
                let places = places(call.operand(i), arguments)?;
                mark(if *reads { &mut found.reads } else { &mut found.writes }, &places);
                if *writes {
                    mark(&mut found.writes, &places);
                }
            }
        }
    }
    Some(())
}

fn mark(which: &mut [bool], places: &Places) {
    places.parameters.iter().for_each(|i| which[*i] = true);
}

/// Where a pointer may lead to; nothing where that is anything but parameters, variables and constants.
fn places(pointer: Value, arguments: &[Value]) -> Option<Places> {
    let mut found = Places { parameters: Vec::new(), own: false };
    for origin in origins(pointer) {
        if origin.is(Op::LLVMAlloca) {
            found.own = true;
        } else if let Some(number) = arguments.iter().position(|a| *a == origin) {
            found.parameters.push(number);
        } else if !is_constant(origin) {
            return None;
        }
    }
    Some(found)
}
