//! Leaves code that does not return (`exit`, `abort`, a failed `assert`) out of a derivative, but for what leads there.
//!
//! Enzyme gives such code no derivative. A branch to it that values decide is replaced by its marker of the path ([`Checks`]); the driver asks the
//! function where a derivative has stopped, and gives the caller its end in place of a gradient. Libraries
//! that check their arguments have as many such branches as others, and Enzyme's time grows with the number of both. After Enzyme the marker stops the
//! derivative where the check fails ([`failed_checks`](super::failed_checks)).
//!
//! Where such a branch stays (a switch, a loop's exit that sizes decide), LLVM takes what leads there as never taken: inside Enzyme the branch becomes a call
//! of `llvm.assume`, and all that is computed from its condition follows it, a marker of the path too:
//!
//! ```text
//! path(0, 3, edge);  switch (kind) { .. default: exit(3); }     path(0, 3, edge);  assume(edge != 0);
//! ```
//!
//! So the marker gets a copy of the condition, of values that LLVM does not see through until Enzyme is done ([`decider`]); the assumptions are dropped
//! after it ([`drop_assumptions`]).

use crate::analysis::value_paths::is_branch;
use crate::ir::{self, Block, Op, Value, edges, markers, path_markers};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;
use std::collections::{HashMap, HashSet};

/// How many blocks lie at most between a branch and the end of the program.
const NEAR: usize = 8;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// What a branch or switch that stays decides by, for a marker: its own condition or number, and beside a dead end one of values that LLVM cannot relate to it.
///
/// # Safety
///
/// The builder stands right before the branch, which is an instruction of the module.
pub unsafe fn decider(module: &Module<'_>, builder: LLVMBuilderRef, branch: Value) -> Value {
    let own = branch.operand(0);
    match branch.parent().successors().into_iter().any(|block| ends(block, NEAR)) {
        // SAFETY: by this function's promise.
        true => unsafe { hidden(module, builder, own) },
        false => own,
    }
}

/// Branches of one function that have a dead end on one side, with the successor on the other one.
pub struct Checks(HashMap<Value, Block>);

impl Checks {
    /// Finds them among branches.
    pub fn among(branches: &[Value]) -> Checks {
        Checks(branches.iter().filter_map(|branch| Some((*branch, live_successor(*branch)?))).collect())
    }

    /// Whether a branch is one.
    pub fn contains(&self, branch: Value) -> bool {
        self.0.contains_key(&branch)
    }

    /// Whether the next thing that happens behind a check is another one, whose marker serves for both. What is written behind the first means
    /// that it has passed.
    pub fn leads_to_another(&self, check: Value) -> bool {
        let mut next = self.0.get(&check).copied();
        while let Some(block) = next.filter(|block| only_predecessor(*block).is_some() && !writes(*block)) {
            let end = block.terminator();
            if self.contains(end) {
                return true;
            }
            next = if end.is(Op::LLVMBr) && !is_branch(end) { block.successors().first().copied() } else { None };
        }
        false
    }

    /// Whether a check, or one that leads to it, finds that the function ends. The first that does decides: what is computed behind it means nothing.
    ///
    /// # Safety
    ///
    /// The builder stands right before the check.
    pub unsafe fn fails(&self, builder: LLVMBuilderRef, check: Value) -> Option<Value> {
        let mut fails = self.own(builder, check)?;
        let mut block = check.parent();
        // A block that nothing reaches may lead to itself.
        while let Some(before) = only_predecessor(block).filter(|before| *before != check.parent() && !writes(block)) {
            let end = before.terminator();
            match self.own(builder, end) {
                // SAFETY: by this function's promise; the condition of what leads here is defined here.
                Some(earlier) => unsafe {
                    let truth = LLVMConstInt(fails.ty(), 1, 0);
                    fails = Value(LLVMBuildSelect(builder, earlier.0, truth, fails.0, NONE));
                },
                None if end.is(Op::LLVMBr) && !is_branch(end) => {}
                None => break,
            }
            block = before;
        }
        Some(fails)
    }

    /// Whether this check itself fails.
    fn own(&self, builder: LLVMBuilderRef, check: Value) -> Option<Value> {
        let live = self.0.get(&check)?;
        let condition = check.operand(0);
        let passes_first = check.parent().successors()[0] == *live;
        Some(match passes_first {
            // SAFETY: the condition of a live branch, which is defined where the builder stands.
            true => Value(unsafe { LLVMBuildNot(builder, condition.0, NONE) }),
            false => condition,
        })
    }

    /// Replaces the checks, behind their markers, by branches to the successors that return.
    pub fn leave_out(&self, function: FunctionValue<'_>) {
        self.0.iter().for_each(|(check, live)| edges::keep_one(*check, *live));
        if !self.0.is_empty() {
            edges::delete_unreachable(function);
        }
    }
}

