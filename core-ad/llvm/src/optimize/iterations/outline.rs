//! Makes a function of one iteration, and a loop that calls it.

use super::{BODY, ONCE};
use crate::analysis::iterations::Iteration;
use crate::analysis::memory_objects::Objects;
use crate::ir::{self, Block, Result, Value};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMTypeRef};
use std::collections::HashMap;

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Memory of the arguments; and the counters of paths, which are nobody's.
const MEMORY: u64 = 0b1111;

/// A loop that is being rewritten.
struct Rewriting<'a> {
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    iteration: &'a Iteration,
}

/// A parameter: what the loop hands over.
struct Given {
    value: Value,
    reads_only: bool,
    alone: bool,
}

/// Outlines an iteration and returns the call that Enzyme differentiates. `runs_forward`: the forward sweep runs it, too.
pub fn outline(
    module: &Module<'_>,
    function: FunctionValue<'_>,
    iteration: &Iteration,
    number: usize,
    runs_forward: bool,
) -> Result<Value> {
    // SAFETY: the context of a live module; the builder is disposed of below.
    let (context, builder) = unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        (context, LLVMCreateBuilderInContext(context))
    };
    let this = Rewriting { context, builder, iteration };
    let line = iteration.latch.terminator();
    this.sums_to_variables(function);
    let head = this.make_loop();
    let given = this.inputs(function);
    let types: Vec<LLVMTypeRef> = given.iter().map(|g| g.value.ty()).collect();
    let [once, body] = [ONCE, BODY].map(|prefix| declare(module, context, &types, &format!("{prefix}{number}\0")));
    let (Some(body), Some(once)) = (body, once) else { return Err("no function of one iteration".to_owned()) };
    describe(module, once, &given, false);
    describe(module, body, &given, true);
    let functions = if runs_forward { vec![once, body] } else { vec![body] };
    let call = this.call_all(head, line, &given, &functions);
    this.move_blocks(body, &given);
    // SAFETY: the builder made above; nothing uses it any more.
    unsafe { LLVMDisposeBuilder(builder) };
    Ok(call)
}

fn declare<'ctx>(
    module: &Module<'ctx>,
    context: LLVMContextRef,
    types: &[LLVMTypeRef],
    name: &str,
) -> Option<FunctionValue<'ctx>> {
    let mut types = types.to_vec();
    // SAFETY: live types of the module's context; the name ends with a zero byte.
    unsafe {
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), types.as_mut_ptr(), types.len() as u32, 0);
        FunctionValue::new(LLVMAddFunction(module.as_mut_ptr(), name.as_ptr().cast(), ty))
    }
}

/// Adds what the analysis knows: what is read only, and what no other parameter leads to.
fn describe(module: &Module<'_>, function: FunctionValue<'_>, given: &[Given], is_body: bool) {
    let context = module.get_context();
    let flag = |name, value| context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value);
    for (name, value) in
        [("noinline", 0), ("nounwind", 0), ("willreturn", 0), ("nofree", 0), ("nosync", 0), ("memory", MEMORY)]
    {
        function.add_attribute(AttributeLoc::Function, flag(name, value));
    }
    let pointers = (0u32..).zip(given).filter(|(_, g)| g.value.is_pointer());
    for (i, parameter) in pointers {
        function.add_attribute(AttributeLoc::Param(i), flag("captures", 0));
        for (name, holds) in [("readonly", parameter.reads_only), ("noalias", parameter.alone)] {
            if holds {
                function.add_attribute(AttributeLoc::Param(i), flag(name, 0));
            }
        }
    }
    function.set_linkage(Linkage::External);
    if !is_body {
        for key in ["enzyme_inactive", "enzyme_nofree", "enzyme_no_escaping_allocation", "enzyme_ta_norecur"] {
            ir::set_string_attribute(module, function, key, "");
        }
    }
}

