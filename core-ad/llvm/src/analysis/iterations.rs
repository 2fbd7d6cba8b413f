//! Loops whose iterations share nothing but memory that is only read and memory that is only added to or only written.
//!
//! Such an iteration can be repeated at any later time: it computes the same values again. The conditions:
//!
//! * The loop has one latch, which is its only exit, and its trip count and addresses come from integers that need no memory.
//! * Every pointer leads to known memory objects that do not escape, or to a constant.
//! * What an iteration reads is not written in the loop, nor by anything that runs after it has begun, except: memory of the iteration's own
//!   (a variable of the stack whose life begins in the iteration), and
//! * sums: what is read from memory that the loop writes goes, by additions alone, into memory that the loop writes. So no value that a
//!   derivative needs, no branch and no address depends on it. A floating-point phi of the loop has to be such a sum, too.
//! * Calls compute only, fill and copy known memory, or are of functions for whose parameters the same holds (`callee`).

mod callee;
mod flow;
mod shape;

pub use flow::is_needed;

use crate::analysis::affine;
use crate::analysis::cfg::{Cfg, Dominators, NaturalLoop};
use crate::analysis::memory_objects::Objects;
use crate::ir::identity::is_identity;
use crate::ir::markers::is_type_marker;
use crate::ir::path_markers;
use crate::ir::{self, Block, Op, Value};
use inkwell::targets::TargetData;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use std::collections::HashSet;

/// A loop whose iterations are independent in this sense.
pub struct Iteration {
    /// The block before the loop.
    pub before: Block,
    /// The block behind it.
    pub after: Block,
    /// Its blocks; the header is the first.
    pub blocks: Vec<Block>,
    /// Its latch.
    pub latch: Block,
    /// The phis of integers and pointers in the header.
    pub counters: Vec<Value>,
    /// What these and the exit condition are computed by, in an order in which it can be computed.
    pub control: Vec<Value>,
    /// The phis of the header that are sums.
    pub sums: Vec<Value>,
    /// Variables of the iteration's own, and addresses in them that are computed outside of the loop.
    pub private: Vec<Value>,
    /// What Enzyme would keep for the reverse sweep: loads of variables of its own, what inner loops carry and leave behind, and results of calls; where
    /// derivatives need them, and each multiplied by 8 for each loop of the iteration around it.
    pub kept: u64,
    /// The floating-point operations, counted in the same way.
    pub operations: u64,
    /// Whether what the iterations write is read elsewhere, or a derivative needs a total.
    pub is_used: bool,
    /// Whether it stands in no other loop.
    pub is_outermost: bool,
}

/// A loop under examination.
struct Candidate<'a> {
    blocks: &'a [Block],
    cfg: &'a Cfg,
    dominators: &'a Dominators,
    objects: &'a Objects,
    natural: &'a NaturalLoop,
    /// For each block whether it may run after an iteration has begun.
    later: Vec<bool>,
    /// The memory layout, where each iteration runs once.
    once: Option<&'a TargetData>,
}

/// The outermost loops of a function with independent iterations. `once`: where the function is reversed, each iteration of a loop that stands in no other
/// one runs once, with its reverse. Then it may change cells of its own, such as `energy[e]` in the loop over `e`.
pub fn independent(function: FunctionValue<'_>, once: Option<&TargetData>) -> Vec<Iteration> {
    let blocks = ir::blocks(function);
    if blocks.len() > super::cfg::MAX_BLOCKS {
        return Vec::new();
    }
    let cfg = Cfg::of(&blocks);
    let dominators = cfg.dominators();
    let loops = cfg.natural_loops(&dominators);
    let objects = Objects::of(function);
    let mut found: Vec<(usize, Iteration)> = Vec::new();
    let mut order: Vec<usize> = (0..loops.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(loops[*i].body.iter().filter(|inside| **inside).count()));
    for i in order {
        let natural = &loops[i];
        if found.iter().any(|(outer, _)| loops[*outer].body[natural.header]) {
            continue;
        }
        let later = cfg.reached_from(natural.header, |_| true);
        let is_outermost = !loops.iter().any(|l| l.is_around(natural));
        let once = once.filter(|_| is_outermost);
        let candidate =
            Candidate { blocks: &blocks, cfg: &cfg, dominators: &dominators, objects: &objects, natural, later, once };
        let inner: Vec<&NaturalLoop> = loops.iter().filter(|l| natural.is_around(l)).collect();
        if let Some(iteration) = candidate.examine(&inner) {
            found.push((i, Iteration { is_outermost, ..iteration }));
        }
    }
    found.into_iter().map(|(_, iteration)| iteration).collect()
}

