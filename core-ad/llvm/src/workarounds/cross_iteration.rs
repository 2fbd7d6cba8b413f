//! Makes Enzyme cache loads that a later iteration overwrites, at addresses that are not affine in induction variables.
//!
//! ```text
//! for (i) { q[k] = q[1 - k] * x[i];  if (x[i] < 0) k = 1 - k; }        s[top] = s[top - 1] * x[i];  top++;
//! ```
//!
//! Enzyme caches a load for the reverse pass if an instruction that may run later overwrites what it read, in a later iteration too
//! (`CacheAnalysis::is_load_uncacheable` in EnzymeLogic.cpp, over all followers of the load). For each of these it asks
//! `writesToMemoryReadBy` (Utils.cpp), and that asks LLVM's alias analysis, `AA.getModRefInfo(writer, MemoryLocation::get(load))`, which takes a
//! value that both addresses use to be equal in both: it answers for *one* iteration (LLVM has a cross-iteration mode for such questions, which
//! Enzyme does not enable). `q[1 - k]` and `q[k]` never alias within an iteration, so the load is not cached but repeated
//! in the reverse pass, when the next iteration with another `k` has overwritten it: a silently wrong gradient
//! (`tests/cases/enzyme_bugs/slots.c`, `stack.c`). Where the load is an index (a stack of bounds, the next element of a list), the
//! reverse pass reads at arbitrary addresses: SIGSEGV (`quick_stack.c`). The smallest IR:
//!
//! ```text
//! loop:  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
//!        %other = xor i64 %k, 1
//!        %read = load double, ptr (q + 8 * %other)        ; repeated in the reverse pass
//!        store double %product, ptr (q + 8 * %k)          ; "no alias"
//!        %next = select i1 %negative, i64 %other, i64 %k
//! ```
//!
//! Such a load gets an opaque offset of 0: alias analysis then finds no relation between its address and another in the same object, and the fact that two
//! objects are distinct stays. Where both addresses are affine in induction variables, [`super::loop_dependence`] handles them.

use super::distinct_addresses;
use crate::analysis::cfg::{Cfg, MAX_BLOCKS};
use crate::analysis::induction::Loops;
use crate::analysis::memory_objects::{allocates, origins};
use crate::ir::{self, Op, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// The first id of the offsets made here.
const FIRST: u64 = 1 << 28;

/// Gives such loads an offset. To be called last before Enzyme, behind [`distinct_addresses::run`].
pub fn run(module: &Module<'_>) {
    let mut done = FIRST;
    for function in ir::functions(module) {
        let loads = misjudged(function);
        if !loads.is_empty() {
            distinct_addresses::add_opaque_offset(module, function, &loads, done);
            done += 1;
        }
    }
}

/// What an address does from iteration to iteration of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Course {
    /// It stays.
    Invariant,
    /// It is affine in the induction variables of the loop and of those inside.
    Affine,
    /// Anything else.
    Other,
}

/// The loads that are not seen to be overwritten in a later iteration.
fn misjudged(function: FunctionValue<'_>) -> Vec<Value> {
    let blocks = ir::blocks(function);
    if blocks.len() < 2 || blocks.len() > MAX_BLOCKS {
        return Vec::new();
    }
    let cfg = Cfg::of(&blocks);
    let loops = Loops { all: cfg.natural_loops(&cfg.dominators()), cfg: &cfg };
    let mut found = HashSet::new();
    for inside in &loops.all {
        let mut courses = Courses { loops: &loops, cfg: &cfg, inside: &inside.body, known: HashMap::new() };
        let body = || (0..blocks.len()).filter(|b| inside.body[*b]).flat_map(|b| blocks[b].instructions());
        let writes: Vec<(Course, Roots)> = body()
            .filter_map(written)
            .map(|pointer| (courses.of(pointer), Roots::of(function, pointer)))
            .filter(|(course, _)| *course != Course::Invariant)
            .collect();
        if writes.is_empty() {
            continue;
        }
        for load in body().filter(|i| i.is(Op::LLVMLoad) && !i.is_special()) {
            let course = courses.of(load.operand(0));
            if course == Course::Invariant || found.contains(&load) {
                continue;
            }
            let roots = Roots::of(function, load.operand(0));
            let is_other = |written: Course| course.max(written) == Course::Other;
            if writes.iter().any(|(written, to)| is_other(*written) && roots.meet(to)) {
                found.insert(load);
            }
        }
    }
    // In the order of the function: a set has none.
    blocks.iter().flat_map(|b| b.instructions()).filter(|i| found.contains(i)).collect()
}

