//! Replaces indirect calls by dispatchers that compare the pointer with every possible target.
//!
//! Enzyme's forward mode gets the result of an indirect call wrong (it expects primal and tangent, but the derivative behind
//! the pointer returns the tangent alone), and for a pointer with an unknown target it emits a call of `exit`. A module that
//! receives no function pointers can call only what it contains: each call through a pointer becomes a call of a dispatcher that
//! compares the pointer with every function of that type whose address is taken. A virtual call can only call what stands in its slot of
//! a class's table. The optimiser then inlines what it can.

use super::closures;
use crate::analysis::virtual_tables::{VirtualTables, is_from_table, only_in_tables, slot_of, symbol};
use crate::ir::{self, Result, markers};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::LLVMTypeKind::{LLVMPointerTypeKind, LLVMVoidTypeKind};
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMUnnamedAddr};
use std::collections::HashMap;
use std::ops::Range;

/// More targets than this are left indirect: a long chain of comparisons is slower than the call.
const MOST_TARGETS: usize = 24;

/// Replaces every indirect call in the module whose targets are known. `apart`: each target has a view of its own of all that it is given, since
/// functions of several hierarchies may share a slot and a type (`visit` of visitors, `accept` of nodes).
pub fn make_direct(module: &Module<'_>, apart: bool) -> Result<()> {
    closures::mark_values(module);
    let mut has_closures = false;
    // SAFETY: every value below is a live value of `module`, which nothing else uses meanwhile; instructions
    // are erased only after their uses have been replaced.
    unsafe {
        let raw = module.as_mut_ptr();
        let calls: Vec<LLVMValueRef> =
            ir::all_instructions(module).into_iter().map(|i| i.0).filter(|&i| is_indirect(i)).collect();
        if calls.is_empty() {
            return Ok(());
        }
        pass_through(module, &calls);
        calls.iter().for_each(|call| hide_tables(module, *call));
        let targets = address_taken(module);
        let (plain, tables) = (by_address(&targets), VirtualTables::of(module));
        let mut dispatchers: HashMap<(LLVMTypeRef, Option<usize>), LLVMValueRef> = HashMap::new();
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(raw));
        for call in calls {
            let ty = LLVMGetCalledFunctionType(call);
            let slot = slot_of(ir::Value(call));
            let candidates = match slot {
                Some(slot) => tables.slot(slot),
                None if is_by_member_pointer(call) => targets.clone(),
                None => plain.clone(),
            };
            let fitting = fitting(&candidates, ty, slot.is_some());
            let is_left =
                if slot.is_some() { !is_of_shared_owner(call) } else { !is_of_another_result(&candidates, ty) };
            let none_fits = fitting.is_empty() && is_left;
            if none_fits || fitting.len() > MOST_TARGETS || passes_memory(call) {
                continue;
            }
            let number = dispatchers.len();
            let mut views = views_of(&fitting, slot);
            has_closures |= slot.is_none() && !views.is_empty();
            // The memory for a result comes before the object. In a dispatcher and what it calls it is an argument like others.
            if let Some(memory) = ir::Value(call).result_memory() {
                views = views.start + memory as usize + 1..views.end + memory as usize + 1;
                fitting.iter().for_each(|f| ir::Value(*f).pass_result_memory_as_argument());
            }
            if apart && fitting.len() > 1 {
                views = 0..LLVMCountParamTypes(ty) as usize;
            }
            let new = || dispatcher(module, builder, ty, &fitting, Name { number, views: views.clone() });
            let dispatcher = *dispatchers.entry((ty, slot)).or_insert_with(new);
            replace(builder, call, dispatcher);
        }
        LLVMDisposeBuilder(builder);
    }
    if has_closures {
        closures::mark(module);
    }
    Ok(())
}

/// The functions that a call of a type may reach: those of this type, and where there is none, those that take its first arguments only.
/// Fortran and old C pass a function for one that takes more (SLATEC's `dnsqe`: the place of the Jacobian, where none is used); the processor
/// leaves the other arguments alone. A virtual function is called with its own arguments.
fn fitting(candidates: &[LLVMValueRef], ty: LLVMTypeRef, is_virtual: bool) -> Vec<LLVMValueRef> {
    let those = |fits: &dyn Fn(LLVMTypeRef, LLVMTypeRef) -> bool| -> Vec<LLVMValueRef> {
        // SAFETY: live functions and a function type of the module.
        let fits = |f: LLVMValueRef| fits(unsafe { LLVMGlobalGetValueType(f) }, ty);
        candidates.iter().copied().filter(|&f| fits(f)).collect()
    };
    let same = those(&|of, called| of == called);
    let fits = |of: LLVMTypeRef, called: LLVMTypeRef| takes_first_pointers(of, called) && returns_the_same(of, called);
    if same.is_empty() && !is_virtual { those(&fits) } else { same }
}

