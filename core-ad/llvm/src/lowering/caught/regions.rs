//! Moves what inevitably throws, or ends the program, into functions that Enzyme takes for inactive.

use super::ERROR;
use super::build::{Edit, ends_program, raw};
use super::effects;
use super::facts::{Facts, is_call};
use crate::ir::{Block, Op, Value, blocks, is_argument};
use inkwell::values::FunctionValue;
use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use std::collections::HashSet;

/// A function made of blocks, and what it takes.
pub struct Region {
    /// The function.
    pub function: LLVMValueRef,
    /// The values from outside, as arguments.
    pub given: Vec<LLVMValueRef>,
    /// The block that takes the place of the first one: empty.
    pub stub: Block,
}

/// States that a function never comes back and has no derivative.
pub fn mark_end(edit: &Edit, function: LLVMValueRef) {
    edit.mark_inactive(function);
    edit.attribute(function, "cold", 0);
    edit.attribute(function, "noreturn", 0);
}

/// Moves what throws out of the wrapper, or ends the program. To be called when no invokes are left.
pub fn outline_ends(edit: &Edit, facts: &Facts<'_>, function: FunctionValue<'_>) {
    let all = blocks(function);
    let lost = doomed(facts, &all);
    let outside = |b: &Block| !lost.contains(b);
    for first in all.iter().skip(1).filter(|b| lost.contains(b) && b.predecessors().iter().any(outside)) {
        let region = closure(*first, &all);
        let shared = region.iter().any(|b| b.predecessors().iter().any(|p| (b == first) == region.contains(p)));
        if shared || is_bare(&region) || region.iter().any(|b| has_alloca(*b)) {
            continue;
        }
        if !first.phis().is_empty() {
            edit.split_before(first.first_after_phis());
        }
        let region = extract(edit, &region);
        edit.at_end(region.stub);
        edit.call(region.function, &region.given);
        // SAFETY: the builder is at the stub's end.
        unsafe { LLVMBuildUnreachable(edit.builder) };
    }
}

/// Blocks from which no `ret` is reached.
fn doomed(facts: &Facts<'_>, all: &[Block]) -> HashSet<Block> {
    let ends = |b: &Block| b.instructions().iter().any(|i| is_call(*i) && !facts.may_return(*i));
    let mut alive: HashSet<Block> =
        all.iter().copied().filter(|b| b.terminator().is(Op::LLVMRet) && !ends(b)).collect();
    let mut open: Vec<Block> = alive.iter().copied().collect();
    while let Some(block) = open.pop() {
        for before in block.predecessors() {
            if !ends(&before) && alive.insert(before) {
                open.push(before);
            }
        }
    }
    // A loop without end is none of an error.
    let ends_there = |b: &Block| closure(*b, all).iter().any(|b| ends_program(*b).is_some());
    all.iter().copied().filter(|b| !alive.contains(b) && ends_there(b)).collect()
}

/// A block and what is reached from it, in the function's order.
fn closure(first: Block, all: &[Block]) -> Vec<Block> {
    let (mut seen, mut open) = (HashSet::from([first]), vec![first]);
    while let Some(block) = open.pop() {
        open.extend(block.successors().into_iter().filter(|s| seen.insert(*s)));
    }
    let rest = all.iter().copied().filter(|b| *b != first && seen.contains(b));
    std::iter::once(first).chain(rest).collect()
}

/// Whether there is nothing but the call that does not come back.
fn is_bare(region: &[Block]) -> bool {
    let [only] = region else { return false };
    only.instructions().iter().filter(|i| !i.is(Op::LLVMPHI) && !i.is_terminator()).count() == 1
}

fn has_alloca(block: Block) -> bool {
    block.instructions().iter().any(|i| i.is(Op::LLVMAlloca))
}

/// The blocks that build an exception and throw it with this call, the last of its block; they are split from what has an effect.
pub fn before_throw(edit: &Edit, throw: Value) -> Vec<Block> {
    let mut kept: HashSet<Value> = HashSet::new();
    loop {
        let chain = chain(throw, &kept);
        let inside: HashSet<Value> = chain.iter().flat_map(|(_, rest)| rest.iter().copied()).collect();
        let before = kept.len();
        kept.extend(inside.iter().filter(|i| i.users().iter().any(|u| !inside.contains(u))));
        if kept.len() > before {
            continue;
        }
        for (block, rest) in &chain {
            let is_whole = block.instructions().first() == rest.first() && !block.predecessors().is_empty();
            if let (false, Some(first)) = (is_whole, rest.first()) {
                edit.split_before(*first);
            }
        }
        return chain.into_iter().rev().map(|(block, _)| block).collect();
    }
}