impl Candidate<'_> {
    fn examine(&self, inner: &[&NaturalLoop]) -> Option<Iteration> {
        let mut iteration = self.shape()?;
        iteration.private = self.private_variables();
        let private: HashSet<usize> =
            iteration.private.iter().flat_map(|p| self.objects.underlying(*p)).copied().collect();
        let allowed = |i: &Value| self.is_allowed(*i, &private, &iteration);
        if !self.instructions().all(|i| allowed(&i)) || !self.sums_are_plain(&iteration, &private) {
            return None;
        }
        if !self.nothing_is_freed() {
            return None;
        }
        for i in self.instructions() {
            let place = self.cfg.number(i.parent());
            let weight = weight(inner.iter().filter(|l| l.body[place]).count());
            if self.is_kept_by_loops(i, inner) {
                iteration.kept += weight;
            }
            if let Some(effects) = callee::effects_of_body(i) {
                iteration.kept += weight * (effects.kept + callee::results(i));
                iteration.operations += weight * effects.operations;
            } else if i.is(Op::LLVMLoad) && i.is_float() && self.leads_to(i.operand(0), &private) && flow::is_needed(i)
            {
                iteration.kept += weight;
            }
            if i.is_float() && computes(i) {
                iteration.operations += weight;
            }
        }
        iteration.is_used = self.is_used(&iteration);
        Some(iteration)
    }

    /// Whether a value is of an earlier iteration of an inner loop, or left behind by one, and a derivative needs it: Enzyme cannot compute it again without
    /// all of the loop.
    fn is_kept_by_loops(&self, i: Value, inner: &[&NaturalLoop]) -> bool {
        let place = self.cfg.number(i.parent());
        let leaves = |from: usize| inner.iter().any(|l| l.body[from] && !l.body[place]);
        let comes_from_loop = || i.incoming().into_iter().any(|(_, from)| leaves(self.cfg.number(from)));
        i.is(Op::LLVMPHI)
            && i.is_float()
            && (inner.iter().any(|l| l.header == place) || comes_from_loop())
            && flow::is_needed(i)
    }

    /// Whether what the iterations write is read elsewhere, or a derivative needs a total.
    fn is_used(&self, iteration: &Iteration) -> bool {
        let written = self.objects.iter().filter(|(_, o)| o.writes.iter().any(|write| self.contains(*write)));
        let mut reads = written.flat_map(|(_, o)| &o.reads);
        let totals = iteration.sums.iter().flat_map(|sum| sum.incoming());
        let mut totals = totals.filter(|(_, from)| *from == iteration.latch).flat_map(|(total, _)| total.users());
        reads.any(|read| self.is_later(*read) && !self.contains(*read))
            || totals.any(|user| !self.contains(user) && flow::is_needed_by(user))
    }

    /// The instructions of the loop.
    fn instructions(&self) -> impl Iterator<Item = Value> {
        let inside = self.blocks.iter().zip(&self.natural.body).filter(|(_, inside)| **inside);
        inside.flat_map(|(block, _)| block.instructions())
    }

    fn contains(&self, value: Value) -> bool {
        value.is_instruction() && self.natural.body[self.cfg.number(value.parent())]
    }

    fn is_later(&self, value: Value) -> bool {
        self.later[self.cfg.number(value.parent())]
    }

    /// Whether a pointer leads to some of these objects only.
    fn leads_to(&self, pointer: Value, objects: &HashSet<usize>) -> bool {
        let all = self.objects.underlying(pointer);
        !all.is_empty() && all.iter().all(|o| objects.contains(o))
    }

    /// Whether all that a pointer may lead to is known.
    fn is_known(&self, pointer: Value) -> bool {
        let all = self.objects.underlying(pointer);
        !all.is_empty() && all.iter().all(|o| !self.objects.get(*o).escapes)
    }

    /// Whether what a pointer leads to is a constant, or known and not written once the iteration has begun.
    fn is_steady(&self, pointer: Value, private: &HashSet<usize>) -> bool {
        if is_constant(pointer) {
            return true;
        }
        let steady = |o: &usize| {
            let is_own = || self.once.is_some_and(|layout| self.has_own_cells(*o, layout));
            private.contains(o) || !self.objects.get(*o).writes.iter().any(|write| self.is_later(*write)) || is_own()
        };
        self.is_known(pointer) && self.objects.underlying(pointer).iter().all(steady)
    }

    /// Whether each iteration has a cell of its own in an object, and nothing behind the loop begins to change it.
    fn has_own_cells(&self, object: usize, layout: &TargetData) -> bool {
        let latch = self.blocks[self.natural.latches[0]];
        let cell = |access: &Value| {
            let (pointer, value) = match access.op()? {
                Op::LLVMLoad => (access.operand(0), *access),
                Op::LLVMStore => (access.operand(1), access.operand(0)),
                _ => return None,
            };
            let (base, distance) = affine::address(pointer, layout)?;
            let (mut moving, fixed): (Vec<_>, Vec<_>) =
                distance.terms.iter().partition(|(value, _)| self.contains(**value));
            let (counter, factor) = moving.pop().filter(|_| moving.is_empty())?;
            let is_counter = counter.is(Op::LLVMPHI) && counter.parent() == self.blocks[self.natural.header];
            let size = affine::size_of(value.ty(), layout);
            let step = affine::step(*counter, latch).filter(|_| is_counter)?;
            let is_apart = step.checked_mul(*factor)?.abs() >= size;
            let is_fixed = !self.contains(base) && fixed.iter().all(|(value, _)| !self.contains(**value));
            (is_apart && is_fixed).then_some((base, distance, size))
        };
        let object = self.objects.get(object);
        let mut cells = object.reads.iter().chain(&object.writes).filter(|i| self.contains(**i)).map(cell);
        let is_written_behind = object.writes.iter().any(|w| self.is_later(*w) && !self.contains(*w));
        let Some(Some(first)) = cells.next() else { return false };
        !is_written_behind && cells.all(|other| other.as_ref() == Some(&first))
    }

    fn is_allowed(&self, i: Value, private: &HashSet<usize>, iteration: &Iteration) -> bool {
        match i.op() {
            Some(Op::LLVMLoad) => {
                let adds = || self.is_known(i.operand(0)) && self.only_adds(i, private, None);
                !i.is_special() && (self.is_steady(i.operand(0), private) || adds())
            }
            Some(Op::LLVMStore) => !i.is_special() && !i.operand(0).is_pointer() && self.is_known(i.operand(1)),
            Some(Op::LLVMCall) => self.is_allowed_call(i, private),
            Some(Op::LLVMBr | Op::LLVMSwitch) => true,
            Some(Op::LLVMPHI) if i.parent() == iteration.blocks[0] => true,
            Some(op) => is_plain(op),
            None => false,
        }
    }

    fn is_allowed_call(&self, call: Value, private: &HashSet<usize>) -> bool {
        let name = call.callee().unwrap_or_default();
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            return self.is_known(call.operand(0)) && self.is_steady(call.operand(1), private);
        }
        if name.starts_with("llvm.memset.") {
            return self.is_known(call.operand(0));
        }
        if name.starts_with("llvm.lifetime.") {
            return self.leads_to(call.operand(0), private);
        }
        if is_harmless(call, &name) {
            return true;
        }
        let Some(effects) = callee::effects(call, 0) else { return false };
        (0u32..).zip(effects.reads.iter().zip(&effects.writes)).all(|(i, (reads, writes))| {
            let given = call.operand(i);
            (!reads || self.is_steady(given, private)) && (!writes || self.is_known(given))
        })
    }

    /// Enzyme moves an iteration to the reverse sweep only where nothing may be freed in between.
    fn nothing_is_freed(&self) -> bool {
        let later = self.blocks.iter().zip(&self.later).filter(|(_, later)| **later);
        let calls = later.flat_map(|(block, _)| block.instructions()).filter(|i| i.called().is_some());
        let mut calls = calls.filter(|i| !i.callee().is_some_and(|name| name.starts_with("__enzyme_")));
        calls.all(Value::frees_nothing)
    }
}