/// Whether a block may write to memory, but for markers.
fn writes(block: Block) -> bool {
    block.instructions().into_iter().any(|i| match i.op() {
        Some(Op::LLVMCall) => i.callee().is_none_or(|name| {
            !path_markers::is_one(&name) && (!name.starts_with("llvm.") || name.starts_with("llvm.mem"))
        }),
        Some(Op::LLVMStore | Op::LLVMAtomicRMW | Op::LLVMAtomicCmpXchg | Op::LLVMInvoke) => true,
        _ => false,
    })
}

fn only_predecessor(block: Block) -> Option<Block> {
    match block.predecessors()[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// The successor of a branch that is no dead end, where the other one is.
fn live_successor(branch: Value) -> Option<Block> {
    match branch.parent().successors()[..] {
        [a, b] if branch.is(Op::LLVMBr) => match (ends(a, NEAR), ends(b, NEAR)) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        },
        _ => None,
    }
}

/// Branches of a function of which one side is a dead end that calls one of some functions, whatever decides them.
pub fn leading_to(function: FunctionValue<'_>, callees: &HashSet<String>) -> Vec<Value> {
    let all: Vec<Block> = ir::blocks(function);
    if callees.is_empty() || !all.iter().any(|block| calls(*block, callees)) {
        return Vec::new();
    }
    let leads = |branch: &Value| {
        let live = live_successor(*branch);
        live.is_some_and(|live| {
            branch.parent().successors().into_iter().any(|side| side != live && comes_to(side, callees, NEAR))
        })
    };
    all.into_iter().map(Block::terminator).filter(leads).collect()
}

fn calls(block: Block, callees: &HashSet<String>) -> bool {
    block.instructions().into_iter().any(|i| i.callee().is_some_and(|name| callees.contains(&name)))
}

fn comes_to(block: Block, callees: &HashSet<String>, near: usize) -> bool {
    calls(block, callees) || near > 0 && block.successors().into_iter().any(|next| comes_to(next, callees, near - 1))
}

/// Whether all paths from a block come to an `unreachable`.
fn ends(block: Block, near: usize) -> bool {
    let end = block.terminator();
    let next = block.successors();
    end.is(Op::LLVMUnreachable) || near > 0 && !next.is_empty() && next.into_iter().all(|b| ends(b, near - 1))
}

/// A condition is composed again of hidden values, because LLVM knows it as a whole; another value is the result of a function that has no body yet.
/// Constants, pointers and other types stay as they are.
///
/// # Safety
///
/// The builder stands in the module, where the value is defined.
unsafe fn hidden(module: &Module<'_>, builder: LLVMBuilderRef, value: Value) -> Value {
    let of = |i: u32| {
        // SAFETY: an operand of what is defined here is defined here, too.
        unsafe { hidden(module, builder, value.operand(i)).0 }
    };
    // SAFETY: by this function's promise; a live value and its type, and a function of the module with one parameter of that type.
    unsafe {
        let is_condition = LLVMGetTypeKind(value.ty()) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(value.ty()) == 1;
        let composed = match value.op().filter(|_| is_condition) {
            Some(Op::LLVMFCmp) => LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(value.0), of(0), of(1), NONE),
            Some(Op::LLVMICmp) => LLVMBuildICmp(builder, LLVMGetICmpPredicate(value.0), of(0), of(1), NONE),
            Some(Op::LLVMAnd) => LLVMBuildAnd(builder, of(0), of(1), NONE),
            Some(Op::LLVMOr) => LLVMBuildOr(builder, of(0), of(1), NONE),
            Some(Op::LLVMXor) => LLVMBuildXor(builder, of(0), of(1), NONE),
            Some(Op::LLVMSelect) => LLVMBuildSelect(builder, of(0), of(1), of(2), NONE),
            _ => {
                let is_constant = LLVMIsConstant(value.0) != 0;
                if is_constant { value.0 } else { markers::hide(module, builder, value.0).unwrap_or(value.0) }
            }
        };
        Value(composed)
    }
}

/// Drops what LLVM has taken for granted in functions with markers of the path: that they do not come to a dead end.
pub fn drop_assumptions(module: &Module<'_>) {
    for function in ir::functions(module) {
        let all: Vec<Value> = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
        let calls = |i: &Value, name: &str| i.callee().is_some_and(|callee| callee == name);
        if !all.iter().any(|i| calls(i, path_markers::PATH) || calls(i, path_markers::CHECK)) {
            continue;
        }
        // Bundles say something of pointers.
        // SAFETY: a live call.
        let is_plain = |i: &Value| calls(i, "llvm.assume") && unsafe { LLVMGetNumOperandBundles(i.0) } == 0;
        all.iter().filter(|i| is_plain(i)).for_each(|i| i.erase());
    }
}
