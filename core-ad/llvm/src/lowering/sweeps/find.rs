//! Finds the sweeps of a function.

use crate::analysis::cfg::{LoopNest, NaturalLoop};
use crate::analysis::iterations::{computes, independent, is_harmless, is_needed, weight};
use crate::analysis::memory_objects::{Objects, allocates};
use crate::ir::{self, Block, Op, Value};
use crate::lowering::checkpoint::extent_of;
use core_ad::CallPlan;
use inkwell::values::FunctionValue;
use std::collections::{HashMap, HashSet};

/// Numbers that Enzyme would keep, by [`weight`]: those of a nest of two loops with some for each iteration.
const MUCH: u64 = 256;

/// So many operations for each call of a function: to call it again costs more than to keep what it returned.
const FOR_EACH_CALL: u64 = 16;

/// Memory that a nest is given.
pub struct Place {
    /// Its address, outside of the nest.
    pub base: Value,
    /// The objects of which it is one, of the same size.
    pub objects: Vec<Value>,
    /// Whether the nest reads it.
    pub is_read: bool,
    /// Whether the nest writes it.
    pub is_written: bool,
    /// Whether it is copied: read, and written once the nest has begun.
    pub is_kept: bool,
    /// Whether it may have a shadow; that of an argument is known.
    pub shadow: Shadow,
}

/// Whether memory has a shadow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shadow {
    None,
    Known,
    /// Enzyme decides.
    Open,
}

/// A loop nest that is run again and again.
pub struct Sweep {
    /// Its blocks, the header first.
    pub blocks: Vec<Block>,
    /// The block before it, which leads to it alone.
    pub before: Block,
    /// The block behind it.
    pub after: Block,
    /// The memory it is given.
    pub places: Vec<Place>,
    /// Addresses in these that are computed outside, by steps from the base.
    pub derived: Vec<Value>,
    /// Integers that it is given.
    pub integers: Vec<Value>,
    /// Floating-point numbers that it is given.
    pub numbers: Vec<Value>,
    /// Variables of its own.
    pub private: Vec<Value>,
}

/// The next sweep of a function.
pub fn next(function: FunctionValue<'_>, plan: &CallPlan, mask: u64) -> Option<Sweep> {
    let nest = LoopNest::of(function)?;
    let objects = Objects::of(function);
    // What stands in a loop of independent iterations is reversed with these.
    let independent: HashSet<Block> = independent(function, None).into_iter().flat_map(|i| i.blocks).collect();
    let mut order: Vec<&NaturalLoop> = nest.loops.iter().collect();
    order.sort_by_key(|l| std::cmp::Reverse(l.body.iter().filter(|inside| **inside).count()));
    order.into_iter().find_map(|natural| {
        let around: Vec<&NaturalLoop> = nest.loops.iter().filter(|l| l.is_around(natural)).collect();
        let header = nest.blocks[natural.header];
        if around.is_empty() || independent.contains(&header) || is_short(&nest, natural) {
            return None;
        }
        let inner: Vec<&NaturalLoop> = nest.loops.iter().filter(|l| natural.is_around(l)).collect();
        Candidate { function, plan, mask, nest: &nest, objects: &objects, natural, around, inner }.examine()
    })
}

/// Whether a loop has a constant number of iterations.
fn is_short(nest: &LoopNest, natural: &NaturalLoop) -> bool {
    natural.latches.iter().any(|latch| {
        let condition = nest.blocks[*latch].terminator().operands().into_iter().next();
        condition.is_some_and(|c| c.is(Op::LLVMICmp) && c.operand(1).constant().is_some())
    })
}

struct Candidate<'a, 'ctx> {
    function: FunctionValue<'ctx>,
    plan: &'a CallPlan,
    mask: u64,
    nest: &'a LoopNest,
    objects: &'a Objects,
    natural: &'a NaturalLoop,
    around: Vec<&'a NaturalLoop>,
    inner: Vec<&'a NaturalLoop>,
}

