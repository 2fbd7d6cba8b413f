//! Hides the addresses of loads and stores from LLVM's scalar evolution where Enzyme would subtract recurrences of loops neither of which
//! dominates the other: an assertion of LLVM ends it.
//!
//! ```text
//! for (i) { if (odd(i)) for (j) s += a[j * (j + 1) / 2];   else for (k) a[k] = x[k]; }
//! ```
//!
//! For each load and each store that may follow it Enzyme tries to show that the range of the one lies below that of the other
//! (`overwritesToMemoryReadByLoop` in Utils.cpp): it subtracts the SCEVs of their ends, and puts the first or the last iteration for one induction variable after the
//! other. SCEV sorts the terms of a sum by the loops of their recurrences, and asserts that of two such loops one dominates the other ("No dominance between
//! recurrences used by one SCEV"). Enzyme makes sure of that only where both addresses are recurrences as a whole: `a + 8 * k` is, the
//! address of `a[j * (j + 1) / 2]` contains one. So does a trip count that an earlier loop of the branch has found. The smallest IR:
//!
//! ```text
//! first:  %j = phi i32 ...     %half = lshr i32 %j, 1     %at = getelementptr double, ptr %a, i32 %half     load %at
//! second: %k = phi i32 ...     %back = sub i32 %n, %k     %to = getelementptr double, ptr %a, i32 %back     store %to
//! ```
//!
//! In a load or store of such a pair each index of the address is replaced by its exclusive or with an opaque zero, for which SCEV has no term. The
//! base stays, so alias analysis still knows the object, and Enzyme recomputes the operation like any other.

use super::cross_iteration::Roots;
use crate::analysis::cfg::{Cfg, Dominators, MAX_BLOCKS};
use crate::analysis::induction::Loops;
use crate::ir::markers::load_opaque_zero;
use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The first id of the opaque zeros made here.
const FIRST: u64 = 1 << 29;

/// With more pairs than this in a function none is looked at.
const MAX_PAIRS: usize = 4_000_000;

/// Hides such addresses. To be called last before Enzyme: what else reads addresses does so before.
pub fn run(module: &Module<'_>) {
    let mut done = FIRST;
    for function in ir::functions(module) {
        let found = find_affected(function);
        if !found.is_empty() {
            hide(module, function, &found, done);
            done += 1;
        }
    }
}

/// What scalar evolution finds in an address.
struct Access {
    pointer: Value,
    user: Value,
    block: usize,
    /// The headers of the loops whose recurrences its SCEV contains, or would with the last iteration put for an induction variable.
    headers: BTreeSet<usize>,
    /// Whether it is a recurrence as a whole, and stays one with each iteration put in.
    is_recurrence: bool,
    roots: Roots,
}

/// The addresses to hide, with their users.
fn find_affected(function: FunctionValue<'_>) -> Vec<(Value, Value)> {
    let blocks = ir::blocks(function);
    if blocks.len() < 4 || blocks.len() > MAX_BLOCKS {
        return Vec::new();
    }
    let cfg = Cfg::of(&blocks);
    let dominators = cfg.dominators();
    let loops = Loops { all: cfg.natural_loops(&dominators), cfg: &cfg };
    if loops.all.len() < 2 {
        return Vec::new();
    }
    let mut terms = Terms { loops: &loops, blocks: &blocks, known: HashMap::new() };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for instruction in (0..blocks.len()).filter(|b| dominators.is_reached(*b)).flat_map(|b| blocks[b].instructions()) {
        let (read, written) = addresses(instruction);
        reads.extend(read.and_then(|pointer| terms.access(function, pointer, instruction)));
        writes.extend(written.and_then(|pointer| terms.access(function, pointer, instruction)));
    }
    if reads.len().saturating_mul(writes.len()) > MAX_PAIRS {
        return Vec::new();
    }
    pairs(&cfg, &dominators, &reads, &writes)
}

/// One address of each pair that Enzyme cannot compare.
fn pairs(cfg: &Cfg, dominators: &Dominators, reads: &[Access], writes: &[Access]) -> Vec<(Value, Value)> {
    let mut found = Vec::new();
    let mut hidden: HashSet<(Value, Value)> = HashSet::new();
    let mut reached: HashMap<usize, Vec<bool>> = HashMap::new();
    let apart = |a: usize, b: usize| !dominators.dominates(a, b) && !dominators.dominates(b, a);
    for read in reads {
        for write in writes.iter().filter(|w| !(read.is_recurrence && w.is_recurrence)) {
            let keys = [(read.pointer, read.user), (write.pointer, write.user)];
            let differ = || read.headers.iter().any(|a| write.headers.iter().any(|b| apart(*a, *b)));
            if keys.iter().any(|key| hidden.contains(key)) || !read.roots.meet(&write.roots) || !differ() {
                continue;
            }
            let follows = reached.entry(read.block).or_insert_with(|| cfg.reached_from(read.block, |_| true));
            if follows[write.block] {
                let key = if read.is_recurrence { keys[1] } else { keys[0] };
                hidden.insert(key);
                found.push(key);
            }
        }
    }
    found
}