/// Blocks from the throw backwards, with their instructions without effect; in all but the last one these are all.
fn chain(throw: Value, kept: &HashSet<Value>) -> Vec<(Block, Vec<Value>)> {
    let mut chain = Vec::new();
    let mut block = throw.parent();
    loop {
        let all = block.instructions();
        let end = all.len() - 1;
        let keeps = |i: &Value| {
            let stays = i.is(Op::LLVMPHI) || i.is(Op::LLVMAlloca) || i.is(Op::LLVMLandingPad);
            *i != throw
                && (stays || kept.contains(i) || !(i.is_terminator() && !is_call(*i) || effects::is_harmless(*i)))
        };
        let cut = all.iter().rposition(keeps).map_or(0, |last| last + 1).min(end);
        chain.push((block, all[cut..].to_vec()));
        let before = block.predecessors();
        let [from] = before[..] else { return chain };
        let end = from.terminator();
        let leads = (end.is(Op::LLVMBr) && from.successors().len() == 1) || super::facts::normal(end) == Some(block);
        let known = chain.iter().any(|(b, _)| *b == from);
        if cut > 0 || !leads || known || (end.is(Op::LLVMInvoke) && (kept.contains(&end) || !effects::is_harmless(end)))
        {
            return chain;
        }
        block = from;
    }
}

/// Moves blocks, of which only the first one is reached from outside and which nothing comes out of, into a function.
pub fn extract(edit: &Edit, region: &[Block]) -> Region {
    for block in region.iter().filter(|b| b.terminator().is(Op::LLVMInvoke)) {
        edit.make_call(block.terminator());
    }
    // Where the variable is another function's, it must not say when it lives.
    let all = region.iter().flat_map(|b| b.instructions());
    let lifetimes: Vec<Value> = all.filter(|i| i.callee().is_some_and(|n| n.starts_with("llvm.lifetime"))).collect();
    lifetimes.into_iter().for_each(Value::erase);
    let inside: HashSet<Block> = region.iter().copied().collect();
    let mut given: Vec<Value> = Vec::new();
    for operand in region.iter().flat_map(|b| b.instructions()).flat_map(|i| i.operands()) {
        let from_outside = is_argument(operand) || (operand.is_instruction() && !inside.contains(&operand.parent()));
        if from_outside && !given.contains(&operand) {
            given.push(operand);
        }
    }
    // SAFETY: live blocks of one function; operands are replaced by the parameters that stand for them.
    unsafe {
        let mut types: Vec<LLVMTypeRef> = given.iter().map(|g| g.ty()).collect();
        let ty = LLVMFunctionType(edit.void, types.as_mut_ptr(), types.len() as u32, 0);
        let name = std::ffi::CString::new(ERROR).unwrap_or_default();
        let function = LLVMAddFunction(edit.module, name.as_ptr(), ty);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        let stub = edit.block_before(region[0]);
        edit.redirect(region[0], stub);
        for block in region {
            LLVMRemoveBasicBlockFromParent(block.0);
            LLVMAppendExistingBasicBlock(function, block.0);
        }
        for i in region.iter().flat_map(|b| b.instructions()) {
            for (number, operand) in (0u32..).zip(i.operands()) {
                if let Some(at) = given.iter().position(|g| *g == operand) {
                    LLVMSetOperand(i.0, number, LLVMGetParam(function, at as u32));
                }
            }
        }
        mark_end(edit, function);
        Region { function, given: given.into_iter().map(|g| g.0).collect(), stub }
    }
}

/// A function that calls one that throws, and returns the exception's address as a number.
pub fn catching(edit: &Edit, thrower: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a live function.
    unsafe {
        let ty = LLVMGlobalGetValueType(thrower);
        let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        let ty = LLVMFunctionType(edit.i64, types.as_mut_ptr(), types.len() as u32, 0);
        let function = LLVMAddFunction(edit.module, c"ffgrad.caught".as_ptr(), ty);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        let (start, returned) = (edit.block_in(function), edit.block_in(function));
        let mut given: Vec<LLVMValueRef> = (0..types.len() as u32).map(|i| LLVMGetParam(function, i)).collect();
        let thrown = take(edit, function);
        edit.at_end(thrown.0);
        LLVMBuildRet(edit.builder, thrown.1);
        edit.at_end(returned);
        LLVMBuildUnreachable(edit.builder);
        edit.at_end(start);
        let (ty, count) = (LLVMGlobalGetValueType(thrower), given.len() as u32);
        let (to, from) = (returned.0, thrown.0.0);
        LLVMBuildInvoke2(edit.builder, ty, thrower, given.as_mut_ptr(), count, to, from, c"".as_ptr());
        edit.mark_inactive(function);
        edit.attribute(function, "cold", 0);
        function
    }
}