impl Candidate<'_, '_> {
    fn examine(&self) -> Option<Sweep> {
        let mut sweep = self.shape()?;
        sweep.private = self.private_variables();
        for i in self.instructions() {
            self.note(i, &mut sweep)?;
        }
        self.take_inputs(&mut sweep)?;
        self.are_apart(&sweep.places)?;
        let later = self.nest.cfg.reached_from(self.natural.header, |_| true);
        let is_later = |i: &Value| later[self.nest.cfg.number(i.parent())];
        for place in &mut sweep.places {
            let objects = self.objects.underlying(place.base);
            let is_overwritten = objects.iter().any(|o| self.objects.get(*o).writes.iter().any(is_later));
            place.is_kept = place.is_read && is_overwritten;
        }
        (self.reads_first(&sweep) && self.is_the_same_each_time(&sweep) && self.pays(&sweep)).then_some(sweep)
    }

    fn has(&self, value: Value) -> bool {
        value.is_instruction() && self.nest.is_in(value, self.natural)
    }

    fn blocks(&self) -> Vec<Block> {
        let inside = self.nest.blocks.iter().zip(&self.natural.body).filter(|(_, inside)| **inside);
        inside.map(|(block, _)| *block).collect()
    }

    fn instructions(&self) -> Vec<Value> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }

    /// One block before, which leads nowhere else, and one behind, to which no value of the nest goes.
    fn shape(&self) -> Option<Sweep> {
        let header = self.nest.blocks[self.natural.header];
        let inside: HashSet<Block> = self.blocks().into_iter().collect();
        let entries: Vec<Block> = header.predecessors().into_iter().filter(|b| !inside.contains(b)).collect();
        let &[before] = &entries[..] else { return None };
        if before.successors().len() != 1 || !before.terminator().is(Op::LLVMBr) {
            return None;
        }
        let mut after: Vec<Block> =
            inside.iter().flat_map(|b| b.successors()).filter(|b| !inside.contains(b)).collect();
        after.dedup();
        after.sort_by_key(|b| b.0);
        after.dedup();
        let &[after] = &after[..] else { return None };
        let all_ends = |b: &Block| matches!(b.terminator().op(), Some(Op::LLVMBr | Op::LLVMSwitch));
        let stays = |i: &Value| i.users().into_iter().all(|user| self.has(user));
        if after == header || !inside.iter().all(all_ends) || !self.instructions().iter().all(stays) {
            return None;
        }
        // Several edges to a phi behind the nest bring the same value.
        for phi in after.phis() {
            let mut values: Vec<Value> =
                phi.incoming().into_iter().filter(|(_, b)| inside.contains(b)).map(|(v, _)| v).collect();
            values.dedup();
            if values.len() > 1 {
                return None;
            }
        }
        let mut blocks = vec![header];
        blocks.extend(self.blocks().into_iter().filter(|b| *b != header));
        Some(Sweep {
            blocks,
            before,
            after,
            places: Vec::new(),
            derived: Vec::new(),
            integers: Vec::new(),
            numbers: Vec::new(),
            private: Vec::new(),
        })
    }

    /// Variables of the stack that only the nest uses, and whose life begins in it.
    fn private_variables(&self) -> Vec<Value> {
        let entry = self.nest.blocks[0].instructions().into_iter().filter(|i| i.is(Op::LLVMAlloca));
        let starts = |user: &Value| user.callee().is_some_and(|name| name.starts_with("llvm.lifetime.start"));
        let is_private = |variable: &Value| {
            let users = variable.users();
            users.iter().any(starts)
                && users.iter().all(|user| self.has(*user))
                && matches!(self.objects.underlying(*variable), &[o] if !self.objects.get(o).escapes)
        };
        entry.filter(is_private).collect()
    }

    /// Notes what an instruction does to memory; `None` where that is not known.
    fn note(&self, i: Value, sweep: &mut Sweep) -> Option<()> {
        match i.op()? {
            Op::LLVMLoad if !i.is_special() => self.touch(i.operand(0), false, sweep),
            Op::LLVMStore if !i.is_special() && !i.operand(0).is_pointer() => self.touch(i.operand(1), true, sweep),
            Op::LLVMCall => self.note_call(i, sweep),
            Op::LLVMBr | Op::LLVMSwitch => Some(()),
            op => crate::analysis::iterations::is_plain(op).then_some(()),
        }
    }

    fn note_call(&self, call: Value, sweep: &mut Sweep) -> Option<()> {
        let name = call.callee()?;
        if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
            self.touch(call.operand(0), true, sweep)?;
            return self.touch(call.operand(1), false, sweep);
        }
        if name.starts_with("llvm.memset.") {
            return self.touch(call.operand(0), true, sweep);
        }
        if name.starts_with("llvm.lifetime.") {
            return sweep.private.contains(&call.operand(0).base()).then_some(());
        }
        is_harmless(call, &name).then_some(())
    }

    fn touch(&self, pointer: Value, writes: bool, sweep: &mut Sweep) -> Option<()> {
        let base = pointer.base();
        if sweep.private.contains(&base) || !writes && crate::analysis::iterations::is_constant(base) {
            return Some(());
        }
        let known = sweep.places.iter().position(|p| p.base == base);
        let number = match known {
            Some(number) => number,
            None => {
                sweep.places.push(self.place(base)?);
                sweep.places.len() - 1
            }
        };
        let place = &mut sweep.places[number];
        *(if writes { &mut place.is_written } else { &mut place.is_read }) = true;
        Some(())
    }

    /// The memory at an address outside of the nest.
    fn place(&self, base: Value) -> Option<Place> {
        let numbers = self.objects.underlying(base);
        if self.has(base) || numbers.is_empty() || numbers.iter().any(|o| self.objects.get(*o).escapes) {
            return None;
        }
        let objects = if base.is(Op::LLVMPHI) { self.taken_by(base)? } else { vec![base] };
        let is_object =
            |o: &Value| ir::is_argument(*o) || o.is(Op::LLVMAlloca) || o.callee().is_some_and(|name| allocates(&name));
        if !objects.iter().all(is_object) {
            return None;
        }
        let shadows: Vec<Shadow> = objects.iter().map(|o| self.shadow(*o)).collect();
        let shadow = if shadows.iter().all(|s| *s == shadows[0]) { shadows[0] } else { Shadow::Open };
        Some(Place { base, objects, is_read: false, is_written: false, is_kept: false, shadow })
    }

    fn shadow(&self, object: Value) -> Shadow {
        match ir::arguments(self.function).iter().position(|a| *a == object) {
            Some(number) if number < self.plan.args.len() && self.plan.has_shadow(number, self.mask) => Shadow::Known,
            Some(_) => Shadow::None,
            None => Shadow::Open,
        }
    }

    /// The phis of a header that change places among themselves, with what each takes when the loop is entered.
    fn permuted(&self, header: Block) -> Option<Vec<(Value, Value)>> {
        let number = self.nest.cfg.number(header);
        let natural = self.nest.loops.iter().find(|l| l.header == number)?;
        let phis: Vec<Value> = header.phis().into_iter().filter(|phi| phi.is_pointer()).collect();
        let is_back = |from: Block| natural.latches.contains(&self.nest.cfg.number(from));
        let mut entered = Vec::new();
        let mut by_latch: HashMap<Block, HashSet<Value>> = HashMap::new();
        for phi in &phis {
            let mut starts = phi.incoming().into_iter().filter(|(_, from)| !is_back(*from)).map(|(v, _)| v);
            let start = starts.next()?;
            if starts.any(|other| other != start) || entered.iter().any(|(_, known)| *known == start) {
                return None;
            }
            entered.push((*phi, start));
            for (value, from) in phi.incoming().into_iter().filter(|(_, from)| is_back(*from)) {
                // Twice the same would make two of them one.
                if !phis.contains(&value) || !by_latch.entry(from).or_default().insert(value) {
                    return None;
                }
            }
        }
        Some(entered)
    }

    /// The objects that a phi may be: those which its group takes.
    fn taken_by(&self, phi: Value) -> Option<Vec<Value>> {
        Some(self.permuted(phi.parent())?.into_iter().map(|(_, start)| start).collect())
    }

    /// What the nest uses of the function around it.
    fn take_inputs(&self, sweep: &mut Sweep) -> Option<()> {
        let mut open: Vec<Value> = self.instructions().into_iter().flat_map(Value::operands).collect();
        let mut seen = HashSet::new();
        while let Some(value) = open.pop() {
            let is_outside = ir::is_argument(value) || value.is_instruction() && !self.has(value);
            if !is_outside || sweep.private.contains(&value) || !seen.insert(value) {
                continue;
            }
            // SAFETY: the type of a live value.
            let kind = unsafe { llvm_sys::core::LLVMGetTypeKind(value.ty()) };
            if value.is_pointer() {
                if sweep.places.iter().any(|p| p.base == value) {
                    continue;
                }
                if !value.is(Op::LLVMGetElementPtr) {
                    return None;
                }
                sweep.derived.push(value);
                open.extend(value.operands());
            } else if kind == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind {
                sweep.integers.push(value);
            } else if value.is_float() {
                sweep.numbers.push(value);
            } else {
                return None;
            }
        }
        Some(())
    }

    /// Whether no two places overlap.
    fn are_apart(&self, places: &[Place]) -> Option<()> {
        for (i, one) in places.iter().enumerate() {
            for other in &places[i + 1..] {
                let both_phis = one.base.is(Op::LLVMPHI) && other.base.is(Op::LLVMPHI);
                let is_group = both_phis && one.base.parent() == other.base.parent();
                if !is_group && one.objects.iter().any(|o| other.objects.contains(o)) {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Whether a cell that is read and written has one address.
    fn reads_first(&self, sweep: &Sweep) -> bool {
        sweep.places.iter().filter(|p| p.is_read && p.is_written).all(|place| {
            let mut addresses: Vec<Value> = self.addresses_in(place).collect();
            addresses.dedup();
            let is_given = |i: &Value| i.is(Op::LLVMCall) && i.operands().iter().any(|o| o.base() == place.base);
            !self.instructions().iter().any(is_given)
                && addresses.iter().all(|a| *a == addresses[0] || is_same_address(*a, addresses[0], 0))
        })
    }

    /// The addresses of loads and stores at a place.
    fn addresses_in<'s>(&self, place: &'s Place) -> impl Iterator<Item = Value> + use<'s> {
        let all = self.instructions().into_iter().filter_map(|i| match i.op()? {
            Op::LLVMLoad => Some(i.operand(0)),
            Op::LLVMStore => Some(i.operand(1)),
            _ => None,
        });
        all.filter(|address| address.base() == place.base)
    }

    /// Whether no address of what is copied, and no trip count, depends on the loops around.
    fn is_the_same_each_time(&self, sweep: &Sweep) -> bool {
        let exits = sweep.blocks.iter().filter(|b| b.successors().len() > 1).map(|b| b.terminator().operand(0));
        let is_exit = |condition: &Value| {
            let block = condition.is_instruction().then(|| condition.parent());
            block.is_none_or(|b| !self.has(*condition) || b.successors().len() > 1)
        };
        let kept = sweep.places.iter().filter(|p| p.is_kept).flat_map(|p| self.addresses_in(p));
        let mut open: Vec<Value> = exits.filter(is_exit).chain(kept).collect();
        let mut seen = HashSet::new();
        while let Some(value) = open.pop() {
            if !value.is_instruction() || !seen.insert(value) || sweep.places.iter().any(|p| p.base == value) {
                continue;
            }
            let inside = self.has(value);
            if !inside && value.is(Op::LLVMPHI) && self.around.iter().any(|l| self.nest.is_in(value, l)) {
                return false;
            }
            // What is loaded is data: where it is read from does not matter.
            if !value.is(Op::LLVMLoad) {
                open.extend(value.operands());
            }
        }
        true
    }

    /// Whether Enzyme would keep much more than the copy, and nothing costs more than that to run again.
    fn pays(&self, sweep: &Sweep) -> bool {
        let kept: HashSet<Value> = sweep.places.iter().filter(|p| p.is_kept).map(|p| p.base).collect();
        if kept.is_empty() || sweep.places.iter().any(|p| !self.has_size(p)) {
            return false;
        }
        let (mut numbers, mut operations, mut calls) = (0, 0, 0);
        for i in self.instructions() {
            let place = self.nest.cfg.number(i.parent());
            let weight = weight(1 + self.inner.iter().filter(|l| l.body[place]).count());
            let base = if i.is(Op::LLVMLoad) { Some(i.operand(0).base()) } else { None };
            if base.is_some_and(|b| kept.contains(&b) || sweep.private.contains(&b)) && i.is_float() && is_needed(i) {
                numbers += weight;
            }
            let is_call = i.is(Op::LLVMCall) && i.is_float() && i.callee().is_some_and(|name| !is_cheap(&name));
            calls += if is_call { weight } else { 0 };
            operations += if i.is_float() && computes(i) { weight } else { 0 };
        }
        numbers >= MUCH && numbers >= 2 * kept.len() as u64 * 8 && operations >= FOR_EACH_CALL * calls
    }

    /// Whether the size of a place is known, and that of all that it may be is the same.
    fn has_size(&self, place: &Place) -> bool {
        let needs_size = place.is_kept || place.shadow == Shadow::Open;
        let sizes = || {
            let mut all = place.objects.iter();
            let first = all.next().and_then(|o| self.size(*o));
            first.is_some_and(|first| all.all(|o| self.size(*o).as_ref() == Some(&first)))
        };
        !needs_size || sizes()
    }

    /// What the size of an object is computed from, to compare it.
    fn size(&self, object: Value) -> Option<String> {
        let number = ir::arguments(self.function).iter().position(|a| *a == object);
        match number {
            Some(number) => {
                let arg = self.plan.args.get(number)?;
                let known = arg.shape.iter().all(|dim| extent_of(self.plan, self.function, dim));
                known.then(|| format!("{:?}{}", arg.shape, arg.dtype.size()))
            }
            None if object.is(Op::LLVMAlloca) => Some(format!("{:?}", object)),
            None => Some(format!("{:?}", object.operands())),
        }
    }
}

/// Calls that are instructions, or next to it.
fn is_cheap(name: &str) -> bool {
    ["llvm.fmuladd.", "llvm.fma.", "llvm.fabs.", "llvm.sqrt.", "llvm.minnum.", "llvm.maxnum.", "llvm.copysign."]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Whether two addresses are computed alike.
fn is_same_address(one: Value, other: Value, depth: usize) -> bool {
    let both = one.is_instruction() && other.is_instruction() && one.op() == other.op();
    one == other
        || depth < 16
            && both
            && one.ty() == other.ty()
            && matches!(
                one.op(),
                Some(Op::LLVMGetElementPtr | Op::LLVMAdd | Op::LLVMMul | Op::LLVMShl | Op::LLVMSExt | Op::LLVMZExt)
            )
            && one.operands().len() == other.operands().len()
            && (!one.is(Op::LLVMGetElementPtr) || same_element(one, other))
            && one.operands().into_iter().zip(other.operands()).all(|(a, b)| is_same_address(a, b, depth + 1))
}

fn same_element(one: Value, other: Value) -> bool {
    // SAFETY: both are steps from an address.
    unsafe {
        llvm_sys::core::LLVMGetGEPSourceElementType(one.0) == llvm_sys::core::LLVMGetGEPSourceElementType(other.0)
    }
}
