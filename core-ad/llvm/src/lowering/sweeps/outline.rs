//! Makes a function of a sweep, and calls it.

use super::find::{Place, Shadow, Sweep};
use super::{SWEEP, WHOLE};
use crate::ir::markers::type_marker;
use crate::ir::{self, Block, Value};
use crate::lowering::caught::build::Edit;
use crate::lowering::checkpoint::{extent, size_of_allocation};
use core_ad::{CallPlan, DType};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use std::collections::HashMap;
use std::ffi::CString;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// A pointer that the function of a sweep is given.
pub struct Pointer {
    pub is_kept: bool,
    pub is_read: bool,
    pub shadow: Shadow,
}

/// A sweep that has become a call.
pub struct Outlined {
    /// `void ffgrad.sweep.N(pointers.., integers..)`.
    pub sweep: LLVMValueRef,
    /// What is called: the same with the size of each place in bytes (0 where it does not matter) at the end. It has no body.
    pub whole: LLVMValueRef,
    /// The pointers; the floating-point numbers are behind the last one, if there are any.
    pub pointers: Vec<Pointer>,
    /// The types of the integers.
    pub integers: Vec<LLVMTypeRef>,
}

struct Rewriting<'a, 'ctx> {
    module: &'a Module<'ctx>,
    edit: Edit,
    function: FunctionValue<'ctx>,
    plan: &'a CallPlan,
    sweep: &'a Sweep,
}

/// Outlines a sweep.
pub fn outline<'ctx>(
    module: &Module<'ctx>,
    function: FunctionValue<'ctx>,
    plan: &CallPlan,
    sweep: &Sweep,
    number: usize,
) -> Outlined {
    Rewriting { module, edit: Edit::of(module), function, plan, sweep }.outline(number)
}

