//! Makes a function of one iteration, and puts a call in the place of the loop.

use super::inputs::{check, exit_phis, inputs, may_be_active, may_be_null};
use super::regions::{self, Memory};
use super::slots::{Layout, Slot, Slots};
use super::target::Target;
use super::{Refusal, expected};
use crate::analysis::memory_objects::origins;
use crate::ir::markers::{STEP, type_marker};
use crate::ir::{Block, Op, Value};
use crate::lowering::caught::build::Edit;
use core_ad::{CallPlan, DType};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use std::collections::{HashMap, HashSet};
use std::ffi::CString;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Regions before those of the user: the control structure and the numbers.
pub const OWN: usize = 2;

/// A loop that has become a call.
pub struct Outlined {
    /// `void ffgrad.step.N(control, numbers, bases.., derived.., carried.., others..)`.
    pub step: LLVMValueRef,
    /// What the loop becomes: `void ffgrad.loop.N(control, numbers, bases.., derived.., others.., sizes.., regions of the derived.., steps,
    /// snapshots)`, without a body.
    pub whole: LLVMValueRef,
    /// What happens to each region, and whether addresses must be compared with it; in their order, without the two of its own.
    pub kinds: Vec<(regions::Kind, bool)>,
    /// For each pointer of the step behind the control structure whether it may have a derivative.
    pub active: Vec<bool>,
    /// Addresses that are computed from the bases before the loop.
    pub derived: usize,
    /// Addresses that change from iteration to iteration.
    pub carried: usize,
    /// Addresses that are used behind the loop.
    pub outgoing: usize,
    /// Types of the other parameters.
    pub others: Vec<LLVMTypeRef>,
}

/// Outlines an iteration.
///
/// # Errors
///
/// What is not possible.
pub fn outline<'ctx>(
    module: &Module<'ctx>,
    plan: &CallPlan,
    target: &Target<'ctx>,
    number: usize,
) -> Result<Outlined, Refusal> {
    let edit = Edit::of(module);
    let memory = regions::of(module, plan, target, &edit)?;
    check(target, &memory)?;
    let expected = expected::iterations(&edit, target);
    let mut rewriting = Rewriting::new(module, &edit, target, &memory);
    rewriting.demote();
    Ok(rewriting.split(expected, number))
}

struct Rewriting<'a, 'ctx> {
    module: &'a Module<'ctx>,
    edit: &'a Edit,
    target: &'a Target<'ctx>,
    memory: &'a Memory,
    slots: Slots,
    /// Where each header phi, exit phi and number from outside has its value; of a pointer the slot of the address.
    of: HashMap<Value, Slot>,
    /// What stands for the pointers that are carried, until they are parameters.
    carried: Vec<Value>,
    carried_active: Vec<bool>,
    /// The objects that a pointer behind the loop may lead to, and whether it may be null.
    outgoing: HashMap<Value, (HashSet<Value>, bool)>,
    /// The number of the region that a pointer leads to.
    region: HashMap<Value, Value>,
}