/// Whether a call can only reach functions that return something else than it takes. Such a call has no meaning, and is never reached: SLATEC's
/// `ddriv1` passes the subroutine of the equations in the place of a function for roots, of which it asks for none. Enzyme crashes on it. A call that takes no
/// result works with a function that returns one.
fn is_of_another_result(candidates: &[LLVMValueRef], ty: LLVMTypeRef) -> bool {
    // SAFETY: live functions and a function type of the module.
    let takes_result = unsafe { LLVMGetTypeKind(LLVMGetReturnType(ty)) } != LLVMVoidTypeKind;
    // SAFETY: live functions.
    takes_result && candidates.iter().any(|&f| takes_first_pointers(unsafe { LLVMGlobalGetValueType(f) }, ty))
}

/// Whether a call is one of those that end what a `std::shared_ptr` owns. Without a class for it in the module there is no such owner, or it was made outside and is
/// left to the library: xtensor's containers have a pointer that is never set.
fn is_of_shared_owner(call: LLVMValueRef) -> bool {
    // SAFETY: the function of a live instruction.
    let function = unsafe { LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) };
    symbol(ir::Value(function)).starts_with("_ZNSt16_Sp_counted_base")
}

fn returns_the_same(ty: LLVMTypeRef, called: LLVMTypeRef) -> bool {
    // SAFETY: live function types.
    unsafe { LLVMGetReturnType(ty) == LLVMGetReturnType(called) }
}

/// Whether functions of a type take the first arguments of another, all of them addresses.
fn takes_first_pointers(ty: LLVMTypeRef, called: LLVMTypeRef) -> bool {
    // SAFETY: live function types; the arrays have the lengths that LLVM states.
    unsafe {
        let parameters = |ty: LLVMTypeRef| {
            let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
            LLVMGetParamTypes(ty, types.as_mut_ptr());
            types
        };
        let (own, given) = (parameters(ty), parameters(called));
        LLVMIsFunctionVarArg(ty) == 0
            && !own.is_empty()
            && given.starts_with(&own)
            && given.iter().all(|t| LLVMGetTypeKind(*t) == LLVMPointerTypeKind)
    }
}

/// Puts a function with a body before each of other libraries (`cos`) whose address is taken and whose type is called: Enzyme wants a shadow of an
/// address that is kept, and has none for such a function.
unsafe fn pass_through(module: &Module<'_>, calls: &[LLVMValueRef]) {
    // SAFETY: see `make_direct`; the new function has the type of the one that it calls.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        let called: Vec<LLVMTypeRef> = calls.iter().map(|call| LLVMGetCalledFunctionType(*call)).collect();
        for outside in address_taken(module) {
            let ty = LLVMGlobalGetValueType(outside);
            if LLVMCountBasicBlocks(outside) > 0 || LLVMIsFunctionVarArg(ty) != 0 || !called.contains(&ty) {
                continue;
            }
            let users = ir::Value(outside).users().into_iter().filter(|user| user.called().is_none());
            let stores: Vec<ir::Value> = users.filter(|user| user.is(ir::Op::LLVMStore)).collect();
            if stores.is_empty() {
                continue;
            }
            let name = format!("ffgrad.through.{}\0", symbol(ir::Value(outside)));
            let function = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr().cast(), ty);
            LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
            let entry =
                LLVMAppendBasicBlockInContext(LLVMGetModuleContext(module.as_mut_ptr()), function, c"".as_ptr());
            LLVMPositionBuilderAtEnd(builder, entry);
            let mut arguments: Vec<LLVMValueRef> =
                (0..LLVMCountParams(function)).map(|i| LLVMGetParam(function, i)).collect();
            call_and_return(builder, ty, outside, &mut arguments);
            // Every place that keeps the address, or compares it, has the same one.
            LLVMReplaceAllUsesWith(outside, function);
            let inside = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
            LLVMSetOperand(inside, LLVMGetNumArgOperands(inside), outside);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The arguments that each target has a view of its own of: the object of a virtual call, and function objects. Memory for a result is not counted.
fn views_of(targets: &[LLVMValueRef], slot: Option<usize>) -> Range<usize> {
    let is = |test: fn(&str) -> bool| targets.iter().any(|target| test(&symbol(ir::Value(*target))));
    match (targets.len() > 1, slot) {
        (true, Some(_)) => 0..1,
        (true, None) if is(closures::is_manager) => 0..2,
        (true, None) if is(closures::is_handler) => 0..1,
        _ => 0..0,
    }
}

unsafe fn is_indirect(instruction: LLVMValueRef) -> bool {
    // SAFETY: see `make_direct`.
    unsafe {
        let opcode = LLVMGetInstructionOpcode(instruction);
        if !matches!(opcode, LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) {
            return false;
        }
        let callee = LLVMGetCalledValue(instruction);
        LLVMIsAFunction(callee).is_null()
            && LLVMIsAInlineAsm(callee).is_null()
            && LLVMIsFunctionVarArg(LLVMGetCalledFunctionType(instruction)) == 0
    }
}

/// Whether a call may be one through a pointer to a member function, which chooses between a virtual function and its own address.
fn is_by_member_pointer(call: LLVMValueRef) -> bool {
    ir::Value(call).called().is_some_and(|callee| callee.is(ir::Op::LLVMPHI))
}

/// The number of the view through which a call by a pointer to a member function looks for a virtual table.
const TABLE_VIEW: u32 = 1 << 16;

/// Has such a call read the table through a view of its own: a class without virtual functions has a member of any type in its place, and Enzyme
/// does not see that the table is never read then.
unsafe fn hide_tables(module: &Module<'_>, call: LLVMValueRef) {
    if !is_by_member_pointer(call) {
        return;
    }
    let choices = ir::Value(call).called().map_or_else(Vec::new, |callee| callee.incoming());
    for (function, _) in choices.into_iter().filter(|(function, _)| is_from_table(*function)) {
        let place = function.operand(0);
        let table = if place.is(ir::Op::LLVMGetElementPtr) { place.operand(0) } else { place };
        // SAFETY: see `make_direct`; a load, before which its operand is defined.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
            LLVMPositionBuilderBefore(builder, table.0);
            let view = markers::call_object(module, builder, table.operand(0).0, TABLE_VIEW);
            LLVMSetOperand(table.0, 0, view);
            LLVMDisposeBuilder(builder);
        }
    }
}

