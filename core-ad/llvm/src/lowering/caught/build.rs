//! Edits of the control flow that the lowering is made of: splitting blocks, moving edges, calls of the runtime.

use super::facts::{self, is_call};
use crate::ir::{Block, Op, Value, blocks};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::*;
use std::collections::HashSet;
use std::ffi::CString;

/// A builder with the types that are needed.
pub struct Edit {
    /// The module.
    pub module: LLVMModuleRef,
    /// Its context.
    pub context: LLVMContextRef,
    /// The builder.
    pub builder: LLVMBuilderRef,
    /// The type of pointers.
    pub ptr: LLVMTypeRef,
    /// 64 bits.
    pub i64: LLVMTypeRef,
    /// 32 bits.
    pub i32: LLVMTypeRef,
    /// No value.
    pub void: LLVMTypeRef,
}

impl Drop for Edit {
    fn drop(&mut self) {
        // SAFETY: its own builder.
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

// SAFETY of every block below: live values of the module, which nothing else edits meanwhile; instructions are erased
// only when their uses are replaced.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Edit {
    /// For a module.
    pub fn of(module: &Module<'_>) -> Edit {
        let raw = module.as_mut_ptr();
        unsafe {
            let context = LLVMGetModuleContext(raw);
            Edit {
                module: raw,
                context,
                builder: LLVMCreateBuilderInContext(context),
                ptr: LLVMPointerTypeInContext(context, 0),
                i64: LLVMInt64TypeInContext(context),
                i32: LLVMInt32TypeInContext(context),
                void: LLVMVoidTypeInContext(context),
            }
        }
    }

    /// The address of the variable for objects of a group, behind the pending exception's address as a number.
    pub fn slot(&self, place: LLVMValueRef, group: usize) -> LLVMValueRef {
        let mut offset = self.number(8 * (group as u64 + 1));
        unsafe {
            let byte = LLVMInt8TypeInContext(self.context);
            LLVMBuildInBoundsGEP2(self.builder, byte, place, &mut offset, 1, c"".as_ptr())
        }
    }

    /// The type of a pending exception, for so many groups of objects.
    pub fn pending(&self, groups: usize) -> LLVMTypeRef {
        let mut fields = vec![self.ptr; groups + 1];
        fields[0] = self.i64;
        unsafe { LLVMStructTypeInContext(self.context, fields.as_mut_ptr(), fields.len() as u32, 0) }
    }

    /// A new function of this module alone, without a body, which throws nothing.
    pub fn function(&self, name: &str, result: LLVMTypeRef, parameters: &[LLVMTypeRef]) -> LLVMValueRef {
        let name = CString::new(name).unwrap_or_default();
        let mut parameters = parameters.to_vec();
        unsafe {
            let ty = LLVMFunctionType(result, parameters.as_mut_ptr(), parameters.len() as u32, 0);
            let function = LLVMAddFunction(self.module, name.as_ptr(), ty);
            LLVMSetLinkage(function, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
            self.attribute(function, "nounwind", 0);
            function
        }
    }

    /// The parameters of a function.
    pub fn parameters(&self, function: LLVMValueRef) -> Vec<LLVMValueRef> {
        (0..unsafe { LLVMCountParams(function) }).map(|i| unsafe { LLVMGetParam(function, i) }).collect()
    }

    /// A constant of 64 bits.
    pub fn number(&self, n: u64) -> LLVMValueRef {
        unsafe { LLVMConstInt(self.i64, n, 0) }
    }

    /// Builds before an instruction.
    pub fn before(&self, i: Value) {
        unsafe { LLVMPositionBuilderBefore(self.builder, i.0) };
    }

    /// Builds at the end of a block.
    pub fn at_end(&self, block: Block) {
        unsafe {
            LLVMPositionBuilderAtEnd(self.builder, block.0);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
        }
    }

    /// A new block of a function, before another one.
    pub fn block_before(&self, block: Block) -> Block {
        Block(unsafe { LLVMInsertBasicBlockInContext(self.context, block.0, c"".as_ptr()) })
    }

    /// A new block at the end of a function.
    pub fn block_in(&self, function: LLVMValueRef) -> Block {
        Block(unsafe { LLVMAppendBasicBlockInContext(self.context, function, c"".as_ptr()) })
    }

    /// Calls a function.
    pub fn call(&self, function: LLVMValueRef, given: &[LLVMValueRef]) -> LLVMValueRef {
        let mut given = given.to_vec();
        unsafe {
            let ty = LLVMGlobalGetValueType(function);
            LLVMBuildCall2(self.builder, ty, function, given.as_mut_ptr(), given.len() as u32, c"".as_ptr())
        }
    }

    /// Calls a function of the runtime, which is declared where it is not yet.
    pub fn runtime(&self, name: &str, result: LLVMTypeRef, given: &[LLVMValueRef]) -> LLVMValueRef {
        let text = CString::new(format!("ffgrad.eh.{name}")).unwrap_or_default();
        unsafe {
            let mut function = LLVMGetNamedFunction(self.module, text.as_ptr());
            if function.is_null() {
                let mut types: Vec<LLVMTypeRef> = given.iter().map(|g| LLVMTypeOf(*g)).collect();
                let ty = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
                function = LLVMAddFunction(self.module, text.as_ptr(), ty);
                self.mark_inactive(function);
                if name == "leave" {
                    self.attribute(function, "noreturn", 0);
                    self.attribute(function, "cold", 0);
                } else if name != "take" && name != "same" {
                    self.attribute(function, "nounwind", 0);
                    self.attribute(function, "willreturn", 0);
                    // memory(inaccessiblemem: readwrite): the header of an exception is seen by the runtime only. But the end of a handler may
                    // free the object, which nothing may read later, the reverse sweep neither.
                    if name != "end" {
                        self.attribute(function, "memory", 0b1100);
                    }
                }
            }
            self.call(function, given)
        }
    }

    /// Adds an attribute to a function.
    pub fn attribute(&self, function: LLVMValueRef, name: &str, value: u64) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            LLVMAddAttributeAtIndex(function, u32::MAX, LLVMCreateEnumAttribute(self.context, kind, value));
        }
    }

