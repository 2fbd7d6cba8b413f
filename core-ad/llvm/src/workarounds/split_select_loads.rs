//! Splits loads through a select or phi of pointers to different objects into one guarded load per object.
//!
//! ```text
//! p = inside ? u : frame;  v = p[k];          becomes          v = inside ? read(&u[k], inside) : read(&frame[k], !inside);
//! ```
//!
//! Enzyme mishandles the first form when only one of the two objects is active: it takes the constant object for its own
//! shadow, so that forward mode reads primal values as tangents and reverse mode adds adjoints to the user's values. In the
//! second form each address is based on one object. LLVM converts the usual spelling (`inside ? u[k] : frame[k]`)
//! into the first form, and would do so again; so `read` is a function that is not inlined until Enzyme is done.

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
/// Addresses through more selects and phis than this are left alone.
const DEEPEST: usize = 16;

/// Splits every such load.
pub fn run(module: &Module<'_>) {
    // SAFETY: every value below is a live value of `module`; a load is erased only after
    // its uses have been replaced.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for Value(load) in ir::all_instructions(module) {
            let is_load = LLVMGetInstructionOpcode(load) == LLVMOpcode::LLVMLoad && LLVMGetVolatile(load) == 0;
            if is_load && Value(load).holds_floats() && is_mixed(LLVMGetOperand(load, 0)) {
                split_load(module, builder, load);
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The select or phi that an address is based on, and the getelementptrs from there to the address, last first.
unsafe fn chosen(mut address: LLVMValueRef) -> Option<(LLVMValueRef, Vec<LLVMValueRef>)> {
    let mut steps = Vec::new();
    // SAFETY: see `run`.
    unsafe {
        while !LLVMIsAGetElementPtrInst(address).is_null() {
            steps.push(address);
            address = LLVMGetOperand(address, 0);
        }
        let is_choice = !LLVMIsASelectInst(address).is_null() || !LLVMIsAPHINode(address).is_null();
        (is_choice && steps.len() < DEEPEST).then_some((address, steps))
    }
}

/// The objects that an address may point into; `None` where that is not known.
unsafe fn objects(address: LLVMValueRef) -> Option<Vec<LLVMValueRef>> {
    let (mut found, mut seen, mut open) = (Vec::new(), Vec::new(), vec![address]);
    // SAFETY: see `run`.
    unsafe {
        while let Some(value) = open.pop() {
            let is_step = !LLVMIsAGetElementPtrInst(value).is_null()
                || !LLVMIsAConstantExpr(value).is_null() && LLVMGetConstOpcode(value) == LLVMOpcode::LLVMGetElementPtr;
            let (is_select, is_phi) = (!LLVMIsASelectInst(value).is_null(), !LLVMIsAPHINode(value).is_null());
            if is_select || is_phi {
                // A pointer that a loop advances depends on itself; it does not choose between objects.
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

/// Whether an address may point into more than one object.
unsafe fn is_mixed(address: LLVMValueRef) -> bool {
    // SAFETY: see `run`.
    unsafe { objects(address).is_some_and(|found| found.len() > 1) }
}

/// Replaces a load by one guarded load per object.
unsafe fn split_load(module: &Module<'_>, builder: LLVMBuilderRef, load: LLVMValueRef) {
    // SAFETY: see `run`.
    unsafe {
        let splitter = LoadSplitter { builder, load, reader: reader(module, builder, load) };
        let value = splitter.value(LLVMGetOperand(load, 0), &[], None, DEEPEST);
        LLVMReplaceAllUsesWith(load, value);
        LLVMInstructionEraseFromParent(load);
    }
}

/// Splits one load.
struct LoadSplitter {
    builder: LLVMBuilderRef,
    load: LLVMValueRef,
    reader: LLVMValueRef,
}

impl LoadSplitter {
    /// The value at `base` plus `steps` if `guard` holds, else 0.
    unsafe fn value(
        &self,
        base: LLVMValueRef,
        steps: &[LLVMValueRef],
        guard: Option<LLVMValueRef>,
        depth: usize,
    ) -> LLVMValueRef {
        // SAFETY: see `run`.
        unsafe {
            let choice = if depth > 0 && is_mixed(base) { chosen(base) } else { None };
            let Some((choice, more)) = choice else { return self.read(base, steps, guard) };
            let taken = match LLVMIsASelectInst(choice).is_null() {
                false => Some((LLVMGetOperand(choice, 0), [LLVMGetOperand(choice, 1), LLVMGetOperand(choice, 2)])),
                true => split_phi(self.builder, choice),
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
        // SAFETY: see `run`.
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

/// Splits a phi by incoming edge: a condition, whether the edge brings the first object, and one address phi for
/// each side.
unsafe fn split_phi(builder: LLVMBuilderRef, phi: LLVMValueRef) -> Option<(LLVMValueRef, [LLVMValueRef; 2])> {
    // SAFETY: see `run`.
    unsafe {
        let count = LLVMCountIncoming(phi);
        let incoming: Vec<(LLVMValueRef, LLVMBasicBlockRef)> =
            (0..count).map(|i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i))).collect();
        // A pointer that a loop advances depends on itself; it does not choose between objects.
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

/// Prefix of the names of guarded loads.
const READ: &str = "ffgrad.read.";

/// The guarded load for the type and alignment of a load: the value at an address if a condition holds, else 0.
unsafe fn reader(module: &Module<'_>, builder: LLVMBuilderRef, load: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: see `run`.
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
        // Enzyme's type analysis does not infer the memory's type from the load's.
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

/// The name of a floating-point type, or of a vector's elements.
unsafe fn kind_of(mut ty: LLVMTypeRef) -> &'static str {
    // SAFETY: a live type.
    unsafe {
        if LLVMGetTypeKind(ty) == LLVMVectorTypeKind {
            ty = LLVMGetElementType(ty);
        }
        if LLVMGetTypeKind(ty) == LLVMFloatTypeKind { "float" } else { "double" }
    }
}

/// After Enzyme: allows inlining of the guarded loads and their derivatives.
pub fn undo(module: &Module<'_>) {
    ir::allow_inlining(module, READ);
}