// SAFETY of every block below: values and blocks are live ones of the module, the builder is positioned before something is built, and what is
// erased has no use left.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Rewriting<'_> {
    /// Lets the sums go through variables: the iteration loads, adds and stores, and behind the loop the total is loaded.
    fn sums_to_variables(&self, function: FunctionValue<'_>) {
        if self.iteration.sums.is_empty() {
            return;
        }
        let entry = ir::blocks(function)[0];
        let behind = self.block_behind();
        for sum in &self.iteration.sums {
            self.sum_to_variable(*sum, entry, behind);
        }
    }

    /// A block on the way out of the loop.
    fn block_behind(&self) -> Block {
        let (latch, after) = (self.iteration.latch, self.iteration.after);
        unsafe {
            let behind = Block(LLVMInsertBasicBlockInContext(self.context, after.0, c"total".as_ptr()));
            LLVMPositionBuilderAtEnd(self.builder, behind.0);
            LLVMBuildBr(self.builder, after.0);
            for (i, successor) in (0u32..).zip(latch.successors()) {
                if successor == after {
                    LLVMSetSuccessor(latch.terminator().0, i, behind.0);
                }
            }
            after.phis().into_iter().for_each(|phi| self.come_from(phi, latch, behind));
            behind
        }
    }

    fn sum_to_variable(&self, sum: Value, entry: Block, behind: Block) {
        let latch = self.iteration.latch;
        let part = |at_latch: bool| sum.incoming().into_iter().find(|(_, from)| (*from == latch) == at_latch);
        let (Some((next, _)), Some((start, before))) = (part(true), part(false)) else { return };
        unsafe {
            LLVMPositionBuilderBefore(self.builder, entry.first_after_phis().0);
            let variable = LLVMBuildAlloca(self.builder, sum.ty(), c"sum".as_ptr());
            LLVMPositionBuilderBefore(self.builder, before.terminator().0);
            LLVMBuildStore(self.builder, start.0, variable);
            LLVMPositionBuilderBefore(self.builder, behind.terminator().0);
            let total = LLVMBuildLoad2(self.builder, sum.ty(), variable, NONE);
            for user in next.users().into_iter().filter(|user| *user != sum && !self.is_inside(*user)) {
                for (i, operand) in (0u32..).zip(user.operands()) {
                    if operand == next {
                        LLVMSetOperand(user.0, i, total);
                    }
                }
            }
            LLVMPositionBuilderBefore(self.builder, self.iteration.blocks[0].first_after_phis().0);
            let loaded = LLVMBuildLoad2(self.builder, sum.ty(), variable, NONE);
            LLVMReplaceAllUsesWith(sum.0, loaded);
            sum.erase();
            LLVMPositionBuilderBefore(self.builder, latch.terminator().0);
            LLVMBuildStore(self.builder, next.0, variable);
        }
    }

    fn is_inside(&self, value: Value) -> bool {
        self.iteration.blocks.contains(&value.parent())
    }

    /// A block with the counters and the exit condition takes the place of the loop; the iteration's blocks are left without edges to it.
    fn make_loop(&self) -> Block {
        let iteration = self.iteration;
        let (header, latch) = (iteration.blocks[0], iteration.latch);
        unsafe {
            let head = Block(LLVMInsertBasicBlockInContext(self.context, header.0, c"iteration".as_ptr()));
            LLVMPositionBuilderAtEnd(self.builder, head.0);
            let end = latch.terminator();
            let behind = latch.successors().into_iter().find(|next| *next != header).unwrap_or(iteration.after);
            LLVMInstructionRemoveFromParent(end.0);
            LLVMInsertIntoBuilder(self.builder, end.0);
            for phi in header.phis() {
                LLVMPositionBuilderBefore(self.builder, head.first_after_phis().0);
                let new = LLVMBuildPhi(self.builder, phi.ty(), NONE);
                for (value, from) in phi.incoming() {
                    let from = if from == latch { head } else { from };
                    LLVMAddIncoming(new, &mut { value.0 }, &mut { from.0 }, 1);
                }
                LLVMReplaceAllUsesWith(phi.0, new);
                phi.erase();
            }
            for i in &iteration.control {
                LLVMInstructionRemoveFromParent(i.0);
                LLVMPositionBuilderBefore(self.builder, end.0);
                LLVMInsertIntoBuilder(self.builder, i.0);
            }
            for block in [head, iteration.before] {
                for (i, successor) in (0u32..).zip(block.successors()) {
                    if successor == header {
                        LLVMSetSuccessor(block.terminator().0, i, head.0);
                    }
                }
            }
            behind.phis().into_iter().for_each(|phi| self.come_from(phi, latch, head));
            head
        }
    }

    /// Lets a phi take by an edge from another block what it took from this one.
    fn come_from(&self, phi: Value, old: Block, new: Block) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, phi.0);
            let other = LLVMBuildPhi(self.builder, phi.ty(), NONE);
            for (value, from) in phi.incoming() {
                let from = if from == old { new } else { from };
                LLVMAddIncoming(other, &mut { value.0 }, &mut { from.0 }, 1);
            }
            LLVMReplaceAllUsesWith(phi.0, other);
            phi.erase();
        }
    }

    /// What the iteration uses of the function around it.
    fn inputs(&self, function: FunctionValue<'_>) -> Vec<Given> {
        let mut values: Vec<Value> = Vec::new();
        for operand in self.instructions().flat_map(Value::operands) {
            let is_outside = ir::is_argument(operand) || operand.is_instruction() && !self.is_inside(operand);
            if is_outside && !self.iteration.private.contains(&operand) && !values.contains(&operand) {
                values.push(operand);
            }
        }
        let objects = Objects::of(function);
        let written = |number: usize| objects.get(number).writes.iter().any(|w| self.is_inside(*w));
        let pointers: Vec<Value> = values.iter().copied().filter(|v| v.is_pointer()).collect();
        let given = |value: Value| {
            let own = objects.underlying(value);
            let known = !own.is_empty() && own.iter().all(|o| !objects.get(*o).escapes);
            let reads_only = known && !own.iter().any(|o| written(*o));
            let shared = pointers.iter().any(|p| *p != value && objects.underlying(*p).iter().any(|o| own.contains(o)));
            Given { value, reads_only, alone: known && (reads_only || !shared) }
        };
        values.into_iter().map(given).collect()
    }

    /// The instructions of the iteration.
    fn instructions(&self) -> impl Iterator<Item = Value> {
        self.iteration.blocks.iter().flat_map(|block| block.instructions())
    }

    /// Calls functions at the end of the loop's block; returns the last call.
    fn call_all(&self, head: Block, line: Value, given: &[Given], functions: &[FunctionValue<'_>]) -> Value {
        let mut last = line;
        for function in functions {
            let mut arguments: Vec<_> = given.iter().map(|g| g.value.0).collect();
            unsafe {
                LLVMPositionBuilderBefore(self.builder, head.terminator().0);
                let function = function.as_value_ref();
                let ty = LLVMGlobalGetValueType(function);
                let count = arguments.len() as u32;
                let call = LLVMBuildCall2(self.builder, ty, function, arguments.as_mut_ptr(), count, NONE);
                LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(line.0));
                last = Value(call);
            }
        }
        last
    }

    /// Moves the iteration's blocks and variables into its function.
    fn move_blocks(&self, body: FunctionValue<'_>, given: &[Given]) {
        let replacement: HashMap<Value, Value> = given.iter().map(|g| g.value).zip(ir::arguments(body)).collect();
        for i in self.instructions() {
            for (number, operand) in (0u32..).zip(i.operands()) {
                if let Some(parameter) = replacement.get(&operand) {
                    unsafe { LLVMSetOperand(i.0, number, parameter.0) };
                }
            }
        }
        let blocks = &self.iteration.blocks;
        unsafe {
            let entry = LLVMAppendBasicBlockInContext(self.context, body.as_value_ref(), c"entry".as_ptr());
            for variable in &self.iteration.private {
                LLVMInstructionRemoveFromParent(variable.0);
                LLVMPositionBuilderAtEnd(self.builder, entry);
                LLVMInsertIntoBuilder(self.builder, variable.0);
            }
            LLVMPositionBuilderAtEnd(self.builder, self.iteration.latch.0);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
            LLVMBuildRetVoid(self.builder);
            LLVMPositionBuilderAtEnd(self.builder, entry);
            LLVMBuildBr(self.builder, blocks[0].0);
            let mut last = entry;
            for block in blocks {
                LLVMMoveBasicBlockAfter(block.0, last);
                last = block.0;
            }
        }
    }
}
