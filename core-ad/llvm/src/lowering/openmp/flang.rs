//! Rewrites flang's OpenMP lowering into clang's form.
//!
//! * flang passes the variables of a parallel region behind one pointer, in a structure of pointers. Here they become
//!   arguments: Enzyme treats the shadows of pointers that it loads from memory as constants, and forks are rewritten by
//!   their arguments ([`super::regions`]).
//! * A region asks the runtime for its thread number, which clang passes in. Here the region uses the passed number.
//! * An atomic sum is a compare-and-exchange loop over bits. It becomes one `atomicrmw`.
//! * Without `omp_lib`, `omp_get_thread_num` and its kin have names with an underscore, and take numbers by reference.
//!
//! Both compilers emit atomic differences; they become sums of the negative.

use super::{FORK, body, callee, calls, name_of, users};
use crate::ir;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
use llvm_sys::LLVMAtomicRMWBinOp::{LLVMAtomicRMWBinOpFAdd, LLVMAtomicRMWBinOpFSub};
use llvm_sys::LLVMOpcode;
use llvm_sys::LLVMTypeKind::{
    LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMPointerTypeKind, LLVMStructTypeKind, LLVMVoidTypeKind,
};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc, LLVMSetSubprogram};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

const NONE: *const std::ffi::c_char = c"".as_ptr();

/// Rewrites a module that is not optimised yet; leaves alone what has another form.
pub fn as_clang(module: &Module<'_>) {
    // SAFETY: every value below is a live value of `module`, which nothing else uses meanwhile; instructions are erased
    // only after their uses have been replaced.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0).collect::<Vec<_>>() {
            if let Some(name) = function.get_name().to_str().ok().and_then(|n| n.strip_suffix('_'))
                && name.starts_with("omp_")
            {
                call_by_c_name(module, builder, function, name);
            }
        }
        for fork in calls(module, FORK) {
            number_from_argument(builder, LLVMGetOperand(fork, 2));
            if let Some(fields) = fields(fork) {
                unpack(module, builder, fork, fields);
            }
        }
        let all = ir::all_instructions(module).into_iter().map(|i| i.0);
        // A list first: what is made into a sum takes its whole loop with it.
        let exchanges: Vec<LLVMValueRef> =
            all.filter(|&i| LLVMGetInstructionOpcode(i) == LLVMOpcode::LLVMAtomicCmpXchg).collect();
        for exchange in exchanges {
            make_sum(builder, exchange);
        }
        for ir::Value(instruction) in ir::all_instructions(module) {
            add_the_negative(builder, instruction);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Functions of `omp_lib` that take a number.
const BY_VALUE: [&str; 4] = ["omp_set_num_threads", "omp_set_dynamic", "omp_set_nested", "omp_set_max_active_levels"];

/// Gives a function with a Fortran name a body that calls the one with the C name.
unsafe fn call_by_c_name(module: &Module<'_>, builder: LLVMBuilderRef, function: FunctionValue<'_>, name: &str) {
    // SAFETY: see `as_clang`.
    unsafe {
        let raw = function.as_value_ref();
        let block = module.get_context().append_basic_block(function, "");
        LLVMPositionBuilderAtEnd(builder, block.as_mut_ptr());
        let i32_type = LLVMInt32TypeInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let argument = |i| match BY_VALUE.contains(&name) {
            true => LLVMBuildLoad2(builder, i32_type, LLVMGetParam(raw, i), NONE),
            false => LLVMGetParam(raw, i),
        };
        let mut arguments: Vec<LLVMValueRef> = (0..LLVMCountParams(raw)).map(argument).collect();
        let mut types: Vec<LLVMTypeRef> = arguments.iter().map(|&a| LLVMTypeOf(a)).collect();
        let returned = LLVMGetReturnType(LLVMGlobalGetValueType(raw));
        let ty = LLVMFunctionType(returned, types.as_mut_ptr(), types.len() as u32, 0);
        let c_name = format!("{name}\0");
        let mut called = LLVMGetNamedFunction(module.as_mut_ptr(), c_name.as_ptr().cast());
        if called.is_null() {
            called = LLVMAddFunction(module.as_mut_ptr(), c_name.as_ptr().cast(), ty);
        }
        let value = LLVMBuildCall2(builder, ty, called, arguments.as_mut_ptr(), arguments.len() as u32, NONE);
        match LLVMGetTypeKind(returned) {
            LLVMVoidTypeKind => LLVMBuildRetVoid(builder),
            _ => LLVMBuildRet(builder, value),
        };
        // A declaration's debug information does not fit a body.
        LLVMSetSubprogram(raw, std::ptr::null_mut());
        function.set_linkage(Linkage::Internal);
        always_inline(module, raw);
    }
}

/// Lets a region know its thread by its first argument.
unsafe fn number_from_argument(builder: LLVMBuilderRef, region: LLVMValueRef) {
    // SAFETY: see `as_clang`.
    unsafe {
        if LLVMIsAFunction(region).is_null() {
            return;
        }
        let asks = |i: &LLVMValueRef| {
            let called = callee(*i);
            !called.is_null() && name_of(called) == "__kmpc_global_thread_num"
        };
        let asked: Vec<LLVMValueRef> = body(region).into_iter().filter(asks).collect();
        let Some(&one) = asked.first() else { return };
        LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(region)));
        let number = LLVMBuildLoad2(builder, LLVMTypeOf(one), LLVMGetParam(region, 0), NONE);
        for call in asked {
            LLVMReplaceAllUsesWith(call, number);
            LLVMInstructionEraseFromParent(call);
        }
    }
}