// SAFETY of every block below: live values and blocks of the module, which nothing else edits meanwhile; the builder is positioned before
// something is built, and what is erased has no use left.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<'a, 'ctx> Rewriting<'a, 'ctx> {
    fn new(module: &'a Module<'ctx>, edit: &'a Edit, target: &'a Target<'ctx>, memory: &'a Memory) -> Self {
        let (phis, leaving) = (target.header().phis(), exit_phis(target));
        let pointers = |all: &[Value]| all.iter().copied().filter(|v| v.is_pointer()).collect::<Vec<_>>();
        let (carried, outgoing) = (pointers(&phis), pointers(&leaving));
        let mut layout = Layout::new(edit, carried.len() + outgoing.len());
        let mut of = HashMap::new();
        for (i, pointer) in carried.iter().chain(&outgoing).enumerate() {
            of.insert(*pointer, Slot::Control(1 + 2 * i as u32));
        }
        let numbers = inputs(target, memory).into_iter().filter(|v| v.holds_floats());
        for value in phis.iter().chain(&leaving).copied().filter(|v| !v.is_pointer()).chain(numbers) {
            of.insert(value, layout.add(value));
        }
        let slots = layout.build(edit, target.function);
        let carried_active = carried.iter().map(|p| may_be_active(*p, memory)).collect();
        let outgoing = outgoing.into_iter().map(|phi| (phi, (origins(phi), may_be_null(phi)))).collect();
        Rewriting {
            module,
            edit,
            target,
            memory,
            slots,
            of,
            carried: Vec::new(),
            carried_active,
            outgoing,
            region: HashMap::new(),
        }
    }

    fn word(&self, n: usize) -> Value {
        Value(self.edit.number(n as u64))
    }

    /// Lets everything that enters the loop, goes round or leaves it go through memory.
    fn demote(&mut self) {
        let (edit, header) = (self.edit, self.target.header());
        edit.before(self.target.before.terminator());
        for field in 0..=2 * (self.carried_active.len() + self.outgoing.len()) {
            self.slots.store(edit, Slot::Control(field as u32), self.word(0));
        }
        self.demote_phis();
        self.demote_exits();
        // Numbers from outside, last: what was demoted has made new uses of some.
        let numbers: Vec<Value> = inputs(self.target, self.memory).into_iter().filter(|v| v.holds_floats()).collect();
        for value in numbers {
            let Some(slot) = self.of.get(&value).copied() else { continue };
            edit.before(self.target.before.terminator());
            self.slots.store(edit, slot, value);
            edit.before(header.first_after_phis());
            let loaded = self.slots.load(edit, slot, value.ty());
            for i in self.target.instructions() {
                for (number, operand) in (0u32..).zip(i.operands()) {
                    if operand == value {
                        unsafe { LLVMSetOperand(i.0, number, loaded.0) };
                    }
                }
            }
        }
    }

    fn demote_phis(&mut self) {
        let (edit, header) = (self.edit, self.target.header());
        let phis = header.phis();
        let first = header.first_after_phis();
        for phi in &phis {
            let slot = self.of[phi];
            edit.before(first);
            let loaded = self.slots.load(edit, slot, phi.ty());
            if let (true, Slot::Control(field)) = (phi.is_pointer(), slot) {
                let region = self.slots.load(edit, Slot::Control(field + 1), edit.i64);
                self.region.insert(loaded, region);
                self.carried.push(loaded);
            }
            unsafe { LLVMReplaceAllUsesWith(phi.0, loaded.0) };
            self.of.insert(loaded, slot);
        }
        for phi in phis {
            for (value, from) in phi.incoming() {
                self.put(self.of[&phi], value, from.terminator());
            }
            phi.erase();
        }
    }

    /// Stores a value that goes on, before an instruction.
    fn put(&mut self, slot: Slot, value: Value, before: Value) {
        let edit = self.edit;
        if let (true, Slot::Control(field)) = (value.is_pointer(), slot) {
            let region = self.region_of(value);
            edit.before(before);
            let address = Value(unsafe { LLVMBuildPtrToInt(edit.builder, value.0, edit.i64, NONE) });
            self.slots.store(edit, slot, address);
            self.slots.store(edit, Slot::Control(field + 1), region);
        } else {
            edit.before(before);
            self.slots.store(edit, slot, value);
        }
    }

    fn demote_exits(&mut self) {
        let edit = self.edit;
        for phi in exit_phis(self.target) {
            let slot = self.of[&phi];
            for (value, from) in phi.incoming() {
                self.put(slot, value, from.terminator());
            }
            let block = phi.parent();
            edit.before(block.first_after_phis());
            let value = match slot {
                Slot::Control(field) if phi.is_pointer() => self.outgoing_pointer(phi, field),
                _ => self.slots.load(edit, slot, phi.ty()),
            };
            unsafe { LLVMReplaceAllUsesWith(phi.0, value.0) };
            phi.erase();
        }
    }

    /// A pointer behind the loop: the base of its region, and its distance from it, which the runtime leaves in the address's place.
    fn outgoing_pointer(&self, phi: Value, field: u32) -> Value {
        let edit = self.edit;
        let mut distance = self.slots.load(edit, Slot::Control(field), edit.i64).0;
        let region = self.slots.load(edit, Slot::Control(field + 1), edit.i64).0;
        let mut bases: Vec<usize> = (0..self.memory.regions.len()).collect();
        let (possible, may_be_null) = &self.outgoing[&phi];
        bases.retain(|i| self.memory.regions[*i].objects.iter().any(|o| possible.contains(o)));
        unsafe {
            let mut base: LLVMValueRef = std::ptr::null_mut();
            for number in bases {
                let own = self.memory.regions[number].base.0;
                base = if base.is_null() {
                    own
                } else {
                    let is_it = LLVMBuildICmp(
                        edit.builder,
                        llvm_sys::LLVMIntPredicate::LLVMIntEQ,
                        region,
                        edit.number((number + OWN) as u64),
                        NONE,
                    );
                    LLVMBuildSelect(edit.builder, is_it, own, base, NONE)
                };
            }
            let byte = LLVMInt8TypeInContext(edit.context);
            let pointer = LLVMBuildGEP2(edit.builder, byte, base, &mut distance, 1, NONE);
            if !may_be_null {
                return Value(pointer);
            }
            let nowhere = edit.number(0);
            let is_null = LLVMBuildICmp(edit.builder, llvm_sys::LLVMIntPredicate::LLVMIntEQ, region, nowhere, NONE);
            Value(LLVMBuildSelect(edit.builder, is_null, LLVMConstNull(edit.ptr), pointer, NONE))
        }
    }

    /// The number of the region that a pointer leads to.
    fn region_of(&mut self, pointer: Value) -> Value {
        if let Some(known) = self.region.get(&pointer) {
            return *known;
        }
        let found = match (self.memory.number(pointer), pointer.op()) {
            (Some(number), _) => self.word(number + OWN),
            (_, Some(Op::LLVMGetElementPtr)) => self.region_of(pointer.operand(0)),
            (_, Some(Op::LLVMSelect)) => {
                let (yes, no) = (self.region_of(pointer.operand(1)), self.region_of(pointer.operand(2)));
                self.edit.before(pointer);
                Value(unsafe { LLVMBuildSelect(self.edit.builder, pointer.operand(0).0, yes.0, no.0, NONE) })
            }
            (_, Some(Op::LLVMPHI)) => {
                self.edit.before(pointer);
                let phi = Value(unsafe { LLVMBuildPhi(self.edit.builder, self.edit.i64, NONE) });
                self.region.insert(pointer, phi);
                for (value, from) in pointer.incoming() {
                    let region = self.region_of(value);
                    unsafe { LLVMAddIncoming(phi.0, &mut { region.0 }, &mut { from.0 }, 1) };
                }
                phi
            }
            // Null, or undefined: it leads nowhere.
            _ => self.word(0),
        };
        self.region.insert(pointer, found);
        found
    }

    /// Moves the iteration into its function and calls the whole in its place.
    fn split(mut self, expected: Value, number: usize) -> Outlined {
        let (edit, target, memory) = (self.edit, self.target, self.memory);
        let own = [self.slots.control, self.slots.numbers];
        let all: Vec<Value> = inputs(target, memory).into_iter().filter(|v| !own.contains(v)).collect();
        let derived: Vec<Value> =
            all.iter().copied().filter(|v| v.is_pointer() && memory.number(*v).is_none()).collect();
        let others: Vec<Value> = all.iter().copied().filter(|v| !v.is_pointer()).collect();
        let bases: Vec<Value> = memory.regions.iter().map(|r| r.base).collect();
        let parameters: Vec<Value> =
            own.iter().chain(&bases).chain(&derived).chain(&self.carried).chain(&others).copied().collect();
        let step = self.declare(&format!("{STEP}{number}"), &parameters);
        self.describe(step, &bases, &derived);
        let active: Vec<bool> = std::iter::once(true)
            .chain(memory.regions.iter().map(|r| r.dtype.is_none_or(DType::is_float)))
            .chain(derived.iter().map(|v| may_be_active(*v, memory)))
            .chain(self.carried_active.iter().copied())
            .collect();
        let regions_of: Vec<Value> = derived.iter().map(|v| self.region_of(*v)).collect();
        let sizes: Vec<Value> = memory.regions.iter().map(|r| r.bytes).collect();
        edit.before(target.before.terminator());
        let wide = Value(unsafe { LLVMBuildIntCast2(edit.builder, target.snapshots.0, edit.i64, 1, NONE) });
        let [number_bytes, control_bytes] = self.slots.sizes(edit);
        let given: Vec<Value> = own
            .iter()
            .chain(&bases)
            .chain(&derived)
            .chain(&others)
            .chain(&[control_bytes, number_bytes])
            .chain(&sizes)
            .chain(&regions_of)
            .chain(&[expected, wide])
            .copied()
            .collect();
        let whole = self.declare(&format!("ffgrad.loop.{number}"), &given);
        self.move_blocks(step, &parameters);
        self.call_whole(whole, &given);
        Outlined {
            step,
            whole,
            kinds: memory.regions.iter().map(|r| (r.kind, r.is_merged)).collect(),
            active,
            derived: derived.len(),
            carried: self.carried_active.len(),
            outgoing: self.outgoing.len(),
            others: others.iter().map(|v| v.ty()).collect(),
        }
    }

    fn declare(&self, name: &str, given: &[Value]) -> LLVMValueRef {
        let mut types: Vec<LLVMTypeRef> = given.iter().map(|v| v.ty()).collect();
        let name = CString::new(name).unwrap_or_default();
        unsafe {
            let ty = LLVMFunctionType(self.edit.void, types.as_mut_ptr(), types.len() as u32, 0);
            let function = LLVMAddFunction(self.edit.module, name.as_ptr(), ty);
            LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
            self.edit.attribute(function, "nounwind", 0);
            function
        }
    }

    /// Says what is known of the step's pointers: which one alone leads to its region.
    fn describe(&self, step: LLVMValueRef, bases: &[Value], derived: &[Value]) {
        let used: HashSet<Value> = inputs(self.target, self.memory).into_iter().collect();
        let several = |base: &Value| {
            let number = self.memory.number(*base);
            let leads = |d: &&Value| origins(**d).into_iter().any(|o| self.memory.number(o) == number);
            derived.iter().filter(leads).count()
                + bases.iter().filter(|b| used.contains(b) && self.memory.number(**b) == number).count()
        };
        let flag = |index: usize, name: &str| unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMAddAttributeAtIndex(step, 1 + index as u32, LLVMCreateEnumAttribute(self.edit.context, kind, 0));
        };
        (0..OWN).for_each(|i| flag(i, "noalias"));
        // Where addresses change nobody knows which of them leads where.
        if self.carried.is_empty() {
            for (i, base) in bases.iter().enumerate().filter(|(_, base)| several(base) <= 1 && used.contains(base)) {
                debug_assert!(self.memory.number(*base) == Some(i));
                flag(OWN + i, "noalias");
            }
            for (i, pointer) in derived.iter().enumerate() {
                if origins(*pointer).iter().all(|base| several(base) == 1) {
                    flag(OWN + bases.len() + i, "noalias");
                }
            }
        }
        (0..OWN).for_each(|i| flag(i, "nonnull"));
    }

    /// Moves blocks and variables; each exit is numbered.
    fn move_blocks(&self, step: LLVMValueRef, parameters: &[Value]) {
        let (edit, target) = (self.edit, self.target);
        let of = |i: usize| Value(unsafe { LLVMGetParam(step, i as u32) });
        let replacement: HashMap<Value, Value> =
            parameters.iter().enumerate().map(|(i, value)| (*value, of(i))).collect();
        for i in target.instructions() {
            if i.callee().is_some_and(|name| name.starts_with("llvm.lifetime."))
                && !i.operands().iter().any(|o| self.memory.private.contains(o) || target.has(*o))
            {
                i.erase();
                continue;
            }
            for (number, operand) in (0u32..).zip(i.operands()) {
                if let Some(parameter) = replacement.get(&operand) {
                    unsafe { LLVMSetOperand(i.0, number, parameter.0) };
                }
            }
        }
        for placeholder in &self.carried {
            placeholder.erase();
        }
        let entry = edit.block_in(step);
        unsafe {
            for variable in &self.memory.private {
                LLVMInstructionRemoveFromParent(variable.0);
                edit.at_end(entry);
                LLVMInsertIntoBuilder(edit.builder, variable.0);
            }
            self.state_types(step, entry);
            edit.at_end(entry);
            LLVMBuildBr(edit.builder, target.header().0);
            let mut last = entry;
            for block in &target.blocks {
                LLVMMoveBasicBlockAfter(block.0, last.0);
                last = *block;
            }
            let again = edit.block_in(step);
            edit.at_end(again);
            LLVMBuildRetVoid(edit.builder);
            for (i, next) in (0u32..).zip(target.latch.successors()) {
                if next == target.header() {
                    LLVMSetSuccessor(target.latch.terminator().0, i, again.0);
                }
            }
            for (number, (from, edge, _)) in target.exits.iter().enumerate() {
                let out = edit.block_in(step);
                edit.at_end(out);
                // The control structure is the step's first parameter.
                LLVMBuildStore(edit.builder, edit.number(number as u64 + 1), of(0).0);
                LLVMBuildRetVoid(edit.builder);
                LLVMSetSuccessor(from.terminator().0, *edge, out.0);
            }
        }
    }

    /// Tells Enzyme the type of arrays: an iteration that only copies memory shows none.
    fn state_types(&self, step: LLVMValueRef, entry: Block) {
        for (i, region) in self.memory.regions.iter().enumerate() {
            let Some(dtype) = region.dtype.filter(|t| t.is_float()) else { continue };
            let marker = type_marker(self.module, dtype);
            self.edit.at_end(entry);
            unsafe { self.edit.call(marker.as_value_ref(), &[LLVMGetParam(step, (OWN + i) as u32)]) };
        }
    }

    fn call_whole(&self, whole: LLVMValueRef, given: &[Value]) {
        let (edit, target) = (self.edit, self.target);
        let given: Vec<LLVMValueRef> = given.iter().map(|v| v.0).collect();
        unsafe {
            edit.before(target.before.terminator());
            edit.call(whole, &given);
            let code = self.slots.load(edit, Slot::Control(0), edit.i64);
            target.before.terminator().erase();
            edit.at_end(target.before);
            let (first, rest) = (target.exits[0].2, &target.exits[1..]);
            if rest.is_empty() {
                LLVMBuildBr(edit.builder, first.0);
                return;
            }
            let switch = LLVMBuildSwitch(edit.builder, code.0, first.0, rest.len() as u32);
            for (number, (_, _, to)) in rest.iter().enumerate() {
                LLVMAddCase(switch, edit.number(number as u64 + 2), to.0);
            }
        }
    }
}