/// The address that an instruction writes to, where it is one that alias analysis compares with others.
fn written(instruction: Value) -> Option<Value> {
    let fills = |name: String| ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|f| name.starts_with(f));
    match instruction.op()? {
        Op::LLVMStore => Some(instruction.operand(1)),
        Op::LLVMAtomicRMW => Some(instruction.operand(0)),
        Op::LLVMCall if instruction.callee().is_some_and(fills) => Some(instruction.operand(0)),
        _ => None,
    }
}

/// The courses of values in one loop.
struct Courses<'a> {
    loops: &'a Loops<'a>,
    cfg: &'a Cfg,
    inside: &'a [bool],
    known: HashMap<Value, Course>,
}

impl Courses<'_> {
    fn of(&mut self, value: Value) -> Course {
        if !value.is_instruction() || !self.inside[self.cfg.number(value.parent())] {
            return Course::Invariant;
        }
        if let Some(&known) = self.known.get(&value) {
            return known;
        }
        // What depends on itself otherwise than by an induction variable is none.
        self.known.insert(value, Course::Other);
        let course = self.made_of(value);
        self.known.insert(value, course);
        course
    }

    fn made_of(&mut self, value: Value) -> Course {
        match value.op() {
            Some(Op::LLVMPHI) => match self.loops.induction_variable(value) {
                Some((_, start, step)) if self.of(step) == Course::Invariant => self.of(start).max(Course::Affine),
                _ => Course::Other,
            },
            Some(Op::LLVMAdd | Op::LLVMSub | Op::LLVMGetElementPtr | Op::LLVMSExt | Op::LLVMZExt | Op::LLVMTrunc) => {
                self.highest(value)
            }
            Some(Op::LLVMOr) if value.is_disjoint() => self.highest(value),
            Some(Op::LLVMMul) if value.operands().into_iter().any(|o| self.of(o) == Course::Invariant) => {
                self.highest(value)
            }
            Some(Op::LLVMShl) if self.of(value.operand(1)) == Course::Invariant => self.highest(value),
            Some(Op::LLVMLoad | Op::LLVMCall | Op::LLVMInvoke | Op::LLVMAlloca) => Course::Other,
            _ if self.highest(value) == Course::Invariant => Course::Invariant,
            _ => Course::Other,
        }
    }

    fn highest(&mut self, value: Value) -> Course {
        value.operands().into_iter().map(|o| self.of(o)).max().unwrap_or(Course::Invariant)
    }
}

/// Where a pointer may come from.
pub struct Roots {
    all: HashSet<Value>,
    /// Whether each of them is an object that nothing else points into.
    are_objects: bool,
}

impl Roots {
    /// Of a pointer in a function.
    pub fn of(function: FunctionValue<'_>, pointer: Value) -> Roots {
        let all = origins(pointer);
        let are_objects = all.iter().all(|root| is_object(function, *root));
        Roots { all, are_objects }
    }

    /// Whether both may lead to the same memory.
    pub fn meet(&self, other: &Roots) -> bool {
        !self.are_objects || !other.are_objects || !self.all.is_disjoint(&other.all)
    }
}

fn is_object(function: FunctionValue<'_>, root: Value) -> bool {
    if root.is(Op::LLVMAlloca) || root.callee().is_some_and(|name| allocates(&name)) {
        return true;
    }
    let noalias = Attribute::get_named_enum_kind_id("noalias");
    let at = ir::arguments(function).into_iter().position(|argument| argument == root);
    at.is_some_and(|i| function.get_enum_attribute(AttributeLoc::Param(i as u32), noalias).is_some())
}
