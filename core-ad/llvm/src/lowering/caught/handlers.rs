//! Replaces what handlers do (`__cxa_begin_catch` and its like) by calls of the runtime.

use super::build::{Edit, calls};
use super::effects;
use super::facts::{called, is_terminate, normal};
use super::groups::{Groups, Object, is_begin};
use crate::ir::{Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// Replaces them in a function. `place`: the pending exception's, where the function has one.
pub fn lower(edit: &Edit, function: FunctionValue<'_>, groups: &Groups, place: LLVMValueRef) {
    // First what asks for the handlers' tests.
    let objects: Vec<(Value, Object)> =
        calls(function).into_iter().filter(|c| is_begin(*c)).map(|c| (c, groups.object(c))).collect();
    for call in calls(function) {
        if call.callee().is_none() {
            replace_what(edit, call);
        }
    }
    for (call, object) in objects {
        let object = if place.is_null() { Object::Plain } else { object };
        let name = if call.callee().is_some_and(|n| n == "__cxa_begin_catch") { "begin" } else { "object" };
        begin(edit, call, name, object, place);
    }
    for call in calls(function) {
        let Some(name) = call.callee() else { continue };
        if name == "__cxa_end_catch" {
            let call = if normal(call).is_some() { edit.make_call(call) } else { call };
            edit.before(call);
            edit.runtime("end", edit.void, &[]);
            edit.erase(call);
        } else if is_terminate(&name) && name != "_ZSt9terminatev" {
            edit.before(call);
            edit.call(terminate(edit), &[]);
            edit.erase(call);
        }
    }
}

fn begin(edit: &Edit, call: Value, name: &str, object: Object, place: LLVMValueRef) {
    edit.before(call);
    let p = call.operand(0).0;
    let plain = edit.runtime(name, edit.ptr, &[p]);
    // SAFETY: a live call; the built values stand before it.
    unsafe {
        let found = match object {
            Object::Plain => plain,
            Object::Of(group) | Object::Either(group) => {
                let own = LLVMBuildLoad2(edit.builder, edit.ptr, edit.slot(place, group), c"".as_ptr());
                let mut offset = edit.runtime("offset", edit.i64, &[p]);
                let byte = LLVMInt8TypeInContext(edit.context);
                let found = LLVMBuildGEP2(edit.builder, byte, own, &mut offset, 1, c"".as_ptr());
                if let Object::Of(_) = object {
                    edit.runtime("same", edit.void, &[p, own]);
                    found
                } else {
                    let is_own = edit.runtime("is", LLVMInt1TypeInContext(edit.context), &[p, own]);
                    LLVMBuildSelect(edit.builder, is_own, found, plain, c"".as_ptr())
                }
            }
        };
        LLVMReplaceAllUsesWith(call.0, found);
    }
    edit.erase(call);
}

/// `e.what()` on a caught exception: the third virtual function, in the Itanium C++ ABI.
fn replace_what(edit: &Edit, call: Value) {
    let callee = Value(called(call));
    // SAFETY: live values.
    let (count, is_pointer) = unsafe { (LLVMGetNumArgOperands(call.0), call.is_pointer()) };
    if count != 1 || !is_pointer || !callee.is(Op::LLVMLoad) || !callee.operand(0).is(Op::LLVMGetElementPtr) {
        return;
    }
    let (entry, object) = (callee.operand(0), call.operand(0));
    let is_third =
        entry.operands().len() == 2 && entry.operand(1).constant() == Some(if is_bytes(entry) { 16 } else { 2 });
    let of_object = entry.operand(0).is(Op::LLVMLoad) && entry.operand(0).operand(0) == object;
    let mut base = object;
    while base.is(Op::LLVMGetElementPtr) {
        base = base.operand(0);
    }
    let is_caught = base.callee().is_some_and(|n| n == "__cxa_begin_catch" || n.starts_with("ffgrad.eh."))
        || base.is(Op::LLVMIntToPtr)
        || base.is(Op::LLVMExtractValue);
    if !(is_third && of_object && is_caught) {
        return;
    }
    let call = if normal(call).is_some() { edit.make_call(call) } else { call };
    edit.before(call);
    let text = edit.runtime("what", edit.ptr, &[object.0]);
    // SAFETY: a live call of the same type.
    unsafe { LLVMReplaceAllUsesWith(call.0, text) };
    edit.erase(call);
}

fn is_bytes(entry: Value) -> bool {
    // SAFETY: a `getelementptr`.
    unsafe { LLVMGetTypeKind(LLVMGetGEPSourceElementType(entry.0)) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind }
}

fn terminate(edit: &Edit) -> LLVMValueRef {
    // SAFETY: a live module.
    unsafe {
        let found = LLVMGetNamedFunction(edit.module, c"_ZSt9terminatev".as_ptr());
        if !found.is_null() {
            return found;
        }
        let ty = LLVMFunctionType(edit.void, std::ptr::null_mut(), 0, 0);
        let made = LLVMAddFunction(edit.module, c"_ZSt9terminatev".as_ptr(), ty);
        edit.attribute(made, "noreturn", 0);
        edit.attribute(made, "nounwind", 0);
        made
    }
}

/// Marks the library's functions for exceptions and text as inactive.
pub fn mark_library(edit: &Edit, module: &Module<'_>) {
    let ours = |name: &str| {
        let exceptions = ["__cxa_allocate_exception", "__cxa_free_exception"].contains(&name);
        let standard = effects::is_text(&name.replacen("_ZNKSt", "_ZNSt", 1)) && name.starts_with("_ZN");
        exceptions || standard || super::facts::always_throws(name)
    };
    for function in module.get_functions().filter(|f| f.count_basic_blocks() == 0) {
        if ours(&function.get_name().to_string_lossy()) {
            edit.mark_inactive(function.as_value_ref());
        }
    }
}
