//! Expands `memcpy` from memory that threads share into a loop of loads and stores.
//!
//! The adjoint of a load from shared memory is an atomic addition, and Enzyme emits one for a load. For the adjoint of
//! `memcpy` it adds non-atomically: two threads that each copied a table (`firstprivate`) then race and lose part of the
//! gradient. So such copies become loops of loads and stores, in a function that LLVM may not convert back to `memcpy`.

use super::{body, callee, commutativity, name_of, place};
use crate::ir::Result;
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use inkwell::{AddressSpace, IntPredicate};
use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

/// What is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Nothing that has a derivative.
    Discrete,
    Floats,
    Doubles,
    /// Several of these, or not known.
    Mixed,
}

impl Content {
    fn and(self, other: Content) -> Content {
        match (self, other) {
            (a, b) if a == b => a,
            _ => Content::Mixed,
        }
    }

    unsafe fn of(ty: LLVMTypeRef) -> Content {
        // SAFETY: a live type.
        unsafe {
            match LLVMGetTypeKind(ty) {
                LLVMDoubleTypeKind => Content::Doubles,
                LLVMFloatTypeKind => Content::Floats,
                LLVMIntegerTypeKind | LLVMPointerTypeKind => Content::Discrete,
                LLVMArrayTypeKind => Content::of(LLVMGetElementType(ty)),
                LLVMStructTypeKind => {
                    let fields = (0..LLVMCountStructElementTypes(ty)).map(|i| LLVMStructGetTypeAtIndex(ty, i));
                    fields.map(|f| Content::of(f)).reduce(Content::and).unwrap_or(Content::Discrete)
                }
                _ => Content::Mixed,
            }
        }
    }
}

/// Why the copies of a region's functions cannot be expanded, if so.
pub unsafe fn obstacle(functions: &[LLVMValueRef]) -> Option<String> {
    // SAFETY: the functions and everything reached from them are live values of one module.
    unsafe {
        let copies = functions.iter().flat_map(|&f| body(f)).filter(|&i| reads_shared(i));
        let unknown = copies.into_iter().find(|&i| content(i) == Content::Mixed)?;
        Some(format!("what is copied at {} from memory that threads share is not of one type", place(unknown)))
    }
}

/// Expands the copies.
pub unsafe fn expand(module: &Module<'_>, builder: LLVMBuilderRef, functions: &[LLVMValueRef]) -> Result<()> {
    // SAFETY: see `obstacle`; each copy is erased after its replacement stands before it.
    unsafe {
        for copy in functions.iter().flat_map(|&f| body(f)).filter(|&i| reads_shared(i)) {
            let wanted = match content(copy) {
                Content::Doubles => ("ffgrad.copy.f64", 3),
                Content::Floats => ("ffgrad.copy.f32", 2),
                Content::Discrete => continue,
                Content::Mixed => return Err(format!("a copy at {} is not of one type", place(copy))),
            };
            let by_number = by_number(module, wanted.0, wanted.1)?;
            LLVMPositionBuilderBefore(builder, copy);
            let word = LLVMInt64TypeInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            let bytes = LLVMBuildZExtOrBitCast(builder, LLVMGetOperand(copy, 2), word, c"".as_ptr());
            let count = LLVMBuildLShr(builder, bytes, LLVMConstInt(word, wanted.1, 0), c"".as_ptr());
            let mut operands = [LLVMGetOperand(copy, 0), LLVMGetOperand(copy, 1), count];
            let (ty, function) = (LLVMGlobalGetValueType(by_number.as_value_ref()), by_number.as_value_ref());
            let call = LLVMBuildCall2(builder, ty, function, operands.as_mut_ptr(), 3, c"".as_ptr());
            LLVMInstructionSetDebugLoc(call, LLVMInstructionGetDebugLoc(copy));
            LLVMInstructionEraseFromParent(copy);
        }
    }
    Ok(())
}

