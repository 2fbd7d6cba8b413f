//! Loads that walk memory alike, each in a loop of its own.
//!
//! ```text
//! for (i) for (j) { v *= y[i] * y[j];  y[0] += v; }      for (i += 2) a *= y[i];  for (i += 2) b += y[i];
//! ```
//!
//! Here `y[i]` and `y[j]` begin at the same place, take the same steps and turn as often. So the engine takes what it keeps of the
//! one for what it needs of the other, by the place that the one has in *its* loop: a wrong gradient, where one loop lies in the other,
//! and where a step is not one element (`tests/torture/found/p72011.c`). (Loops behind each other that walk from element to element
//! share a copy of the whole array; that is right.) So such loads get different beginnings: an offset that is 0, which the engine does
//! not know.

use crate::entries::load_offset;
use crate::graph::{Graph, MANY, NaturalLoop};
use crate::ir::{self, Block, Op, Value};
use crate::objects::Objects;
use crate::trailing;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// What is written about an address at most.
const LONGEST: usize = 400;

/// Parts them. To be called last before the engine.
pub fn part(module: &Module<'_>) {
    let mut done = 0;
    for function in ir::functions(module) {
        let Mistaken { groups, around } = mistaken(function);
        for group in groups {
            move_away(module, function, &group, done);
            done += 1;
        }
        around.into_iter().for_each(|end| keep_rolled(module, end));
    }
}

/// What is to be done about a function.
#[derive(Default)]
struct Mistaken {
    /// Groups of loads that need beginnings of their own.
    groups: Vec<Vec<Value>>,
    /// The ends of loops around walks with gaps: unrolled, they would make several of one.
    around: Vec<Value>,
}

/// A load, and the loops that its address depends on.
struct Walk {
    load: Value,
    heads: Vec<usize>,
}

fn mistaken(function: FunctionValue<'_>) -> Mistaken {
    let blocks = ir::blocks(function);
    if blocks.len() < 2 || blocks.len() > MANY {
        return Mistaken::default();
    }
    let graph = Graph::of(&blocks);
    let loops = Loops::of(&graph);
    if loops.all.is_empty() {
        return Mistaken::default();
    }
    let behind = trailing::overwritten(&loops, &blocks, &graph);
    let mut alike: HashMap<String, Vec<Walk>> = HashMap::new();
    for load in blocks.iter().flat_map(|b| b.instructions()).filter(|i| i.is(Op::LLVMLoad) && !i.is_special()) {
        if let Some((address, walk)) = loops.walk(load) {
            alike.entry(address).or_default().push(walk);
        }
    }
    if alike.is_empty() && behind.is_empty() {
        return Mistaken::default();
    }
    let objects = Objects::of(function);
    let gapped = alike.values().flatten().filter(|walk| loops.has_gaps(walk) && is_written(&objects, walk.load));
    let around = loops.ends_around(gapped);
    alike.retain(|_, walks| walks.iter().any(|walk| walk.heads != walks[0].heads));
    let mut found: Vec<Vec<Value>> =
        alike.into_values().filter(|walks| is_written(&objects, walks[0].load)).flat_map(|w| loops.apart(&w)).collect();
    if !behind.is_empty() {
        found.push(behind);
    }
    // In the order of the function: a map has none.
    let place: HashMap<Value, usize> = blocks.iter().flat_map(|b| b.instructions()).zip(0..).collect();
    found.sort_by_key(|group| place[&group[0]]);
    Mistaken { groups: found, around: around.into_iter().map(|end| blocks[end].terminator()).collect() }
}

/// Whether what a load reads may be overwritten: if not, the engine reads it again.
fn is_written(objects: &Objects, load: Value) -> bool {
    let behind = objects.behind(load.operand(0));
    behind.is_empty() || behind.iter().map(|&o| objects.get(o)).any(|o| o.escapes || !o.writes.is_empty())
}