/// A function that makes a library call, writes the address of what it throws, or 0, to its last argument, and returns the result.
pub fn catching_library(edit: &Edit, call: Value) -> LLVMValueRef {
    // SAFETY: a live call of a function without a body.
    unsafe {
        let callee = super::facts::called(call);
        let ty = LLVMGetCalledFunctionType(call.0);
        let result = LLVMGetReturnType(ty);
        let count = LLVMCountParamTypes(ty);
        let mut types = vec![std::ptr::null_mut(); count as usize];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        types.push(edit.ptr);
        let wide = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
        let function = LLVMAddFunction(edit.module, c"ffgrad.caught".as_ptr(), wide);
        LLVMSetLinkage(function, LLVMInternalLinkage);
        let (start, returned) = (edit.block_in(function), edit.block_in(function));
        let mut given: Vec<LLVMValueRef> = (0..count).map(|i| LLVMGetParam(function, i)).collect();
        let place = LLVMGetParam(function, count);
        let (pad, thrown) = take(edit, function);
        let is_void = LLVMGetTypeKind(result) == llvm_sys::LLVMTypeKind::LLVMVoidTypeKind;
        edit.at_end(start);
        let (to, from) = (returned.0, pad.0);
        let made = LLVMBuildInvoke2(edit.builder, ty, callee, given.as_mut_ptr(), count, to, from, c"".as_ptr());
        for index in 0..=count {
            let mut all = vec![std::ptr::null_mut(); LLVMGetCallSiteAttributeCount(call.0, index) as usize];
            LLVMGetCallSiteAttributes(call.0, index, all.as_mut_ptr());
            all.into_iter().for_each(|a| LLVMAddCallSiteAttribute(made, index, a));
        }
        for (block, stored, value) in [(returned, edit.number(0), Some(made)), (pad, thrown, None)] {
            edit.at_end(block);
            LLVMBuildStore(edit.builder, stored, place);
            match value {
                _ if is_void => LLVMBuildRetVoid(edit.builder),
                Some(value) => LLVMBuildRet(edit.builder, value),
                None => LLVMBuildRet(edit.builder, LLVMConstNull(result)),
            };
        }
        edit.mark_inactive(function);
        function
    }
}

/// A landing pad that catches everything: its block, and the address of the exception as a number.
fn take(edit: &Edit, function: LLVMValueRef) -> (Block, LLVMValueRef) {
    // SAFETY: a live function without a landing pad.
    unsafe {
        let name = c"__gxx_personality_v0";
        let mut personality = LLVMGetNamedFunction(edit.module, name.as_ptr());
        if personality.is_null() {
            let ty = LLVMFunctionType(edit.i32, std::ptr::null_mut(), 0, 1);
            personality = LLVMAddFunction(edit.module, name.as_ptr(), ty);
        }
        LLVMSetPersonalityFn(function, personality);
        let block = edit.block_in(function);
        edit.at_end(block);
        let mut fields = [edit.ptr, edit.i32];
        let ty = LLVMStructTypeInContext(edit.context, fields.as_mut_ptr(), 2, 0);
        let pad = LLVMBuildLandingPad(edit.builder, ty, std::ptr::null_mut(), 1, c"".as_ptr());
        LLVMAddClause(pad, LLVMConstNull(edit.ptr));
        let raised = LLVMBuildExtractValue(edit.builder, pad, 0, c"".as_ptr());
        let object = edit.runtime("take", edit.ptr, &[raised]);
        (block, LLVMBuildPtrToInt(edit.builder, object, edit.i64, c"".as_ptr()))
    }
}

/// Whether a function is one of the wrapper's.
pub fn is_root(function: FunctionValue<'_>) -> bool {
    function.get_name().to_bytes() == super::ROOT.as_bytes() && !raw(function).is_null()
}