/// Those of the functions that are not in virtual tables alone.
fn by_address(targets: &[LLVMValueRef]) -> Vec<LLVMValueRef> {
    let elsewhere = |f: LLVMValueRef, user: &ir::Value| passes_on(f, *user) && !only_in_tables(user.0);
    targets.iter().copied().filter(|&f| ir::Value(f).users().iter().any(|user| elsewhere(f, user))).collect()
}

/// Functions used other than by being called.
fn address_taken(module: &Module<'_>) -> Vec<LLVMValueRef> {
    let all = module.get_functions().filter(|f| f.get_intrinsic_id() == 0).map(|f| f.as_value_ref());
    all.filter(|&f| ir::Value(f).users().into_iter().any(|user| passes_on(f, user))).collect()
}

/// Whether a user takes the address of a function, and does not only call it.
fn passes_on(function: LLVMValueRef, user: ir::Value) -> bool {
    let is_call = user.called().is_some();
    // SAFETY: a live call.
    let arguments = if is_call { unsafe { LLVMGetNumArgOperands(user.0) } } else { 0 };
    let is_argument = (0..arguments).any(|i| user.operand(i).0 == function);
    (!is_call || is_argument) && !is_for_the_end(user)
}

/// Whether a call registers a destructor of a static object: nothing but the end of the program calls that.
fn is_for_the_end(user: ir::Value) -> bool {
    user.callee().is_some_and(|name| name == "__cxa_atexit" || name == "__cxa_thread_atexit")
}

/// Whether an argument is memory passed by value, whose attributes a dispatcher would have to repeat.
unsafe fn passes_memory(call: LLVMValueRef) -> bool {
    // SAFETY: see `make_direct`.
    unsafe {
        (1..=LLVMGetNumArgOperands(call)).any(|index| {
            ["byval", "inalloca"].iter().any(|name| {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                !LLVMGetCallSiteEnumAttribute(call, index, kind).is_null()
            })
        })
    }
}

/// What distinguishes dispatchers of one type.
struct Name {
    number: usize,
    /// The arguments that the targets have views of.
    views: Range<usize>,
}