/// The structure that a fork's only argument points to, where it is nothing but a list of pointers.
unsafe fn fields(fork: LLVMValueRef) -> Option<LLVMTypeRef> {
    // SAFETY: see `as_clang`.
    unsafe {
        let (region, given) = (LLVMGetOperand(fork, 2), LLVMGetOperand(fork, 3));
        if LLVMGetNumArgOperands(fork) != 4 || LLVMIsAFunction(region).is_null() || LLVMIsAAllocaInst(given).is_null() {
            return None;
        }
        let ty = LLVMGetAllocatedType(given);
        if LLVMGetTypeKind(ty) != LLVMStructTypeKind || LLVMCountParams(region) != 3 {
            return None;
        }
        let count = LLVMCountStructElementTypes(ty);
        let pointers = (0..count).all(|i| LLVMGetTypeKind(LLVMStructGetTypeAtIndex(ty, i)) == LLVMPointerTypeKind);
        let is_field = |user: LLVMValueRef, opcode: LLVMOpcode, address: u32| {
            !LLVMIsAGetElementPtrInst(user).is_null()
                && users(user).into_iter().all(|u| {
                    LLVMGetInstructionOpcode(u) == opcode
                        && LLVMGetOperand(u, address) == user
                        && LLVMGetVolatile(u) == 0
                })
        };
        let read = users(LLVMGetParam(region, 2)).into_iter().all(|u| is_field(u, LLVMOpcode::LLVMLoad, 0));
        let written = users(given).into_iter().all(|u| u == fork || is_field(u, LLVMOpcode::LLVMStore, 1));
        (pointers && read && written).then_some(ty)
    }
}

