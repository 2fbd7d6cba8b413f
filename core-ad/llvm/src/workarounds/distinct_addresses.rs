//! Separates loads whose addresses have the same SCEV in different loops, because Enzyme would share their caches.
//!
//! ```text
//! for (i) for (j) { v *= y[i] * y[j];  y[0] += v; }      for (i += 2) a *= y[i];  for (i += 2) b += y[i];
//! ```
//!
//! The addresses of `y[i]` and `y[j]` have the same SCEV: same base, stride and trip count. So Enzyme uses the cache of the
//! one for the other, indexed by the one's loop: a wrong gradient, where one loop is nested in the other, and where the
//! stride is not one element (`tests/cases/enzyme_bugs/equal_addresses_generated.c`). (Consecutive loops with a stride of one element share a copy of
//! the whole array; that is right.) So such loads get different bases: an offset by an opaque zero.

use super::loop_dependence;
use crate::analysis::cfg::{Cfg, MAX_BLOCKS, NaturalLoop};
use crate::analysis::induction::Loops;
use crate::analysis::memory_objects::Objects;
use crate::ir::markers::load_opaque_zero;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// Longer canonical addresses are given up.
const MAX_LENGTH: usize = 400;

/// Adds opaque offsets to such loads.
pub fn run(module: &Module<'_>) {
    let mut done = 0;
    for function in ir::functions(module) {
        let Affected { groups, around } = find_affected(function);
        for group in groups {
            add_opaque_offset(module, function, &group, done);
            done += 1;
        }
        around.into_iter().for_each(|end| disable_unroll(module, end));
    }
}

/// What has to change in a function.
#[derive(Default)]
struct Affected {
    /// Groups of loads that need an offset of their own.
    groups: Vec<Vec<Value>>,
    /// The latches of loops around accesses with gaps: unrolling would duplicate the accesses.
    around: Vec<Value>,
}

/// A load, and the headers of the loops that its address depends on.
pub(super) struct Access {
    pub load: Value,
    pub headers: Vec<usize>,
}

fn find_affected(function: FunctionValue<'_>) -> Affected {
    let blocks = ir::blocks(function);
    if blocks.len() < 2 || blocks.len() > MAX_BLOCKS {
        return Affected::default();
    }
    let cfg = Cfg::of(&blocks);
    let loops = Loops { all: cfg.natural_loops(&cfg.dominators()), cfg: &cfg };
    if loops.all.is_empty() {
        return Affected::default();
    }
    let dependent = loop_dependence::later_overwritten(&loops, &blocks, &cfg);
    let mut by_address: HashMap<String, Vec<Access>> = HashMap::new();
    for load in blocks.iter().flat_map(|b| b.instructions()).filter(|i| i.is(Op::LLVMLoad) && !i.is_special()) {
        if let Some((address, access)) = loops.access(load) {
            by_address.entry(address).or_default().push(access);
        }
    }
    if by_address.is_empty() && dependent.is_empty() {
        return Affected::default();
    }
    let objects = Objects::of(function);
    let gapped =
        by_address.values().flatten().filter(|access| loops.has_gaps(access) && is_written(&objects, access.load));
    let around = loops.latches_around(gapped);
    by_address.retain(|_, accesses| accesses.iter().any(|access| access.headers != accesses[0].headers));
    let mut found: Vec<Vec<Value>> = by_address
        .into_values()
        .filter(|accesses| is_written(&objects, accesses[0].load))
        .flat_map(|w| loops.clashing(&w))
        .collect();
    if !dependent.is_empty() {
        found.push(dependent);
    }
    // In program order: a map has none.
    let place: HashMap<Value, usize> = blocks.iter().flat_map(|b| b.instructions()).zip(0..).collect();
    found.sort_by_key(|group| place[&group[0]]);
    Affected { groups: found, around: around.into_iter().map(|end| blocks[end].terminator()).collect() }
}

/// Whether what a load reads may be overwritten: if not, Enzyme loads it again instead of caching it.
pub(super) fn is_written(objects: &Objects, load: Value) -> bool {
    let underlying = objects.underlying(load.operand(0));
    underlying.is_empty() || underlying.iter().map(|&o| objects.get(o)).any(|o| o.escapes || !o.writes.is_empty())
}