/// The address that an instruction reads from, and the one that it writes to.
fn addresses(instruction: Value) -> (Option<Value>, Option<Value>) {
    let named = |prefixes: &[&str]| instruction.callee().is_some_and(|n| prefixes.iter().any(|p| n.starts_with(p)));
    match instruction.op() {
        Some(Op::LLVMLoad) => (Some(instruction.operand(0)), None),
        Some(Op::LLVMStore) => (None, Some(instruction.operand(1))),
        Some(Op::LLVMCall) if named(&["llvm.memcpy.", "llvm.memmove."]) => {
            (Some(instruction.operand(1)), Some(instruction.operand(0)))
        }
        Some(Op::LLVMCall) if named(&["llvm.memset."]) => (None, Some(instruction.operand(0))),
        _ => (None, None),
    }
}

/// What a value's SCEV consists of.
#[derive(Clone)]
struct Term {
    headers: BTreeSet<usize>,
    /// Whether each recurrence in it is its whole, or the start of another one.
    is_recurrence: bool,
}

impl Default for Term {
    /// A value that is not taken apart.
    fn default() -> Term {
        Term { headers: BTreeSet::new(), is_recurrence: true }
    }
}

/// The SCEVs of the values of a function.
struct Terms<'a> {
    loops: &'a Loops<'a>,
    blocks: &'a [Block],
    known: HashMap<Value, Term>,
}

impl Terms<'_> {
    /// An address with a recurrence in it.
    fn access(&mut self, function: FunctionValue<'_>, pointer: Value, user: Value) -> Option<Access> {
        let Term { headers, is_recurrence } = self.of(pointer);
        if headers.is_empty() {
            return None;
        }
        let block = self.loops.cfg.number(user.parent());
        Some(Access { pointer, user, block, headers, is_recurrence, roots: Roots::of(function, pointer) })
    }

    fn of(&mut self, value: Value) -> Term {
        if !value.is_instruction() {
            return Term::default();
        }
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        // What depends on itself otherwise than by an induction variable has no other term than itself.
        self.known.insert(value, Term::default());
        let term = self.made_of(value);
        self.known.insert(value, term.clone());
        term
    }

    fn made_of(&mut self, value: Value) -> Term {
        match value.op() {
            Some(Op::LLVMPHI) => self.of_phi(value),
            Some(Op::LLVMGetElementPtr | Op::LLVMAdd | Op::LLVMSub) => self.joined(value, true),
            // A recurrence times what its loop does not change is one.
            Some(Op::LLVMMul) => {
                let is_factor = |o: Value| self.of(o).headers.is_empty();
                let by_invariant = value.operands().into_iter().map(is_factor).fold(false, |any, is| any | is);
                self.joined(value, by_invariant)
            }
            Some(Op::LLVMShl) => self.joined(value, value.operand(1).constant().is_some()),
            // For these scalar evolution has nothing but the value itself.
            Some(Op::LLVMLoad | Op::LLVMAlloca | Op::LLVMInvoke | Op::LLVMFPToSI | Op::LLVMFPToUI) => Term::default(),
            Some(Op::LLVMCall) if !value.callee().is_some_and(|name| name.starts_with("llvm.")) => Term::default(),
            _ => self.joined(value, false),
        }
    }

    /// The terms of all operands. `is_linear`: of recurrences, and what does not change in their loops, it makes a recurrence.
    fn joined(&mut self, value: Value, is_linear: bool) -> Term {
        let operands: Vec<Value> = value.operands().into_iter().filter(|o| !o.is_block()).collect();
        let parts: Vec<Term> = operands.iter().map(|o| self.of(*o)).collect();
        let headers: BTreeSet<usize> = parts.iter().flat_map(|part| part.headers.iter().copied()).collect();
        let changes = |o: &Value| o.is_instruction() && headers.iter().any(|h| self.is_in(*o, *h));
        let stay = operands.iter().zip(&parts).all(|(o, part)| !part.headers.is_empty() || !changes(o));
        let are_recurrences = stay && parts.iter().all(|part| part.is_recurrence);
        Term { is_recurrence: headers.is_empty() || is_linear && are_recurrences, headers }
    }

    /// Whether an instruction is in the loop with this header.
    fn is_in(&self, instruction: Value, header: usize) -> bool {
        let block = self.loops.cfg.number(instruction.parent());
        self.loops.at(header).is_some_and(|inside| inside.body[block])
    }

    fn of_phi(&mut self, phi: Value) -> Term {
        let cfg = self.loops.cfg;
        let Some(inside) = self.loops.at(cfg.number(phi.parent())) else {
            // The value of a loop behind it, or one of two that scalar evolution may take for a minimum.
            return match phi.incoming().len() {
                1 => self.joined(phi, true),
                2 if !phi.is_float() => self.joined(phi, false),
                _ => Term::default(),
            };
        };
        let (back, starts): (Vec<_>, Vec<_>) =
            phi.incoming().into_iter().partition(|(_, from)| inside.latches.contains(&cfg.number(*from)));
        let Some(steps) = same(&back).and_then(|next| added(next, phi)) else { return Term::default() };
        let starts: Vec<Term> = starts.into_iter().map(|(start, _)| self.of(start)).collect();
        let steps: Vec<Term> = steps.into_iter().map(|step| self.of(step)).collect();
        // Its next value has the recurrence too, and is what the conditions compare.
        self.known.insert(phi, Term { headers: BTreeSet::from([inside.header]), is_recurrence: true });
        let last = self.of_trip_count(inside.header);
        let of_others: BTreeSet<usize> = steps.iter().chain([&last]).flat_map(|t| t.headers.iter().copied()).collect();
        let is_recurrence = of_others.is_empty() && starts.iter().all(|start| start.is_recurrence);
        let mut headers: BTreeSet<usize> = starts.iter().flat_map(|t| t.headers.iter().copied()).collect();
        headers.extend(of_others.into_iter().chain([inside.header]));
        Term { headers, is_recurrence }
    }

    /// The terms of the conditions that leave a loop, but for its own induction variables.
    fn of_trip_count(&mut self, header: usize) -> Term {
        let Some(inside) = self.loops.at(header) else { return Term::default() };
        let leaves = |b: &usize| inside.body[*b] && self.loops.cfg.successors[*b].iter().any(|s| !inside.body[*s]);
        let conditions = (0..self.blocks.len()).filter(leaves).flat_map(|b| self.blocks[b].terminator().operands());
        let conditions: Vec<Value> = conditions.filter(|o| !o.is_block()).collect();
        let mut headers: BTreeSet<usize> = conditions.into_iter().flat_map(|c| self.of(c).headers).collect();
        headers.remove(&header);
        Term { headers, is_recurrence: true }
    }
}