/// Gives the region its pointers one by one: a function around it puts them where it looks for them, and LLVM's
/// optimisation makes one of the two.
unsafe fn unpack(module: &Module<'_>, builder: LLVMBuilderRef, fork: LLVMValueRef, fields: LLVMTypeRef) {
    let context = module.get_context();
    let pointer = context.ptr_type(AddressSpace::default());
    // SAFETY: see `as_clang`.
    unsafe {
        let (region, given) = (LLVMGetOperand(fork, 2), LLVMGetOperand(fork, 3));
        let count = LLVMCountStructElementTypes(fields);
        let i32_type = LLVMInt32TypeInContext(LLVMGetModuleContext(module.as_mut_ptr()));

        let ty = context.void_type().fn_type(&vec![pointer.into(); count as usize + 2], false);
        let name = format!("{}.unpacked", name_of(region));
        let around = module.add_function(&name, ty, Some(Linkage::Internal));
        let noalias = Attribute::get_named_enum_kind_id("noalias");
        for own in [0, 1] {
            around.add_attribute(AttributeLoc::Param(own), context.create_enum_attribute(noalias, 0));
        }
        let block = context.append_basic_block(around, "");
        LLVMPositionBuilderAtEnd(builder, block.as_mut_ptr());
        let around = around.as_value_ref();
        let memory = LLVMBuildAlloca(builder, fields, NONE);
        for i in 0..count {
            let at = LLVMBuildStructGEP2(builder, fields, memory, i, NONE);
            LLVMBuildStore(builder, LLVMGetParam(around, i + 2), at);
        }
        let mut arguments = [LLVMGetParam(around, 0), LLVMGetParam(around, 1), memory];
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(region), region, arguments.as_mut_ptr(), 3, NONE);
        LLVMBuildRetVoid(builder);
        always_inline(module, region);

        LLVMPositionBuilderBefore(builder, fork);
        let mut operands = vec![LLVMGetOperand(fork, 0), LLVMConstInt(i32_type, u64::from(count), 0), around];
        for i in 0..count {
            let at = LLVMBuildStructGEP2(builder, fields, given, i, NONE);
            operands.push(LLVMBuildLoad2(builder, LLVMStructGetTypeAtIndex(fields, i), at, NONE));
        }
        let (ty, called) = (LLVMGetCalledFunctionType(fork), LLVMGetCalledValue(fork));
        let new = LLVMBuildCall2(builder, ty, called, operands.as_mut_ptr(), operands.len() as u32, NONE);
        LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(fork));
        LLVMInstructionEraseFromParent(fork);
    }
}

unsafe fn always_inline(module: &Module<'_>, function: LLVMValueRef) {
    // SAFETY: see `as_clang`.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"alwaysinline".as_ptr(), 12);
        let attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module.as_mut_ptr()), kind, 0);
        LLVMAddAttributeAtIndex(function, llvm_sys::LLVMAttributeFunctionIndex, attribute);
    }
}