impl Loops<'_> {
    /// The canonical address of a load, and the loops that it depends on.
    pub(super) fn access(&self, load: Value) -> Option<(String, Access)> {
        let mut spelled = CanonicalAddress { loops: self, text: String::new(), headers: Vec::new() };
        spelled.value(load.operand(0))?;
        (!spelled.headers.is_empty()).then_some((spelled.text, Access { load, headers: spelled.headers }))
    }

    /// Of accesses with the same canonical address, the loads that Enzyme would confuse with an earlier one.
    fn clashing(&self, accesses: &[Access]) -> Vec<Vec<Value>> {
        let mut kinds: Vec<Vec<&Access>> = Vec::new();
        for access in accesses {
            match kinds.iter_mut().find(|kind| kind[0].headers == access.headers) {
                Some(kind) => kind.push(access),
                None => kinds.push(vec![access]),
            }
        }
        let clash = |i: &usize| (0..*i).any(|earlier| self.clash(kinds[earlier][0], kinds[*i][0]));
        let clashing = (1..kinds.len()).filter(clash);
        clashing.map(|i| kinds[i].iter().map(|access| access.load).collect()).collect()
    }

    /// Whether Enzyme would share the cache of two accesses. It indexes a cache from the start of the innermost loop: an access that
    /// depends on other outer loops than the other has another start.
    fn clash(&self, a: &Access, b: &Access) -> bool {
        let mut differing: Vec<(usize, usize)> =
            a.headers.iter().copied().zip(b.headers.iter().copied()).filter(|(x, y)| x != y).collect();
        differing.dedup();
        let [(x, y)] = differing[..] else { return false };
        let is_innermost =
            |header: usize, access: &Access| access.headers.iter().all(|&h| h == header || self.is_inside(header, h));
        if !is_innermost(x, a) || !is_innermost(y, b) {
            return false;
        }
        self.is_inside(x, y) || self.is_inside(y, x) || !self.is_dense(a, x) || !self.is_dense(b, y)
    }

    /// Whether an access has a stride of one element in a loop.
    fn is_dense(&self, access: &Access, header: usize) -> bool {
        let pointer = access.load.operand(0);
        let once = access.headers.iter().filter(|h| **h == header).count() == 1;
        // SAFETY: the value is a getelementptr.
        let elements = |step: Value| unsafe { LLVMGetGEPSourceElementType(step.0) } == access.load.ty();
        let is_step = pointer.is(Op::LLVMGetElementPtr) && pointer.operands().len() == 2 && elements(pointer);
        once && is_step && self.steps_by_one(pointer.operand(1), header)
    }

    /// Whether an access has a stride other than one element in its innermost loop.
    fn has_gaps(&self, access: &Access) -> bool {
        let innermost = access
            .headers
            .iter()
            .find(|header| access.headers.iter().all(|other| other == *header || self.is_inside(**header, *other)));
        innermost.is_some_and(|header| !self.is_dense(access, *header))
    }

    /// The latches of the loops around those that the accesses depend on.
    fn latches_around<'w>(&self, accesses: impl Iterator<Item = &'w Access>) -> BTreeSet<usize> {
        let mut inner: Vec<usize> = accesses.flat_map(|access| access.headers.iter().copied()).collect();
        inner.sort_unstable();
        inner.dedup();
        let is_around = |l: &&NaturalLoop| inner.iter().any(|&i| i != l.header && l.body[i]);
        self.all.iter().filter(is_around).flat_map(|l| l.latches.iter().copied()).collect()
    }
}

/// An address as text, the same for equal SCEVs whichever loops their induction variables belong to.
struct CanonicalAddress<'a> {
    loops: &'a Loops<'a>,
    text: String,
    headers: Vec<usize>,
}

impl CanonicalAddress<'_> {
    fn value(&mut self, value: Value) -> Option<()> {
        if self.text.len() > MAX_LENGTH {
            return None;
        }
        match value.op() {
            Some(Op::LLVMSExt | Op::LLVMZExt | Op::LLVMTrunc) => self.value(value.operand(0)),
            Some(op @ (Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul | Op::LLVMShl | Op::LLVMOr | Op::LLVMXor)) => {
                self.operation(&format!("{op:?}"), value)
            }
            Some(Op::LLVMGetElementPtr) => {
                // SAFETY: the value is a getelementptr.
                let element = unsafe { LLVMGetGEPSourceElementType(value.0) };
                self.operation(&format!("step {element:?}"), value)
            }
            Some(Op::LLVMPHI) => match self.loops.induction_variable(value) {
                Some((header, start, step)) => {
                    self.headers.push(header);
                    self.text.push_str("iv(");
                    self.value(start)?;
                    self.leaf(step)
                }
                None => self.leaf(value),
            },
            _ => self.leaf(value),
        }
    }

    fn operation(&mut self, name: &str, value: Value) -> Option<()> {
        let _ = write!(self.text, "{name}(");
        value.operands().into_iter().try_for_each(|operand| self.value(operand))?;
        self.text.push(')');
        Some(())
    }

    fn leaf(&mut self, value: Value) -> Option<()> {
        let _ = match value.constant() {
            // Whatever its width.
            Some(number) => write!(self.text, "#{number} "),
            None => write!(self.text, "{:?} ", value.0),
        };
        Some(())
    }
}

/// Adds an opaque zero of their own to the addresses of some loads.
pub fn add_opaque_offset(module: &Module<'_>, function: FunctionValue<'_>, loads: &[Value], number: u64) {
    // SAFETY: live values of one function; the entry block dominates all loads in loops.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let mut by = load_opaque_zero(module, function, LLVMInt64TypeInContext(context), number);
        for load in loads {
            LLVMPositionBuilderBefore(builder, load.0);
            let bytes = LLVMInt8TypeInContext(context);
            let moved = LLVMBuildGEP2(builder, bytes, load.operand(0).0, &mut by, 1, c"".as_ptr());
            LLVMSetOperand(load.0, 0, moved);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Disables unrolling of the loop with this latch.
pub(super) fn disable_unroll(module: &Module<'_>, end: Value) {
    let (kind, hint) = ("llvm.loop", "llvm.loop.unroll.disable");
    // SAFETY: a live instruction of the module; the node is the first operand of itself, as LLVM wants it.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let mut text = LLVMMDStringInContext2(context, hint.as_ptr().cast(), hint.len());
        let itself = LLVMTemporaryMDNode(context, std::ptr::null_mut(), 0);
        let mut parts = [itself, LLVMMDNodeInContext2(context, &mut text, 1)];
        let node = LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
        LLVMMetadataReplaceAllUsesWith(itself, node);
        let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
        LLVMSetMetadata(end.0, kind, LLVMMetadataAsValue(context, node));
    }
}