/// The one value that comes over all of these edges.
fn same(edges: &[(Value, Block)]) -> Option<Value> {
    let (first, _) = *edges.first()?;
    edges.iter().all(|(value, _)| *value == first).then_some(first)
}

/// What is added to a phi for its next value, where that is a sum.
fn added(next: Value, phi: Value) -> Option<Vec<Value>> {
    if next == phi {
        return Some(Vec::new());
    }
    let is_sum = matches!(next.op(), Some(Op::LLVMAdd | Op::LLVMSub | Op::LLVMGetElementPtr));
    if !is_sum || !next.is_instruction() {
        return None;
    }
    let operands = next.operands();
    let on_left = added(operands[0], phi).map(|found| [found, operands[1..].to_vec()].concat());
    let on_right = || added(operands[1], phi).map(|found| [found, vec![operands[0]]].concat());
    on_left.or_else(|| if next.is(Op::LLVMAdd) { on_right() } else { None })
}

/// Gives the users addresses of their own whose indices are hidden by an opaque zero.
fn hide(module: &Module<'_>, function: FunctionValue<'_>, found: &[(Value, Value)], number: u64) {
    // SAFETY: live values of one function; the entry block dominates all loops, and an address its user.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let zero = load_opaque_zero(module, function, LLVMInt64TypeInContext(context), number);
        for (pointer, user) in found {
            LLVMPositionBuilderBefore(builder, user.0);
            let hidden = hidden(builder, *pointer, zero);
            for (i, operand) in (0u32..).zip(user.operands()) {
                // Of a copy within one array only the one address is meant, and the other may share its value: that does no harm.
                if operand == *pointer {
                    LLVMSetOperand(user.0, i, hidden.0);
                }
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The same address, computed once more with each variable index combined with the zero.
///
/// # Safety
///
/// A builder in front of a user of the address, and a 64-bit zero that dominates it.
unsafe fn hidden(builder: LLVMBuilderRef, pointer: Value, zero: LLVMValueRef) -> Value {
    if !pointer.is(Op::LLVMGetElementPtr) {
        return pointer;
    }
    // SAFETY: see above; the copy of a getelementptr has the operands of the same types.
    unsafe {
        let base = hidden(builder, pointer.operand(0), zero);
        let copy = LLVMInstructionClone(pointer.0);
        LLVMSetOperand(copy, 0, base.0);
        for (i, index) in (0u32..).zip(pointer.operands()).skip(1).filter(|(_, index)| index.is_instruction()) {
            let same_width = LLVMBuildIntCast2(builder, zero, index.ty(), 0, c"".as_ptr());
            LLVMSetOperand(copy, i, LLVMBuildXor(builder, index.0, same_width, c"".as_ptr()));
        }
        LLVMInsertIntoBuilder(builder, copy);
        Value(copy)
    }
}