// SAFETY of every block below: live values and blocks of the module, which nothing else edits meanwhile; the builder is positioned before
// something is built, and what is erased has no use left.
#[allow(clippy::undocumented_unsafe_blocks)]
impl<'ctx> Rewriting<'_, 'ctx> {
    fn outline(&self, number: usize) -> Outlined {
        let (edit, sweep) = (&self.edit, self.sweep);
        let numbers = self.numbers_type();
        let memory = (!sweep.numbers.is_empty()).then(|| self.variable(numbers));
        edit.before(sweep.before.terminator());
        if let Some(memory) = memory {
            for (i, value) in (0u32..).zip(&sweep.numbers) {
                let place = unsafe { LLVMBuildStructGEP2(edit.builder, numbers, memory, i, NONE) };
                unsafe { LLVMBuildStore(edit.builder, value.0, place) };
            }
        }
        let mut given: Vec<LLVMValueRef> = sweep.places.iter().map(|p| p.base.0).chain(memory).collect();
        given.extend(sweep.integers.iter().map(|i| i.0));
        let mut sizes: Vec<LLVMValueRef> = sweep.places.iter().map(|p| self.bytes(p)).collect();
        sizes
            .extend(memory.map(|_| unsafe { LLVMBuildIntCast2(edit.builder, LLVMSizeOf(numbers), edit.i64, 0, NONE) }));
        let mut pointers: Vec<Pointer> =
            sweep.places.iter().map(|p| Pointer { is_kept: p.is_kept, is_read: p.is_read, shadow: p.shadow }).collect();
        pointers.extend(memory.map(|_| Pointer { is_kept: true, is_read: true, shadow: Shadow::Open }));
        let body = self.declare(&format!("{SWEEP}{number}"), &given);
        for (i, place) in sweep.places.iter().enumerate() {
            self.flag(body, i, "noalias");
            self.flag(body, i, "nonnull");
            if !place.is_written {
                self.flag(body, i, "readonly");
            }
        }
        if memory.is_some() {
            let i = sweep.places.len();
            ["noalias", "nonnull", "readonly"].into_iter().for_each(|name| self.flag(body, i, name));
        }
        let all = [given.clone(), sizes].concat();
        let whole = self.declare(&format!("{WHOLE}{number}"), &all);
        // Other sweeps are found among the memory that this one is given.
        for i in 0..pointers.len() {
            self.flag(whole, i, "captures");
            if sweep.places.get(i).is_none_or(|p| !p.is_written) {
                self.flag(whole, i, "readonly");
            }
        }
        self.call(whole, &all);
        self.move_blocks(body, numbers);
        let integers = sweep.integers.iter().map(|i| i.ty()).collect();
        Outlined { sweep: body, whole, pointers, integers }
    }

    fn numbers_type(&self) -> LLVMTypeRef {
        let mut types: Vec<LLVMTypeRef> = self.sweep.numbers.iter().map(|n| n.ty()).collect();
        unsafe { LLVMStructTypeInContext(self.edit.context, types.as_mut_ptr(), types.len() as u32, 0) }
    }

    /// A variable of the function.
    fn variable(&self, ty: LLVMTypeRef) -> LLVMValueRef {
        self.edit.before(ir::blocks(self.function)[0].first_after_phis());
        unsafe { LLVMBuildAlloca(self.edit.builder, ty, c"numbers".as_ptr()) }
    }

    /// The size of a place, where it matters.
    fn bytes(&self, place: &Place) -> LLVMValueRef {
        let needs_size = place.is_kept || place.shadow == Shadow::Open;
        let known = needs_size.then(|| self.size(place.objects[0])).flatten();
        known.unwrap_or_else(|| self.edit.number(0))
    }

    fn size(&self, object: Value) -> Option<LLVMValueRef> {
        let Some(number) = ir::arguments(self.function).iter().position(|a| *a == object) else {
            return size_of_allocation(self.module, &self.edit, object);
        };
        let arg = &self.plan.args[number];
        let mut bytes = self.edit.number(arg.dtype.size() as u64);
        for dim in &arg.shape {
            let extent = extent(&self.edit, self.plan, self.function, dim)?;
            bytes = unsafe { LLVMBuildMul(self.edit.builder, bytes, extent, NONE) };
        }
        Some(bytes)
    }

    fn declare(&self, name: &str, given: &[LLVMValueRef]) -> LLVMValueRef {
        let name = CString::new(name).unwrap_or_default();
        unsafe {
            let mut types: Vec<LLVMTypeRef> = given.iter().map(|v| LLVMTypeOf(*v)).collect();
            let ty = LLVMFunctionType(self.edit.void, types.as_mut_ptr(), types.len() as u32, 0);
            let function = LLVMAddFunction(self.edit.module, name.as_ptr(), ty);
            LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
            self.edit.attribute(function, "nounwind", 0);
            function
        }
    }

    fn flag(&self, function: LLVMValueRef, parameter: usize, name: &str) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let flag = LLVMCreateEnumAttribute(self.edit.context, kind, 0);
            LLVMAddAttributeAtIndex(function, 1 + parameter as u32, flag);
        }
    }

    /// Calls the whole in the place of the nest.
    fn call(&self, whole: LLVMValueRef, given: &[LLVMValueRef]) {
        let (edit, sweep) = (&self.edit, self.sweep);
        edit.before(sweep.before.terminator());
        edit.call(whole, given);
        for phi in sweep.after.phis() {
            edit.before(phi);
            let new = Value(unsafe { LLVMBuildPhi(edit.builder, phi.ty(), NONE) });
            let mut from_nest = None;
            for (value, from) in phi.incoming() {
                if sweep.blocks.contains(&from) {
                    from_nest = Some(value);
                } else {
                    unsafe { LLVMAddIncoming(new.0, &mut { value.0 }, &mut { from.0 }, 1) };
                }
            }
            if let Some(value) = from_nest {
                unsafe { LLVMAddIncoming(new.0, &mut { value.0 }, &mut { sweep.before.0 }, 1) };
            }
            new.set_flags(phi.flags().unwrap_or(0));
            unsafe { LLVMReplaceAllUsesWith(phi.0, new.0) };
            phi.erase();
        }
    }

    /// Moves the blocks into the function, with the addresses that were computed outside and what leads out of the nest.
    fn move_blocks(&self, body: LLVMValueRef, numbers: LLVMTypeRef) {
        let (edit, sweep) = (&self.edit, self.sweep);
        let header = sweep.blocks[0];
        let parameter = |i: usize| Value(unsafe { LLVMGetParam(body, i as u32) });
        let entry = edit.block_in(body);
        let mut replacement: HashMap<Value, Value> = HashMap::new();
        let given = sweep.places.iter().map(|p| p.base).enumerate();
        replacement.extend(given.map(|(i, base)| (base, parameter(i))));
        let first = sweep.places.len() + usize::from(!sweep.numbers.is_empty());
        replacement.extend(sweep.integers.iter().enumerate().map(|(i, value)| (*value, parameter(first + i))));
        edit.at_end(entry);
        for (i, value) in (0u32..).zip(&sweep.numbers) {
            let memory = parameter(sweep.places.len()).0;
            let loaded = unsafe {
                let place = LLVMBuildStructGEP2(edit.builder, numbers, memory, i, NONE);
                Value(LLVMBuildLoad2(edit.builder, value.ty(), place, NONE))
            };
            replacement.insert(*value, loaded);
        }
        for derived in &sweep.derived {
            self.compute(*derived, &mut replacement);
        }
        self.say_types(body);
        for i in sweep.blocks.iter().flat_map(|b| b.instructions()) {
            for (number, operand) in (0u32..).zip(i.operands()) {
                if let Some(new) = replacement.get(&operand) {
                    unsafe { LLVMSetOperand(i.0, number, new.0) };
                }
            }
        }
        for phi in header.phis() {
            edit.before(phi);
            let new = Value(unsafe { LLVMBuildPhi(edit.builder, phi.ty(), NONE) });
            for (value, from) in phi.incoming() {
                let from = if from == sweep.before { entry } else { from };
                unsafe { LLVMAddIncoming(new.0, &mut { value.0 }, &mut { from.0 }, 1) };
            }
            new.set_flags(phi.flags().unwrap_or(0));
            unsafe { LLVMReplaceAllUsesWith(phi.0, new.0) };
            phi.erase();
        }
        unsafe {
            for (i, _) in (0u32..).zip(sweep.before.successors()).filter(|(_, next)| *next == header) {
                LLVMSetSuccessor(sweep.before.terminator().0, i, sweep.after.0);
            }
            for variable in &sweep.private {
                LLVMInstructionRemoveFromParent(variable.0);
                edit.before(entry.instructions().first().copied().unwrap_or(*variable));
                if entry.instructions().is_empty() {
                    edit.at_end(entry);
                }
                LLVMInsertIntoBuilder(edit.builder, variable.0);
            }
            edit.at_end(entry);
            LLVMBuildBr(edit.builder, header.0);
            let mut last = entry;
            for block in &sweep.blocks {
                LLVMMoveBasicBlockAfter(block.0, last.0);
                last = *block;
            }
            let out = edit.block_in(body);
            edit.at_end(out);
            LLVMBuildRetVoid(edit.builder);
            for block in &sweep.blocks {
                self.lead(*block, out);
            }
        }
    }

    /// Lets the edges of a block that leave the nest lead to the end.
    fn lead(&self, block: Block, out: Block) {
        for (i, next) in (0u32..).zip(block.successors()) {
            if next == self.sweep.after {
                unsafe { LLVMSetSuccessor(block.terminator().0, i, out.0) };
            }
        }
    }

    /// Computes an address again, at the builder's position.
    fn compute(&self, derived: Value, replacement: &mut HashMap<Value, Value>) -> Value {
        if let Some(known) = replacement.get(&derived) {
            return *known;
        }
        if !derived.is(ir::Op::LLVMGetElementPtr) {
            return derived;
        }
        let operands: Vec<Value> = derived.operands().into_iter().map(|o| self.compute(o, replacement)).collect();
        let new = unsafe {
            let new = Value(LLVMInstructionClone(derived.0));
            LLVMInsertIntoBuilder(self.edit.builder, new.0);
            for (i, operand) in (0u32..).zip(&operands) {
                LLVMSetOperand(new.0, i, operand.0);
            }
            new
        };
        replacement.insert(derived, new);
        new
    }

    /// Tells Enzyme the type of arrays.
    fn say_types(&self, body: LLVMValueRef) {
        for (i, place) in self.sweep.places.iter().enumerate() {
            let number = ir::arguments(self.function).iter().position(|a| *a == place.objects[0]);
            let dtype = number.and_then(|n| self.plan.args.get(n)).map(|a| a.dtype).filter(|t| DType::is_float(*t));
            if let Some(dtype) = dtype {
                let marker = type_marker(self.module, dtype);
                unsafe { self.edit.call(marker.as_value_ref(), &[LLVMGetParam(body, i as u32)]) };
            }
        }
    }
}