    /// States that the effects and the value of a function have no derivative.
    pub fn mark_inactive(&self, function: LLVMValueRef) {
        for key in ["enzyme_inactive", "enzyme_nofree", "enzyme_no_escaping_allocation"] {
            unsafe {
                let length = key.len() as u32;
                let made = LLVMCreateStringAttribute(self.context, key.as_ptr().cast(), length, c"".as_ptr(), 0);
                LLVMAddAttributeAtIndex(function, u32::MAX, made);
            }
        }
        // LLVM has a function inlined always or never.
        unsafe {
            let always = LLVMGetEnumAttributeKindForName(c"alwaysinline".as_ptr(), 12);
            LLVMRemoveEnumAttributeAtIndex(function, u32::MAX, always);
        }
        self.attribute(function, "noinline", 0);
        if unsafe { LLVMCountBasicBlocks(function) } == 0 {
            self.attribute(function, "nofree", 0);
        }
    }

    /// Lets the edges to a block go to another one; phis are left alone.
    pub fn redirect(&self, from: Block, to: Block) {
        let before: HashSet<Block> = from.predecessors().into_iter().collect();
        for block in before {
            for (i, successor) in (0u32..).zip(block.successors()) {
                if successor == from {
                    unsafe { LLVMSetSuccessor(block.terminator().0, i, to.0) };
                }
            }
        }
    }

    /// Moves everything before an instruction into a new block, which takes the old one's place and goes on to it.
    pub fn split_before(&self, i: Value) -> Block {
        let tail = i.parent();
        unsafe {
            let head = self.block_before(tail);
            self.redirect(tail, head);
            for moved in tail.instructions().into_iter().take_while(|m| *m != i) {
                LLVMInstructionRemoveFromParent(moved.0);
                self.at_end(head);
                LLVMInsertIntoBuilder(self.builder, moved.0);
            }
            self.at_end(head);
            LLVMBuildBr(self.builder, tail.0);
            head
        }
    }

    /// Lets the phis of a block take for another block's edge what they took for one block's; without another one the edge is dropped.
    pub fn move_edge(&self, to: Block, from: Block, instead: Option<Block>) {
        for phi in to.phis() {
            unsafe {
                self.before(phi);
                let new = LLVMBuildPhi(self.builder, phi.ty(), c"".as_ptr());
                let mut moved = false;
                for (value, block) in phi.incoming() {
                    let block = match instead {
                        _ if block != from => block,
                        Some(other) if !moved => other,
                        _ => continue,
                    };
                    moved |= Some(block) == instead;
                    LLVMAddIncoming(new, &mut { value.0 }, &mut { block.0 }, 1);
                }
                if let Some(flags) = phi.flags() {
                    Value(new).set_flags(flags);
                }
                LLVMReplaceAllUsesWith(phi.0, new);
                phi.erase();
            }
        }
    }

