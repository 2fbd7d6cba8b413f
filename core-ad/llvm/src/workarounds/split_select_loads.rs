//! Numbers read through a pointer that was chosen between two objects.
//!
//! ```text
//! p = inside ? u : frame;  v = p[k];          becomes          v = inside ? read(&u[k], inside) : read(&frame[k], !inside);
//! ```
//!
//! Of the first the engine gets the derivative wrong where one of the two objects has one and the other has none: it takes the
//! constant object for its own shadow, so that forward mode reads numbers as tangents and reverse mode adds adjoints
//! to the user's numbers. In the second each address leads to one object. LLVM's optimisation turns the usual spelling
//! (`inside ? u[k] : frame[k]`) into the first, and would again; so `read` is a function that stays one until the engine is done.

use crate::ir::markers::type_marker;
use crate::ir::{self, Value};
use core_ad::DType;
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMOpcode;
use llvm_sys::LLVMTypeKind::{LLVMFloatTypeKind, LLVMVectorTypeKind};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

const NONE: *const std::ffi::c_char = c"".as_ptr();
/// Addresses with more turns than this are left alone.
const DEEPEST: usize = 16;

/// Rewrites every such load. To be called last before the engine: LLVM would undo it.
pub fn separate(module: &Module<'_>) {
    // SAFETY: every value below is a live value of `module`, which nothing else uses meanwhile; a load is erased only after
    // its uses have been replaced.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for Value(load) in ir::all_instructions(module) {
            let is_load = LLVMGetInstructionOpcode(load) == LLVMOpcode::LLVMLoad && LLVMGetVolatile(load) == 0;
            if is_load && Value(load).holds_floats() && is_mixed(LLVMGetOperand(load, 0)) {
                split(module, builder, load);
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The choice that an address depends on, and the steps from there to the address, the last one first.
unsafe fn chosen(mut address: LLVMValueRef) -> Option<(LLVMValueRef, Vec<LLVMValueRef>)> {
    let mut steps = Vec::new();
    // SAFETY: see `separate`.
    unsafe {
        while !LLVMIsAGetElementPtrInst(address).is_null() {
            steps.push(address);
            address = LLVMGetOperand(address, 0);
        }
        let is_choice = !LLVMIsASelectInst(address).is_null() || !LLVMIsAPHINode(address).is_null();
        (is_choice && steps.len() < DEEPEST).then_some((address, steps))
    }
}

/// The objects that an address may lead into; `None` where that is not known.
unsafe fn objects(address: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
    let (mut found, mut seen, mut open) = (Vec::new(), Vec::new(), vec![address]);
    // SAFETY: see `separate`.
    unsafe {
        while let Some(value) = open.pop() {
            let is_step = !LLVMIsAGetElementPtrInst(value).is_null()
                || !LLVMIsAConstantExpr(value).is_null() && LLVMGetConstOpcode(value) == LLVMOpcode::LLVMGetElementPtr;
            let (is_select, is_phi) = (!LLVMIsASelectInst(value).is_null(), !LLVMIsAPHINode(value).is_null());
            if is_select || is_phi {
                // A pointer that goes through an array turn by turn comes back to itself, and is no choice.
                if seen.contains(&value) {
                    return None;
                }
                seen.push(value);
            }
            if is_step {
                open.push(LLVMGetOperand(value, 0));
            } else if is_select {
                open.extend([LLVMGetOperand(value, 1), LLVMGetOperand(value, 2)]);
            } else if is_phi {
                open.extend((0..LLVMCountIncoming(value)).map(|i| LLVMGetIncomingValue(value, i)));
            } else if LLVMIsNull(value) == 0 && LLVMIsUndef(value) == 0 {
                found.push(value);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// Whether an address may lead into one object or another.
unsafe fn is_mixed(address: LLVMValueRef) -> bool {
    // SAFETY: see `separate`.
    unsafe { objects(address).is_some_and(|found| found.len() > 1) }
}

/// Makes of a load one for each object.
unsafe fn split(module: &Module<'_>, builder: LLVMBuilderRef, load: LLVMValueRef) {
    // SAFETY: see `separate`.
    unsafe {
        let parts = Parts { builder, load, reader: reader(module, builder, load) };
        let value = parts.value(LLVMGetOperand(load, 0), &[], None, DEEPEST);
        LLVMReplaceAllUsesWith(load, value);
        LLVMInstructionEraseFromParent(load);
    }
}

/// What the loads that take the place of one have in common.
struct Parts {
    builder: LLVMBuilderRef,
    load: LLVMValueRef,
    reader: LLVMValueRef,
}

impl Parts {
    /// What stands `steps` behind `base` if `guard` holds; anything if not.
    unsafe fn value(
        &self,
        base: LLVMValueRef,
        steps: &[LLVMValueRef],
        guard: Option<LLVMValueRef>,
        depth: usize,
    ) -> LLVMValueRef {
        // SAFETY: see `separate`.
        unsafe {
            let choice = if depth > 0 && is_mixed(base) { chosen(base) } else { None };
            let Some((choice, more)) = choice else { return self.read(base, steps, guard) };
            let taken = match LLVMIsASelectInst(choice).is_null() {
                false => Some((LLVMGetOperand(choice, 0), [LLVMGetOperand(choice, 1), LLVMGetOperand(choice, 2)])),
                true => by_origin(self.builder, choice),
            };
            let Some((condition, bases)) = taken else { return self.read(base, steps, guard) };
            let steps = [steps, &more].concat();
            let values = [0, 1].map(|side| {
                LLVMPositionBuilderBefore(self.builder, self.load);
                let here = if side == 0 { condition } else { LLVMBuildNot(self.builder, condition, NONE) };
                let here = guard.map_or(here, |guard| LLVMBuildAnd(self.builder, guard, here, NONE));
                self.value(bases[side], &steps, Some(here), depth - 1)
            });
            LLVMPositionBuilderBefore(self.builder, self.load);
            LLVMBuildSelect(self.builder, condition, values[0], values[1], NONE)
        }
    }

    unsafe fn read(&self, base: LLVMValueRef, steps: &[LLVMValueRef], guard: Option<LLVMValueRef>) -> LLVMValueRef {
        // SAFETY: see `separate`.
        unsafe {
            LLVMPositionBuilderBefore(self.builder, self.load);
            let mut address = base;
            for &step in steps.iter().rev() {
                let mut indices: Vec<LLVMValueRef> =
                    (1..LLVMGetNumOperands(step) as u32).map(|i| LLVMGetOperand(step, i)).collect();
                let (element, count) = (LLVMGetGEPSourceElementType(step), indices.len() as u32);
                address = LLVMBuildGEP2(self.builder, element, address, indices.as_mut_ptr(), count, NONE);
            }
            let always = LLVMConstInt(LLVMInt1TypeInContext(LLVMGetTypeContext(LLVMTypeOf(base))), 1, 0);
            let mut arguments = [address, guard.unwrap_or(always)];
            let ty = LLVMGlobalGetValueType(self.reader);
            let value = LLVMBuildCall2(self.builder, ty, self.reader, arguments.as_mut_ptr(), 2, NONE);
            LLVMInstructionSetDebugLoc(value, LLVMInstructionGetDebugLoc(self.load));
            value
        }
    }
}

/// A choice by the way that led to a block: whether it was one of those that bring the first object, and the address by
/// either.
unsafe fn by_origin(builder: LLVMBuilderRef, phi: LLVMValueRef) -> Option<(LLVMValueRef, [LLVMValueRef; 2])> {
    // SAFETY: see `separate`.
    unsafe {
        let count = LLVMCountIncoming(phi);
        let incoming: Vec<(LLVMValueRef, LLVMBasicBlockRef)> =
            (0..count).map(|i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i))).collect();
        // A pointer that goes through an array turn by turn comes back to itself, and is no choice.
        let origins: Vec<Vec<LLVMValueRef>> =
            incoming.iter().map(|&(value, _)| objects(value)).collect::<Option<_>>()?;
        let first = origins.iter().find(|origin| !origin.is_empty())?;
        let is_first = |origin: &Vec<LLVMValueRef>| origin.is_empty() || origin == first;
        if origins.iter().all(is_first) {
            return None;
        }
        let bit = LLVMInt1TypeInContext(LLVMGetTypeContext(LLVMTypeOf(phi)));
        LLVMPositionBuilderBefore(builder, phi);
        let [which, one, other] = [bit, LLVMTypeOf(phi), LLVMTypeOf(phi)].map(|ty| LLVMBuildPhi(builder, ty, NONE));
        let null = LLVMConstNull(LLVMTypeOf(phi));
        for (&(mut value, mut block), origin) in incoming.iter().zip(&origins) {
            let here = is_first(origin);
            let mut truth = LLVMConstInt(bit, u64::from(here), 0);
            let mut absent = null;
            LLVMAddIncoming(which, &mut truth, &mut block, 1);
            LLVMAddIncoming(if here { one } else { other }, &mut value, &mut block, 1);
            LLVMAddIncoming(if here { other } else { one }, &mut absent, &mut block, 1);
        }
        Some((which, [one, other]))
    }
}

/// Start of the names of functions that read.
const READ: &str = "ffgrad.read.";

/// The function `read` for numbers like those of a load: what stands at an address if a condition holds, else zero.
unsafe fn reader(module: &Module<'_>, builder: LLVMBuilderRef, load: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: see `separate`.
    unsafe {
        let (raw, value) = (module.as_mut_ptr(), LLVMTypeOf(load));
        let (context, alignment) = (LLVMGetModuleContext(raw), LLVMGetAlignment(load));
        let width = match LLVMGetTypeKind(value) {
            LLVMVectorTypeKind => format!("{}x{}", LLVMGetVectorSize(value), kind_of(value)),
            _ => kind_of(value).to_owned(),
        };
        let name = format!("{READ}{width}.{alignment}\0");
        let known = LLVMGetNamedFunction(raw, name.as_ptr().cast());
        if !known.is_null() {
            return known;
        }
        let mut types = [LLVMTypeOf(LLVMGetOperand(load, 0)), LLVMInt1TypeInContext(context)];
        let function = LLVMAddFunction(raw, name.as_ptr().cast(), LLVMFunctionType(value, types.as_mut_ptr(), 2, 0));
        LLVMSetLinkage(function, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
        let block = || LLVMAppendBasicBlockInContext(context, function, NONE);
        let (entry, yes, no) = (block(), block(), block());
        LLVMPositionBuilderAtEnd(builder, entry);
        LLVMBuildCondBr(builder, LLVMGetParam(function, 1), yes, no);
        LLVMPositionBuilderAtEnd(builder, yes);
        // The engine does not take a load's type for the type of what it loads.
        let dtype = if kind_of(value) == "float" { DType::F32 } else { DType::F64 };
        let marker = type_marker(module, dtype).as_value_ref();
        let mut address = LLVMGetParam(function, 0);
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut address, 1, NONE);
        let read = LLVMBuildLoad2(builder, value, address, NONE);
        LLVMSetAlignment(read, alignment);
        LLVMBuildRet(builder, read);
        LLVMPositionBuilderAtEnd(builder, no);
        LLVMBuildRet(builder, LLVMConstNull(value));
        // memory(argmem: read), in LLVM's encoding of two bits per location.
        for (name, number) in [("noinline", 0), ("nounwind", 0), ("willreturn", 0), ("nofree", 0), ("memory", 1)] {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(context, kind, number);
            LLVMAddAttributeAtIndex(function, llvm_sys::LLVMAttributeFunctionIndex, attribute);
        }
        function
    }
}

/// The type of a number, or of the numbers of a vector.
unsafe fn kind_of(mut ty: LLVMTypeRef) -> &'static str {
    // SAFETY: a live type.
    unsafe {
        if LLVMGetTypeKind(ty) == LLVMVectorTypeKind {
            ty = LLVMGetElementType(ty);
        }
        if LLVMGetTypeKind(ty) == LLVMFloatTypeKind { "float" } else { "double" }
    }
}

/// After the engine: the functions that read, and their derivatives, may be inlined.
pub fn release(module: &Module<'_>) {
    ir::allow_inlining(module, READ);
}
