//! Functions that return or take a large structure get its address instead.

use super::layout::is_large;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMLinkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use std::collections::HashMap;

/// The new form of a function.
pub struct Target {
    pub new: LLVMValueRef,
    pub returns_large: bool,
}

/// All functions that changed.
#[derive(Default)]
pub struct Moved {
    /// By their old form, which has no body any more.
    targets: HashMap<LLVMValueRef, Target>,
    /// By their new form: where the result goes.
    pub results: HashMap<LLVMValueRef, LLVMValueRef>,
    /// Loads of arguments, in the place of the arguments, and where they are.
    pub views: HashMap<Value, LLVMValueRef>,
}

impl Moved {
    /// What a call leads to now.
    pub fn target(&self, call: Value) -> Option<&Target> {
        call.called().and_then(|callee| self.targets.get(&callee.0))
    }

    /// Removes the old forms.
    ///
    /// # Safety
    ///
    /// No call of them is left.
    pub unsafe fn forget_old(self) {
        // SAFETY: by this function's promise.
        self.targets.into_keys().for_each(|old| unsafe { LLVMDeleteFunction(old) });
    }
}

/// Moves the bodies of all functions that can be changed. Their `ret` and their calls are still the old ones.
///
/// # Safety
///
/// Nothing else uses the module meanwhile.
pub unsafe fn widen(module: &Module<'_>) -> Moved {
    let mut moved = Moved::default();
    for function in ir::functions(module) {
        // SAFETY: live functions, of which all calls are known.
        unsafe {
            if has_large(function.as_value_ref()) && is_ours(function) {
                widen_one(module.as_mut_ptr(), function.as_value_ref(), &mut moved);
            }
        }
    }
    moved
}

fn parameters(ty: LLVMTypeRef) -> Vec<LLVMTypeRef> {
    // SAFETY: a live function type; the array has the length that LLVM states.
    unsafe {
        let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        types
    }
}

/// Whether a function returns or takes a large structure.
unsafe fn has_large(function: LLVMValueRef) -> bool {
    // SAFETY: a live function.
    unsafe {
        let ty = LLVMGlobalGetValueType(function);
        is_large(LLVMGetReturnType(ty)) || parameters(ty).into_iter().any(is_large)
    }
}

/// Whether all that use a function call it, as what it is.
fn is_ours(function: FunctionValue<'_>) -> bool {
    let value = Value(function.as_value_ref());
    // SAFETY: a live function and its users.
    unsafe {
        let ty = LLVMGlobalGetValueType(value.0);
        let calls = |user: &Value| {
            user.is(Op::LLVMCall)
                && user.called() == Some(value)
                && LLVMGetCalledFunctionType(user.0) == ty
                && LLVMGetTailCallKind(user.0) != llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
                && (0..LLVMGetNumArgOperands(user.0)).all(|i| user.operand(i) != value)
        };
        matches!(LLVMGetLinkage(value.0), LLVMInternalLinkage | LLVMPrivateLinkage)
            && LLVMIsFunctionVarArg(ty) == 0
            && value.users().iter().all(calls)
    }
}

unsafe fn widen_one(module: LLVMModuleRef, old: LLVMValueRef, moved: &mut Moved) {
    // SAFETY: see `widen`.
    unsafe {
        let context = LLVMGetModuleContext(module);
        let (ty, pointer) = (LLVMGlobalGetValueType(old), LLVMPointerTypeInContext(context, 0));
        let returns_large = is_large(LLVMGetReturnType(ty));
        let first = u32::from(returns_large);
        let own = parameters(ty);
        let taken = own.iter().map(|&p| if is_large(p) { pointer } else { p });
        let mut types: Vec<LLVMTypeRef> = returns_large.then_some(pointer).into_iter().chain(taken).collect();
        let result = if returns_large { LLVMVoidTypeInContext(context) } else { LLVMGetReturnType(ty) };
        let wide = LLVMFunctionType(result, types.as_mut_ptr(), types.len() as u32, 0);
        let new = LLVMAddFunction(module, c"ffgrad.wide".as_ptr(), wide);
        take_name(new, old);
        LLVMSetLinkage(new, LLVMInternalLinkage);
        LLVMSetFunctionCallConv(new, LLVMGetFunctionCallConv(old));
        if LLVMHasPersonalityFn(old) != 0 {
            LLVMSetPersonalityFn(new, LLVMGetPersonalityFn(old));
        }
        attributes(context, old, new, &own, first);
        ir::move_body(old, new);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(new)));
        for (i, &ty) in (0..).zip(&own) {
            let (was, is) = (LLVMGetParam(old, i), LLVMGetParam(new, i + first));
            if is_large(ty) {
                let load = LLVMBuildLoad2(builder, ty, is, c"".as_ptr());
                moved.views.insert(Value(load), is);
                LLVMReplaceAllUsesWith(was, load);
            } else {
                LLVMReplaceAllUsesWith(was, is);
            }
        }
        LLVMDisposeBuilder(builder);
        if returns_large {
            moved.results.insert(new, LLVMGetParam(new, 0));
        }
        moved.targets.insert(old, Target { new, returns_large });
    }
}

/// Gives the new function the attributes of the old one, but for those that say which memory it accesses.
unsafe fn attributes(context: LLVMContextRef, old: LLVMValueRef, new: LLVMValueRef, own: &[LLVMTypeRef], first: u32) {
    let kind = |name: &std::ffi::CStr| {
        // SAFETY: a name and its length.
        unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes()) }
    };
    let memory = kind(c"memory");
    let add = |from: u32, to: u32| {
        // SAFETY: two live functions; the array has the length that LLVM states.
        unsafe {
            let mut all = vec![std::ptr::null_mut(); LLVMGetAttributeCountAtIndex(old, from) as usize];
            LLVMGetAttributesAtIndex(old, from, all.as_mut_ptr());
            let kept =
                all.into_iter().filter(|&a| LLVMIsEnumAttribute(a) == 0 || LLVMGetEnumAttributeKind(a) != memory);
            kept.for_each(|a| LLVMAddAttributeAtIndex(new, to, a));
        }
    };
    add(u32::MAX, u32::MAX);
    if first == 0 {
        add(0, 0);
    }
    for (i, _) in (1u32..).zip(own).filter(|(_, ty)| !is_large(**ty)) {
        add(i, i + first);
    }
    // SAFETY: a live function and its context; nothing else leads to a slot, and those of arguments are not written.
    unsafe {
        let noalias = LLVMCreateEnumAttribute(context, kind(c"noalias"), 0);
        let readonly = LLVMCreateEnumAttribute(context, kind(c"readonly"), 0);
        if first == 1 {
            LLVMAddAttributeAtIndex(new, 1, noalias);
        }
        for (i, _) in (1u32..).zip(own).filter(|(_, ty)| is_large(**ty)) {
            LLVMAddAttributeAtIndex(new, i + first, noalias);
            LLVMAddAttributeAtIndex(new, i + first, readonly);
        }
    }
}

unsafe fn take_name(new: LLVMValueRef, old: LLVMValueRef) {
    // SAFETY: two live functions; the name is copied before it changes.
    unsafe {
        let mut length = 0;
        let name = LLVMGetValueName2(old, &mut length);
        let name = std::slice::from_raw_parts(name.cast::<u8>(), length).to_vec();
        LLVMSetValueName2(old, c"".as_ptr(), 0);
        LLVMSetValueName2(new, name.as_ptr().cast(), name.len());
    }
}