/// Makes an atomic instruction of `do { new = old + v } while (!exchanged(&x, old, new))`.
unsafe fn make_sum(builder: LLVMBuilderRef, exchange: LLVMValueRef) -> Option<()> {
    // SAFETY: see `as_clang`.
    unsafe {
        let block = LLVMGetInstructionParent(exchange);
        let (address, old) = (LLVMGetOperand(exchange, 0), LLVMGetOperand(exchange, 1));
        let end = LLVMGetBasicBlockTerminator(block);
        let loops = !LLVMIsAPHINode(old).is_null()
            && LLVMGetInstructionParent(old) == block
            && LLVMCountIncoming(old) == 2
            && LLVMGetNumSuccessors(end) == 2
            && LLVMGetSuccessor(end, 1) == block;
        if !loops {
            return None;
        }
        let exit = LLVMGetSuccessor(end, 0);
        let before = (0..2).map(|i| LLVMGetIncomingBlock(old, i)).find(|&b| b != block)?;
        let first = (0..2).map(|i| LLVMGetIncomingValue(old, i)).find(|&v| !LLVMIsALoadInst(v).is_null())?;
        // What is written goes through a variable, to have its bits.
        let bits = LLVMGetOperand(exchange, 2);
        let variable = (!LLVMIsALoadInst(bits).is_null()).then(|| LLVMGetOperand(bits, 0))?;
        let stores: Vec<LLVMValueRef> = users(variable).into_iter().filter(|&u| u != bits).collect();
        let [store] = stores[..] else { return None };
        let sum = (LLVMGetInstructionOpcode(store) == LLVMOpcode::LLVMStore).then(|| LLVMGetOperand(store, 0))?;
        let is_number = matches!(LLVMGetTypeKind(LLVMTypeOf(sum)), LLVMDoubleTypeKind | LLVMFloatTypeKind);
        if !is_number || LLVMIsAInstruction(sum).is_null() || !LLVMIsAPHINode(LLVMGetFirstInstruction(exit)).is_null() {
            return None;
        }
        let is_old = |v: LLVMValueRef| !LLVMIsABitCastInst(v).is_null() && LLVMGetOperand(v, 0) == old;
        let (left, right) = (LLVMGetOperand(sum, 0), LLVMGetOperand(sum, 1));
        let (is_difference, term) = match LLVMGetInstructionOpcode(sum) {
            LLVMOpcode::LLVMFAdd if is_old(left) => (false, right),
            LLVMOpcode::LLVMFAdd if is_old(right) => (false, left),
            LLVMOpcode::LLVMFSub if is_old(left) => (true, right),
            _ => return None,
        };
        // No value of the loop may be used outside, and the term must be defined outside.
        let inside = |v: LLVMValueRef| !LLVMIsAInstruction(v).is_null() && LLVMGetInstructionParent(v) == block;
        let mut instruction = LLVMGetFirstInstruction(block);
        while !instruction.is_null() {
            if users(instruction).into_iter().any(|u| !inside(u)) {
                return None;
            }
            instruction = LLVMGetNextInstruction(instruction);
        }
        if inside(term)
            || inside(address)
            || users(first) != [old]
            || LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(before)) != 1
        {
            return None;
        }
        let entry = LLVMGetBasicBlockTerminator(before);
        LLVMPositionBuilderBefore(builder, entry);
        let operation = if is_difference { LLVMAtomicRMWBinOpFSub } else { LLVMAtomicRMWBinOpFAdd };
        let atomic = LLVMBuildAtomicRMW(builder, operation, address, term, LLVMAtomicOrderingMonotonic, 0);
        LLVMSetAlignment(atomic, bits_of(term) / 8);
        LLVMInstructionSetDebugLoc(atomic, LLVMInstructionGetDebugLoc(exchange));
        LLVMSetSuccessor(entry, 0, exit);
        remove(block);
        LLVMInstructionEraseFromParent(first);
        Some(())
    }
}

/// Makes an atomic difference a sum: Enzyme reverses sums, and gets differences wrong.
unsafe fn add_the_negative(builder: LLVMBuilderRef, instruction: LLVMValueRef) {
    // SAFETY: see `as_clang`.
    unsafe {
        if LLVMGetInstructionOpcode(instruction) != LLVMOpcode::LLVMAtomicRMW
            || LLVMGetAtomicRMWBinOp(instruction) != LLVMAtomicRMWBinOpFSub
        {
            return;
        }
        LLVMPositionBuilderBefore(builder, instruction);
        LLVMSetOperand(instruction, 1, LLVMBuildFNeg(builder, LLVMGetOperand(instruction, 1), NONE));
        LLVMSetAtomicRMWBinOp(instruction, LLVMAtomicRMWBinOpFAdd);
    }
}

unsafe fn bits_of(value: LLVMValueRef) -> u32 {
    // SAFETY: a live value.
    unsafe { if LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMFloatTypeKind { 32 } else { 64 } }
}

/// Deletes a block without predecessors and uses.
unsafe fn remove(block: llvm_sys::prelude::LLVMBasicBlockRef) {
    // SAFETY: see `as_clang`; within the block values are replaced before they go.
    unsafe {
        let mut instruction = LLVMGetLastInstruction(block);
        while !instruction.is_null() {
            let before = LLVMGetPreviousInstruction(instruction);
            let ty = LLVMTypeOf(instruction);
            if LLVMGetTypeKind(ty) != LLVMVoidTypeKind {
                LLVMReplaceAllUsesWith(instruction, LLVMGetUndef(ty));
            }
            LLVMInstructionEraseFromParent(instruction);
            instruction = before;
        }
        LLVMDeleteBasicBlock(block);
    }
}