/// `T dispatch(args..., void *target)`: compares and calls. Where objects of several types are distinguished, each target has its own view.
///
/// The target comes last, so that each argument has the place that it has in the targets: where they call the dispatcher again, Enzyme
/// looks for the argument there, and crashes on a place that a target does not have.
unsafe fn dispatcher(
    module: &Module<'_>,
    builder: LLVMBuilderRef,
    ty: LLVMTypeRef,
    targets: &[LLVMValueRef],
    name: Name,
) -> LLVMValueRef {
    // SAFETY: see `make_direct`; the parameter array has the length LLVM states.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let count = LLVMCountParamTypes(ty) as usize;
        let mut types = vec![LLVMPointerTypeInContext(context, 0); count + 1];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        let own = LLVMFunctionType(LLVMGetReturnType(ty), types.as_mut_ptr(), types.len() as u32, 0);
        let called = format!("ffgrad.dispatch.{}\0", name.number);
        let function = LLVMAddFunction(module.as_mut_ptr(), called.as_ptr().cast(), own);
        LLVMSetLinkage(function, LLVMLinkage::LLVMInternalLinkage);
        let pointer = LLVMGetParam(function, count as u32);
        let arguments: Vec<LLVMValueRef> = (0..count as u32).map(|i| LLVMGetParam(function, i)).collect();
        let block = || LLVMAppendBasicBlockInContext(context, function, c"".as_ptr());
        let mut here = block();
        for (view, &target) in targets.iter().enumerate() {
            let (hit, miss) = (block(), block());
            LLVMPositionBuilderAtEnd(builder, here);
            let same = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntEQ, pointer, target, c"".as_ptr());
            LLVMBuildCondBr(builder, same, hit, miss);
            // Else LLVM takes two of them for possibly equal.
            LLVMSetUnnamedAddress(target, LLVMUnnamedAddr::LLVMNoUnnamedAddr);
            LLVMPositionBuilderAtEnd(builder, hit);
            let mut arguments = arguments.clone();
            for object in arguments[name.views.clone()].iter_mut().filter(|a| ir::Value(**a).is_pointer()) {
                *object = markers::call_object(module, builder, *object, view as u32 + 1);
            }
            arguments.truncate(LLVMCountParams(target) as usize);
            call_and_return(builder, LLVMGlobalGetValueType(target), target, &mut arguments);
            here = miss;
        }
        // A pointer from outside the module. An indirect call left here would hinder Enzyme, so the answer
        // is not-a-number: the check against the primal, which has the real call, then refuses the gradient.
        LLVMPositionBuilderAtEnd(builder, here);
        return_nothing(builder, LLVMGetReturnType(ty));
        function
    }
}

unsafe fn return_nothing(builder: LLVMBuilderRef, ty: LLVMTypeRef) {
    use llvm_sys::LLVMTypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMVoidTypeKind};
    // SAFETY: see `make_direct`.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMVoidTypeKind => LLVMBuildRetVoid(builder),
            LLVMDoubleTypeKind | LLVMFloatTypeKind => LLVMBuildRet(builder, LLVMConstReal(ty, f64::NAN)),
            _ => LLVMBuildRet(builder, LLVMConstNull(ty)),
        };
    }
}

unsafe fn call_and_return(
    builder: LLVMBuilderRef,
    ty: LLVMTypeRef,
    target: LLVMValueRef,
    arguments: &mut [LLVMValueRef],
) {
    // SAFETY: see `make_direct`.
    unsafe {
        let count = arguments.len() as u32;
        let value = LLVMBuildCall2(builder, ty, target, arguments.as_mut_ptr(), count, c"".as_ptr());
        if !LLVMIsAFunction(target).is_null() {
            LLVMSetInstructionCallConv(value, LLVMGetFunctionCallConv(target));
        }
        if LLVMGetTypeKind(LLVMGetReturnType(ty)) == llvm_sys::LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(builder);
        } else {
            LLVMBuildRet(builder, value);
        }
    }
}

unsafe fn replace(builder: LLVMBuilderRef, call: LLVMValueRef, dispatcher: LLVMValueRef) {
    // SAFETY: see `make_direct`.
    unsafe {
        let count = LLVMGetNumArgOperands(call);
        let mut arguments: Vec<LLVMValueRef> = (0..count).map(|i| LLVMGetOperand(call, i)).collect();
        arguments.push(LLVMGetCalledValue(call));
        let ty = LLVMGlobalGetValueType(dispatcher);
        LLVMPositionBuilderBefore(builder, call);
        let is_call = LLVMGetInstructionOpcode(call) == LLVMOpcode::LLVMCall;
        let (values, length) = (arguments.as_mut_ptr(), arguments.len() as u32);
        let new = if is_call {
            LLVMBuildCall2(builder, ty, dispatcher, values, length, c"".as_ptr())
        } else {
            let (normal, unwind) = (LLVMGetNormalDest(call), LLVMGetUnwindDest(call));
            LLVMBuildInvoke2(builder, ty, dispatcher, values, length, normal, unwind, c"".as_ptr())
        };
        LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(call));
        LLVMReplaceAllUsesWith(call, new);
        LLVMInstructionEraseFromParent(call);
    }
}
