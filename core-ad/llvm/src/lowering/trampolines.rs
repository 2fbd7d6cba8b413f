//! Makes internal procedures that are passed as arguments plain functions.
//!
//! A Fortran compiler passes `f`, which uses variables of its host, as the address of a piece of code that it writes to the stack: a trampoline, which
//! adds the host's address to the arguments and jumps to `f`. Enzyme knows no trampolines, and many systems forbid code on the stack.
//!
//! ```text
//! call void @llvm.init.trampoline(ptr %t, ptr @f, ptr %host)   ->   store ptr %host, ptr @trampoline.host.0
//! %p = call ptr @llvm.adjust.trampoline(ptr %t)                ->   %p is @trampoline.code.0, which loads that and calls @f
//! ```
//!
//! One variable serves as long as there is one activation of the host, so hosts that may call themselves keep their trampolines, as do programs
//! with OpenMP, where several threads use one. The variable is each thread's own; for a derivative `written-globals` makes it the call's own.

use crate::analysis::reachable::reachable;
use crate::ir::{self, Result, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMLinkage::LLVMInternalLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use std::collections::HashMap;
use std::ffi::CString;

/// How the variables' names begin. What is kept in one is the address of the host's own variables, set before each use.
pub const HOST: &str = "trampoline.host.";

/// Replaces them.
pub fn run(module: &Module<'_>) {
    let all = ir::all_instructions(module);
    // Each with the trampoline's memory.
    let of = |name: &str| -> Vec<(Value, Value)> {
        let calls = all.iter().copied().filter(|i| i.callee().is_some_and(|n| n.starts_with(name)));
        calls.map(|call| (call, call.operand(0))).collect()
    };
    let (inits, uses) = (of("llvm.init.trampoline"), of("llvm.adjust.trampoline"));
    if inits.is_empty() || all.iter().any(|i| i.callee().is_some_and(|n| n.starts_with("__kmpc_fork"))) {
        return;
    }
    let mut made: HashMap<Value, (LLVMValueRef, LLVMValueRef)> = HashMap::new();
    // SAFETY: live calls of `module`; a call is erased after its uses have been replaced.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for (n, &(_, place)) in uses.iter().enumerate() {
            if uses[..n].iter().any(|u| u.1 == place) {
                continue;
            }
            let here: Vec<Value> = inits.iter().filter(|i| i.1 == place).map(|i| i.0).collect();
            let target = here.first().map(|i| i.operand(1));
            let Some(target) = target.filter(|t| here.iter().all(|i| i.operand(1) == *t && can_replace(*i))) else {
                continue;
            };
            let number = made.len();
            let (host, code) = *made.entry(target).or_insert_with(|| thunk(module, builder, target, number));
            for init in here {
                LLVMPositionBuilderBefore(builder, init.0);
                LLVMBuildStore(builder, init.operand(2).0, host);
                init.erase();
            }
            for (used, _) in uses.iter().filter(|u| u.1 == place) {
                LLVMReplaceAllUsesWith(used.0, code);
                used.erase();
            }
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Whether what a trampoline leads to is a function here, of which the host has one activation at a time.
fn can_replace(init: Value) -> bool {
    // SAFETY: a live call of a function of the module, and functions of it.
    unsafe {
        let (target, host) = (init.operand(1).0, LLVMGetBasicBlockParent(init.parent().0));
        if LLVMIsAFunction(target).is_null() || LLVMCountBasicBlocks(target) == 0 {
            return false;
        }
        let Some(function) = FunctionValue::new(host) else { return false };
        // Whoever has its address might call it.
        let is_called = Value(host).users().into_iter().all(|user| user.called() == Some(Value(host)));
        let inside = ir::blocks(function).into_iter().flat_map(|b| b.instructions()).flat_map(Value::operands);
        let callees: Vec<_> =
            inside.filter(|o| !LLVMIsAFunction(o.0).is_null()).filter_map(|o| FunctionValue::new(o.0)).collect();
        is_called && !reachable(&callees).contains(&host)
    }
}

/// The variable for the host's address, and the function without it.
///
/// # Safety
///
/// The target is a live function of the module, one of whose parameters is marked `nest`.
unsafe fn thunk(
    module: &Module<'_>,
    builder: LLVMBuilderRef,
    target: Value,
    number: usize,
) -> (LLVMValueRef, LLVMValueRef) {
    // SAFETY: the caller's; the new function and variable are of the same module.
    unsafe {
        let (raw, context) = (module.as_mut_ptr(), LLVMGetModuleContext(module.as_mut_ptr()));
        let pointer = LLVMPointerTypeInContext(context, 0);
        let name = |start: &str| CString::new(format!("{start}{number}")).unwrap_or_default();
        let host = LLVMAddGlobal(raw, pointer, name(HOST).as_ptr());
        LLVMSetInitializer(host, LLVMConstNull(pointer));
        LLVMSetLinkage(host, LLVMInternalLinkage);
        LLVMSetThreadLocal(host, 1);
        let kind = LLVMGetEnumAttributeKindForName(c"nest".as_ptr(), 4);
        let ty = LLVMGlobalGetValueType(target.0);
        let count = LLVMCountParams(target.0);
        let nest = (0..count).find(|i| !LLVMGetEnumAttributeAtIndex(target.0, i + 1, kind).is_null());
        let parameters = (0..count).filter(|i| Some(*i) != nest).map(|i| LLVMTypeOf(LLVMGetParam(target.0, i)));
        let mut parameters: Vec<_> = parameters.collect();
        let short = LLVMFunctionType(LLVMGetReturnType(ty), parameters.as_mut_ptr(), parameters.len() as u32, 0);
        let code = LLVMAddFunction(raw, name("trampoline.code.").as_ptr(), short);
        LLVMSetLinkage(code, LLVMInternalLinkage);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, code, c"".as_ptr()));
        LLVMSetCurrentDebugLocation2(builder, std::ptr::null_mut());
        let mut given = (0..LLVMCountParams(code)).map(|i| LLVMGetParam(code, i));
        let address = LLVMBuildLoad2(builder, pointer, host, c"".as_ptr());
        let mut arguments: Vec<LLVMValueRef> =
            (0..count).map(|i| if Some(i) == nest { address } else { given.next().unwrap_or(address) }).collect();
        let call = LLVMBuildCall2(builder, ty, target.0, arguments.as_mut_ptr(), count, c"".as_ptr());
        LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(target.0));
        if LLVMGetTypeKind(LLVMGetReturnType(ty)) == llvm_sys::LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(builder);
        } else {
            LLVMBuildRet(builder, call);
        }
        // Code on the stack alone needs that parameter in a register of its own.
        for user in target.users().into_iter().filter(|user| user.called() == Some(target)) {
            (0..count).for_each(|i| LLVMRemoveCallSiteEnumAttribute(user.0, i + 1, kind));
        }
        (1..=count).for_each(|i| LLVMRemoveEnumAttributeAtIndex(target.0, i, kind));
        (host, code)
    }
}

/// Runs passes for a derivative with one variable for all threads, which `written-globals` makes each call's own; what it cannot move is
/// each thread's own again.
///
/// # Errors
///
/// Those of the passes.
pub fn shared(module: &Module<'_>, passes: impl FnOnce() -> Result<()>) -> Result<()> {
    hosts(module).for_each(|host| host.set_thread_local(false));
    passes()?;
    hosts(module).for_each(|host| host.set_thread_local(true));
    Ok(())
}

fn hosts<'a>(module: &'a Module<'_>) -> impl Iterator<Item = inkwell::values::GlobalValue<'a>> {
    module.get_globals().filter(|g| g.get_name().to_bytes().starts_with(HOST.as_bytes()))
}