/// How often something runs in an iteration, in so many loops of it.
pub fn weight(loops: usize) -> u64 {
    8_u64.pow(u32::try_from(loops).unwrap_or(8).min(8))
}

/// Whether a call only computes, or is a statement for the compiler, a marker, or an identity function of Enzyme's alone.
pub fn is_harmless(call: Value, name: &str) -> bool {
    let statements = ["llvm.experimental.noalias.scope.decl", "llvm.assume"];
    statements.contains(&name)
        || path_markers::is_one(name)
        || is_type_marker(name)
        || is_identity(name)
        || call.only_computes()
}

/// Whether a call adds a value to a product: `a * b + value`.
fn is_addend(call: Value, value: Value) -> bool {
    let name = call.callee().unwrap_or_default();
    (name.starts_with("llvm.fmuladd.") || name.starts_with("llvm.fma."))
        && call.operand(2) == value
        && call.operand(0) != value
        && call.operand(1) != value
}

/// Whether a pointer leads into a constant.
pub fn is_constant(pointer: Value) -> bool {
    let mut base = pointer;
    loop {
        // SAFETY: asked of live values; only a global variable is asked whether it is constant. A constant expression has the operands of the
        // instruction that it stands for.
        unsafe {
            if !LLVMIsAGlobalVariable(base.0).is_null() {
                return LLVMIsGlobalConstant(base.0) != 0;
            }
            let steps = base.is(Op::LLVMGetElementPtr)
                || !LLVMIsAConstantExpr(base.0).is_null() && LLVMGetConstOpcode(base.0) == Op::LLVMGetElementPtr;
            if !steps {
                return false;
            }
        }
        base = base.operand(0);
    }
}

/// Whether it is arithmetic with floating-point numbers.
pub fn computes(i: Value) -> bool {
    match i.op() {
        Some(Op::LLVMCall) => !i.callee().is_some_and(|name| is_identity(&name)),
        Some(op) => matches!(op, Op::LLVMFAdd | Op::LLVMFSub | Op::LLVMFMul | Op::LLVMFDiv | Op::LLVMFNeg),
        None => false,
    }
}

/// Whether an instruction has no effect and touches no memory.
pub fn is_plain(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMUDiv
            | LLVMSDiv
            | LLVMURem
            | LLVMSRem
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFRem
            | LLVMFNeg
            | LLVMICmp
            | LLVMFCmp
            | LLVMSelect
            | LLVMPHI
            | LLVMGetElementPtr
            | LLVMSExt
            | LLVMZExt
            | LLVMTrunc
            | LLVMFPExt
            | LLVMFPTrunc
            | LLVMSIToFP
            | LLVMUIToFP
            | LLVMFPToSI
            | LLVMFPToUI
            | LLVMBitCast
            | LLVMFreeze
            | LLVMExtractValue
            | LLVMInsertValue
    )
}