/// The loops of a function.
pub struct Loops<'a> {
    graph: &'a Graph,
    /// In the order of their heads.
    all: Vec<NaturalLoop>,
}

impl<'a> Loops<'a> {
    /// All loops of a function.
    pub fn of(graph: &'a Graph) -> Loops<'a> {
        Loops { all: graph.natural_loops(&graph.dominators()), graph }
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &NaturalLoop> {
        self.all.iter()
    }
}

impl Loops<'_> {
    /// The address of a load, written down without the loops that it goes through, and these.
    fn walk(&self, load: Value) -> Option<(String, Walk)> {
        let mut spelled = Spelled { loops: self, text: String::new(), heads: Vec::new() };
        spelled.value(load.operand(0))?;
        (!spelled.heads.is_empty()).then_some((spelled.text, Walk { load, heads: spelled.heads }))
    }

    /// The block of a loop's head, if the value counts its turns: where it begins, and its step.
    pub fn counter(&self, phi: Value) -> Option<(usize, Value, Value)> {
        let [(one, from), (other, back)] = phi.incoming()[..] else { return None };
        let head = self.graph.number(phi.parent());
        let ends = &self.at(head)?.ends;
        let is_back = |block: Block| ends.contains(&self.graph.number(block));
        let (start, next) = match (is_back(from), is_back(back)) {
            (false, true) => (one, other),
            (true, false) => (other, one),
            _ => return None,
        };
        let step = match next.op() {
            Some(Op::LLVMAdd | Op::LLVMGetElementPtr) if next.operand(0) == phi => next.operand(1),
            Some(Op::LLVMAdd) if next.operand(1) == phi => next.operand(0),
            _ => return None,
        };
        Some((head, start, step))
    }

    /// Of loads that walk alike those that are not to be taken for an earlier one.
    fn apart(&self, walks: &[Walk]) -> Vec<Vec<Value>> {
        let mut kinds: Vec<Vec<&Walk>> = Vec::new();
        for walk in walks {
            match kinds.iter_mut().find(|kind| kind[0].heads == walk.heads) {
                Some(kind) => kind.push(walk),
                None => kinds.push(vec![walk]),
            }
        }
        let clash = |i: &usize| (0..*i).any(|earlier| self.clash(kinds[earlier][0], kinds[*i][0]));
        let clashing = (1..kinds.len()).filter(clash);
        clashing.map(|i| kinds[i].iter().map(|walk| walk.load).collect()).collect()
    }

    /// Whether one would be taken for the other. The innermost loop says where a walk begins: if it depends on other loops than the
    /// other walk, then it begins elsewhere.
    fn clash(&self, a: &Walk, b: &Walk) -> bool {
        let mut differing: Vec<(usize, usize)> =
            a.heads.iter().copied().zip(b.heads.iter().copied()).filter(|(x, y)| x != y).collect();
        differing.dedup();
        let [(x, y)] = differing[..] else { return false };
        let is_innermost = |head: usize, walk: &Walk| walk.heads.iter().all(|&h| h == head || self.is_inside(head, h));
        if !is_innermost(x, a) || !is_innermost(y, b) {
            return false;
        }
        self.is_inside(x, y) || self.is_inside(y, x) || !self.is_dense(a, x) || !self.is_dense(b, y)
    }

    /// Whether a walk goes from an array's element to the next with each turn of a loop.
    fn is_dense(&self, walk: &Walk, head: usize) -> bool {
        let pointer = walk.load.operand(0);
        let once = walk.heads.iter().filter(|h| **h == head).count() == 1;
        // SAFETY: asked of a step only.
        let elements = |step: Value| unsafe { LLVMGetGEPSourceElementType(step.0) } == walk.load.ty();
        let is_step = pointer.is(Op::LLVMGetElementPtr) && pointer.operands().len() == 2 && elements(pointer);
        once && is_step && self.steps_by_one(pointer.operand(1), head)
    }

    fn at(&self, head: usize) -> Option<&NaturalLoop> {
        self.all.binary_search_by_key(&head, |l| l.head).ok().map(|i| &self.all[i])
    }

    /// The heads of the loops that a block is in.
    pub fn around(&self, block: usize) -> Vec<usize> {
        self.all.iter().filter(|l| l.body[block]).map(|l| l.head).collect()
    }

    /// Whether it leaves something out, in the innermost of its loops.
    fn has_gaps(&self, walk: &Walk) -> bool {
        let innermost = walk
            .heads
            .iter()
            .find(|head| walk.heads.iter().all(|other| other == *head || self.is_inside(**head, *other)));
        innermost.is_some_and(|head| !self.is_dense(walk, *head))
    }

    /// The last blocks of the loops that lie around those that walks go through.
    fn ends_around<'w>(&self, walks: impl Iterator<Item = &'w Walk>) -> BTreeSet<usize> {
        let mut inner: Vec<usize> = walks.flat_map(|walk| walk.heads.iter().copied()).collect();
        inner.sort_unstable();
        inner.dedup();
        let is_around = |l: &&NaturalLoop| inner.iter().any(|&i| i != l.head && l.body[i]);
        self.all.iter().filter(is_around).flat_map(|l| l.ends.iter().copied()).collect()
    }