    /// Makes a call of an invoke whose exceptions do not matter.
    pub fn make_call(&self, invoke: Value) -> Value {
        let (block, Some(normal), Some(unwind)) = (invoke.parent(), facts::normal(invoke), facts::unwind(invoke))
        else {
            return invoke;
        };
        self.before(invoke);
        let call = self.like(invoke, facts::called(invoke), &[]);
        unsafe {
            self.before(invoke);
            LLVMBuildBr(self.builder, normal.0);
            if unwind != normal {
                self.move_edge(unwind, block, None);
            }
            LLVMReplaceAllUsesWith(invoke.0, call.0);
        }
        invoke.erase();
        call
    }

    /// A call with the arguments and attributes of another, and more arguments, at the builder's position.
    pub fn like(&self, other: Value, function: LLVMValueRef, more: &[LLVMValueRef]) -> Value {
        unsafe {
            let count = LLVMGetNumArgOperands(other.0);
            let mut given: Vec<LLVMValueRef> = (0..count).map(|i| other.operand(i).0).collect();
            given.extend(more);
            let own = LLVMIsAFunction(function).is_null() || more.is_empty();
            let ty = if own { LLVMGetCalledFunctionType(other.0) } else { LLVMGlobalGetValueType(function) };
            let made = LLVMBuildCall2(self.builder, ty, function, given.as_mut_ptr(), given.len() as u32, c"".as_ptr());
            LLVMSetInstructionCallConv(made, LLVMGetInstructionCallConv(other.0));
            // Another function's result is 0 where an exception is pending.
            let first = u32::from(!more.is_empty());
            for index in (first..=count).chain([u32::MAX]) {
                let mut all = vec![std::ptr::null_mut(); LLVMGetCallSiteAttributeCount(other.0, index) as usize];
                LLVMGetCallSiteAttributes(other.0, index, all.as_mut_ptr());
                all.into_iter().for_each(|a| LLVMAddCallSiteAttribute(made, index, a));
            }
            if !more.is_empty() {
                for name in ["noreturn", "memory"] {
                    let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                    LLVMRemoveCallSiteEnumAttribute(made, u32::MAX, kind);
                }
            }
            if let Some(flags) = other.flags() {
                Value(made).set_flags(flags);
            }
            LLVMInstructionSetDebugLoc(made, LLVMInstructionGetDebugLoc(other.0));
            Value(made)
        }
    }

    /// Ends a block behind an instruction.
    pub fn end_behind(&self, last: Value) {
        let block = last.parent();
        let targets: HashSet<Block> = block.successors().into_iter().collect();
        for target in targets {
            self.move_edge(target, block, None);
        }
        let dead: Vec<Value> = block.instructions().into_iter().skip_while(|i| *i != last).skip(1).collect();
        dead.into_iter().rev().for_each(|i| self.erase(i));
        unsafe {
            self.at_end(block);
            LLVMBuildUnreachable(self.builder);
        }
    }

    /// Removes an instruction; what still uses it is never run.
    pub fn erase(&self, i: Value) {
        unsafe {
            if LLVMGetTypeKind(i.ty()) != llvm_sys::LLVMTypeKind::LLVMVoidTypeKind && !i.users().is_empty() {
                LLVMReplaceAllUsesWith(i.0, LLVMGetPoison(i.ty()));
            }
        }
        i.erase();
    }
}

/// All calls and invokes of a function.
pub fn calls(function: FunctionValue<'_>) -> Vec<Value> {
    blocks(function).into_iter().flat_map(|b| b.instructions()).filter(|i| is_call(*i)).collect()
}

/// The block that ends with an instruction's block's terminator, as a whole: whether a call is the last thing a block does.
pub fn ends_program(block: Block) -> Option<Value> {
    let end = block.terminator();
    if !end.is(Op::LLVMUnreachable) {
        return None;
    }
    block.instructions().into_iter().rev().find(|i| is_call(*i) && !is_note(*i))
}

fn is_note(i: Value) -> bool {
    i.callee().is_some_and(|n| n.starts_with("llvm."))
}

/// The function of a value of inkwell.
pub fn raw(function: FunctionValue<'_>) -> LLVMValueRef {
    function.as_value_ref()
}