unsafe fn reads_shared(instruction: LLVMValueRef) -> bool {
    // SAFETY: see `obstacle`.
    unsafe {
        let function = callee(instruction);
        let is_copy = !function.is_null()
            && ["llvm.memcpy.", "llvm.memmove."].iter().any(|name| name_of(function).starts_with(name));
        is_copy && !commutativity::is_private(LLVMGetOperand(instruction, 1))
    }
}

/// By the variables that are copied from or to.
unsafe fn content(copy: LLVMValueRef) -> Content {
    // SAFETY: see `obstacle`.
    unsafe {
        let known = (0..2).filter_map(|i| {
            let root = commutativity::root(LLVMGetOperand(copy, i));
            let of_variable = |ty| Some(Content::of(ty));
            if !LLVMIsAAllocaInst(root).is_null() {
                return of_variable(LLVMGetAllocatedType(root));
            }
            if LLVMIsAGlobalVariable(root).is_null() { None } else { of_variable(LLVMGlobalGetValueType(root)) }
        });
        known.reduce(Content::and).unwrap_or(Content::Mixed)
    }
}

/// `void copy(T *to, const T *from, i64 count)`, one element at a time.
fn by_number<'ctx>(module: &Module<'ctx>, name: &str, log2: u64) -> Result<FunctionValue<'ctx>> {
    if let Some(function) = module.get_function(name) {
        return Ok(function);
    }
    let context = module.get_context();
    let (pointer, word) = (context.ptr_type(AddressSpace::default()), context.i64_type());
    let element = if log2 == 3 { context.f64_type() } else { context.f32_type() };
    let ty = context.void_type().fn_type(&[pointer.into(), pointer.into(), word.into()], false);
    let function = module.add_function(name, ty, Some(Linkage::Internal));
    // Else LLVM knows it for the memcpy that it was.
    for attribute in ["no-builtins", "no-builtin-memcpy", "no-builtin-memmove"] {
        let attribute = context.create_string_attribute(attribute, "");
        function.add_attribute(inkwell::attributes::AttributeLoc::Function, attribute);
    }
    for attribute in ["noinline", "nounwind"] {
        let kind = inkwell::attributes::Attribute::get_named_enum_kind_id(attribute);
        let attribute = context.create_enum_attribute(kind, 0);
        function.add_attribute(inkwell::attributes::AttributeLoc::Function, attribute);
    }
    let blocks = ["entry", "body", "end"].map(|name| context.append_basic_block(function, name));
    let [entry, body, end] = blocks;
    let builder = context.create_builder();
    let parameter = |i| function.get_nth_param(i).ok_or("a function lacks its parameters");
    let (to, from) = (parameter(0)?.into_pointer_value(), parameter(1)?.into_pointer_value());
    let count = parameter(2)?.into_int_value();
    let build = || -> std::result::Result<(), inkwell::builder::BuilderError> {
        builder.position_at_end(entry);
        let none = builder.build_int_compare(IntPredicate::EQ, count, word.const_zero(), "")?;
        builder.build_conditional_branch(none, end, body)?;
        builder.position_at_end(body);
        let i = builder.build_phi(word, "i")?;
        let index = i.as_basic_value().into_int_value();
        // SAFETY: the index stays below the number of elements.
        let (source, target) =
            unsafe { (builder.build_gep(element, from, &[index], "")?, builder.build_gep(element, to, &[index], "")?) };
        let value = builder.build_load(element, source, "")?;
        builder.build_store(target, value)?;
        let next = builder.build_int_nuw_add(index, word.const_int(1, false), "")?;
        i.add_incoming(&[(&word.const_zero(), entry), (&next, body)]);
        let done = builder.build_int_compare(IntPredicate::EQ, next, count, "")?;
        builder.build_conditional_branch(done, end, body)?;
        builder.position_at_end(end);
        builder.build_return(None).map(drop)
    };
    build().map_err(|e| e.to_string())?;
    Ok(function)
}
