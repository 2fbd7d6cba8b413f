//! Passes the addresses of replaced globals to functions, as additional parameters after their own.

use super::{Locals, uses};
use crate::ir::{Op, Value, blocks, move_body};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTailCallKind::LLVMTailCallKindNone;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use std::collections::HashMap;

/// For each function that had to move: its new form, and the indices of the globals that it takes.
pub type Moved = HashMap<LLVMValueRef, (LLVMValueRef, Vec<usize>)>;

/// Moves the bodies into functions with more parameters. What is left of the old ones calls the new ones, with the globals.
pub fn add(module: &Module<'_>, functions: &[FunctionValue<'_>], locals: &Locals) -> Moved {
    let mut moved = Moved::new();
    for (number, (function, needs)) in &locals.needs {
        if functions[*number].get_name().to_bytes() == super::ROOT.as_bytes() {
            continue;
        }
        // SAFETY: a live function with a body, whose users are all known.
        let new = unsafe { widen(module.as_mut_ptr(), *function, needs, locals) };
        moved.insert(*function, (new, needs.clone()));
    }
    moved
}

/// Moves the entry points behind the moved functions, where these ask for derivatives themselves (those of solvers do, `core-ad/src/implicit/`):
/// Enzyme goes through the module from the first function to the last, and does not differentiate a function with a request that still stands.
pub fn keep_entries_last(module: &Module<'_>, locals: &Locals) {
    let asks = |f: &FunctionValue<'_>, of: fn(&str) -> bool| {
        let mut all = blocks(*f).into_iter().flat_map(|b| b.instructions());
        all.any(|i| i.callee().is_some_and(|name| name.starts_with("__enzyme_") && of(&name)))
    };
    let all: Vec<FunctionValue<'_>> = module.get_functions().filter(|f| f.count_basic_blocks() > 0).collect();
    if !all.iter().any(|f| asks(f, |name| name.contains("_implicit_"))) {
        return;
    }
    let noinline = module.get_context().create_enum_attribute(Attribute::get_named_enum_kind_id("noinline"), 0);
    for entry in all.iter().filter(|f| asks(f, |name| name.ends_with("_ffgrad"))) {
        // SAFETY: a live function with a body; the new one is live, too.
        let new = unsafe { FunctionValue::new(widen(module.as_mut_ptr(), entry.as_value_ref(), &[], locals)) };
        new.into_iter().for_each(|f| f.add_attribute(AttributeLoc::Function, noinline));
    }
}

unsafe fn widen(module: LLVMModuleRef, old: LLVMValueRef, needs: &[usize], locals: &Locals) -> LLVMValueRef {
    // SAFETY: see `add`.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let (ty, count) = (LLVMGlobalGetValueType(old), LLVMCountParams(old));
        let mut types = vec![std::ptr::null_mut(); count as usize];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        types.resize(count as usize + needs.len(), LLVMPointerTypeInContext(context, 0));
        let wide = LLVMFunctionType(LLVMGetReturnType(ty), types.as_mut_ptr(), types.len() as u32, 0);
        let new = LLVMAddFunction(module, c"ffgrad.stateful".as_ptr(), wide);
        name_after(new, old);
        LLVMSetLinkage(new, llvm_sys::LLVMLinkage::LLVMInternalLinkage);
        LLVMSetFunctionCallConv(new, LLVMGetFunctionCallConv(old));
        if LLVMHasPersonalityFn(old) != 0 {
            LLVMSetPersonalityFn(new, LLVMGetPersonalityFn(old));
        }
        for index in (0..=count).chain([u32::MAX]) {
            let mut all = vec![std::ptr::null_mut(); LLVMGetAttributeCountAtIndex(old, index) as usize];
            LLVMGetAttributesAtIndex(old, index, all.as_mut_ptr());
            all.into_iter().for_each(|a| LLVMAddAttributeAtIndex(new, index, a));
        }
        move_body(old, new);
        for i in 0..count {
            LLVMReplaceAllUsesWith(LLVMGetParam(old, i), LLVMGetParam(new, i));
        }
        call_from(context, old, new, wide, needs.iter().map(|n| locals.globals[*n].0).collect());
        new
    }
}

unsafe fn name_after(new: LLVMValueRef, old: LLVMValueRef) {
    // SAFETY: two live functions; the old name is copied before it changes.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(old, &mut length);
        let name = [std::slice::from_raw_parts(name.cast::<u8>(), length), b".stateful"].concat();
        LLVMSetValueName2(new, name.as_ptr().cast(), name.len());
    }
}

/// Gives the old function a body that calls the new one.
unsafe fn call_from(
    context: LLVMContextRef,
    old: LLVMValueRef,
    new: LLVMValueRef,
    ty: LLVMTypeRef,
    globals: Vec<LLVMValueRef>,
) {
    // SAFETY: see `add`; the old function has no blocks any more.
    unsafe {
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, old, c"".as_ptr()));
        let mut given: Vec<LLVMValueRef> = (0..LLVMCountParams(old)).map(|i| LLVMGetParam(old, i)).collect();
        given.extend(globals);
        let call = LLVMBuildCall2(builder, ty, new, given.as_mut_ptr(), given.len() as u32, c"".as_ptr());
        LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(new));
        if LLVMGetTypeKind(LLVMTypeOf(call)) == llvm_sys::LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(builder);
        } else {
            LLVMBuildRet(builder, call);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// In the wrapper and the moved functions: puts addresses in the place of globals, and calls the moved functions with them.
pub fn replace(module: &Module<'_>, root: FunctionValue<'_>, moved: &Moved, of_root: &[LLVMValueRef], locals: &Locals) {
    let all: Vec<usize> = (0..locals.globals.len()).collect();
    // SAFETY: live functions with bodies; the parameters asked for are those that `widen` added.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        rewrite(builder, root, &named(&all, of_root, locals), moved, &all, of_root);
        for (new, needs) in moved.values() {
            let Some(function) = FunctionValue::new(*new) else { continue };
            let first = LLVMCountParams(*new) - needs.len() as u32;
            let given: Vec<LLVMValueRef> = (0..needs.len() as u32).map(|i| LLVMGetParam(*new, first + i)).collect();
            rewrite(builder, function, &named(needs, &given, locals), moved, needs, &given);
        }
        LLVMDisposeBuilder(builder);
    }
}