    fn steps_by_one(&self, index: Value, head: usize) -> bool {
        match index.op() {
            Some(Op::LLVMSExt | Op::LLVMZExt) => self.steps_by_one(index.operand(0), head),
            Some(Op::LLVMAdd | Op::LLVMOr) => index.operands().into_iter().any(|part| self.steps_by_one(part, head)),
            Some(Op::LLVMPHI) => {
                self.counter(index).is_some_and(|(h, _, step)| h == head && step.constant() == Some(1))
            }
            _ => false,
        }
    }

    /// Whether the loop with this head lies in the one with the other.
    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        self.at(outer).is_some_and(|l| l.body[inner])
    }
}

/// An address as text: equal for equal addresses, whichever loops they count.
struct Spelled<'a> {
    loops: &'a Loops<'a>,
    text: String,
    heads: Vec<usize>,
}

impl Spelled<'_> {
    fn value(&mut self, value: Value) -> Option<()> {
        if self.text.len() > LONGEST {
            return None;
        }
        match value.op() {
            Some(Op::LLVMSExt | Op::LLVMZExt | Op::LLVMTrunc) => self.value(value.operand(0)),
            Some(op @ (Op::LLVMAdd | Op::LLVMSub | Op::LLVMMul | Op::LLVMShl | Op::LLVMOr | Op::LLVMXor)) => {
                self.operation(&format!("{op:?}"), value)
            }
            Some(Op::LLVMGetElementPtr) => {
                // SAFETY: asked of a step only.
                let element = unsafe { LLVMGetGEPSourceElementType(value.0) };
                self.operation(&format!("step {element:?}"), value)
            }
            Some(Op::LLVMPHI) => match self.loops.counter(value) {
                Some((head, start, step)) => {
                    self.heads.push(head);
                    self.text.push_str("turn(");
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
            // Of whatever width.
            Some(number) => write!(self.text, "#{number} "),
            None => write!(self.text, "{:?} ", value.0),
        };
        Some(())
    }
}

/// Lets loads begin at an offset of their own.
pub fn move_away(module: &Module<'_>, function: FunctionValue<'_>, loads: &[Value], number: u64) {
    // SAFETY: live values of one function; what the first block begins with comes before all loads in loops.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let mut by = load_offset(module, function, LLVMInt64TypeInContext(context), number);
        for load in loads {
            LLVMPositionBuilderBefore(builder, load.0);
            let bytes = LLVMInt8TypeInContext(context);
            let moved = LLVMBuildGEP2(builder, bytes, load.operand(0).0, &mut by, 1, c"".as_ptr());
            LLVMSetOperand(load.0, 0, moved);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Has LLVM not unroll the loop that ends here.
fn keep_rolled(module: &Module<'_>, end: Value) {
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