fn named(needs: &[usize], given: &[LLVMValueRef], locals: &Locals) -> HashMap<Value, LLVMValueRef> {
    needs.iter().zip(given).map(|(n, address)| (locals.globals[*n], *address)).collect()
}

unsafe fn rewrite(
    builder: LLVMBuilderRef,
    function: FunctionValue<'_>,
    addresses: &HashMap<Value, LLVMValueRef>,
    moved: &Moved,
    needs: &[usize],
    given: &[LLVMValueRef],
) {
    let all: Vec<Value> = blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
    // SAFETY: see `replace`.
    unsafe {
        for i in all {
            if !begins(i, addresses) {
                replace_operands(builder, i, addresses);
            }
            if uses::is_call(i)
                && let Some((new, wanted)) = moved.get(&uses::called(i).0)
            {
                let place = |n: &usize| needs.iter().position(|own| own == n).map(|at| given[at]);
                call_moved(builder, i, *new, wanted.iter().filter_map(place).collect());
            }
        }
    }
}

/// Whether it copies between a global and its variable.
fn begins(i: Value, addresses: &HashMap<Value, LLVMValueRef>) -> bool {
    let holds = |o: &Value| addresses.values().any(|a| *a == o.0);
    let copies = i.callee().is_some_and(|name| name == crate::ir::markers::STATE || name.starts_with("llvm.memcpy"));
    copies && i.operands().iter().any(holds)
}

unsafe fn replace_operands(builder: LLVMBuilderRef, i: Value, addresses: &HashMap<Value, LLVMValueRef>) {
    for (number, operand) in (0u32..).zip(i.operands()) {
        if !operand.is_pointer() || !addresses.contains_key(&uses::base(operand)) {
            continue;
        }
        // SAFETY: a live instruction; what is built stands before it, or at the end of the block that a phi's value comes from.
        unsafe {
            let before = if i.is(Op::LLVMPHI) { i.incoming()[number as usize].1.terminator() } else { i };
            LLVMPositionBuilderBefore(builder, before.0);
            LLVMSetOperand(i.0, number, address(builder, operand, addresses));
        }
    }
}

/// The address in the variable for a constant address in the global.
unsafe fn address(builder: LLVMBuilderRef, value: Value, addresses: &HashMap<Value, LLVMValueRef>) -> LLVMValueRef {
    if let Some(found) = addresses.get(&value) {
        return *found;
    }
    // SAFETY: a constant `getelementptr`, by `uses::base`.
    unsafe {
        let base = address(builder, value.operand(0), addresses);
        let mut indices: Vec<LLVMValueRef> = value.operands()[1..].iter().map(|o| o.0).collect();
        let ty = LLVMGetGEPSourceElementType(value.0);
        LLVMBuildInBoundsGEP2(builder, ty, base, indices.as_mut_ptr(), indices.len() as u32, c"".as_ptr())
    }
}

/// Calls the new form of a function in the place of the old one.
unsafe fn call_moved(builder: LLVMBuilderRef, call: Value, new: LLVMValueRef, more: Vec<LLVMValueRef>) {
    // SAFETY: a live call of the old function without bundles; it is erased when its uses are replaced.
    unsafe {
        let count = LLVMGetNumArgOperands(call.0);
        let mut given: Vec<LLVMValueRef> = uses::arguments(call).iter().map(|a| a.0).collect();
        given.extend(more);
        let (ty, length, none) = (LLVMGlobalGetValueType(new), given.len() as u32, c"".as_ptr());
        LLVMPositionBuilderBefore(builder, call.0);
        let made = if call.is(Op::LLVMInvoke) {
            let (normal, unwind) = (LLVMGetNormalDest(call.0), LLVMGetUnwindDest(call.0));
            LLVMBuildInvoke2(builder, ty, new, given.as_mut_ptr(), length, normal, unwind, none)
        } else {
            let made = LLVMBuildCall2(builder, ty, new, given.as_mut_ptr(), length, none);
            LLVMSetTailCallKind(made, LLVMTailCallKindNone);
            made
        };
        LLVMSetInstructionCallConv(made, LLVMGetInstructionCallConv(call.0));
        for index in (0..=count).chain([u32::MAX]) {
            let mut all = vec![std::ptr::null_mut(); LLVMGetCallSiteAttributeCount(call.0, index) as usize];
            LLVMGetCallSiteAttributes(call.0, index, all.as_mut_ptr());
            all.into_iter().for_each(|a| LLVMAddCallSiteAttribute(made, index, a));
        }
        if let Some(flags) = call.flags() {
            Value(made).set_flags(flags);
        }
        LLVMInstructionSetDebugLoc(made, LLVMInstructionGetDebugLoc(call.0));
        LLVMReplaceAllUsesWith(call.0, made);
        call.erase();
    }
}
