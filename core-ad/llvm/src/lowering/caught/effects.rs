//! What an instruction on the way to a `throw` may change that has a derivative.

use super::facts::{called, is_call};
use super::thrown;
use crate::ir::{Op, Value, blocks};
use inkwell::values::FunctionValue;
use llvm_sys::core::*;

/// Functions that read and write text only.
const TEXT: [&str; 24] = [
    "_ZNSt7__cxx1112basic_string",
    "_ZNKSt7__cxx1112basic_string",
    "_ZNSt7__cxx1118basic_stringstream",
    "_ZNKSt7__cxx1118basic_stringstream",
    "_ZNSt7__cxx1119basic_ostringstream",
    "_ZNKSt7__cxx1119basic_ostringstream",
    "_ZNSt7__cxx119to_string",
    "_ZStplI",
    "_ZStlsI",
    "_ZNSo",
    "_ZNSi",
    "_ZNSaIc",
    "_ZNSt15__new_allocatorIc",
    "_ZNSt11char_traitsI",
    "_ZNSt9exception",
    "_ZNSt13runtime_error",
    "_ZNSt11logic_error",
    "_ZNSt16invalid_argument",
    "_ZNSt12out_of_range",
    "_ZNSt12domain_error",
    "_ZNSt11range_error",
    "_ZNSt12length_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
];

/// How deep calls are looked into.
const DEPTH: usize = 4;

/// Whether a function reads and writes text only, as its name says.
pub fn is_text(name: &str) -> bool {
    let known =
        ["__cxa_", "ffgrad.eh.", "_Znw", "_ZdlPv", "str", "snprintf", "sprintf", "llvm.lifetime", "llvm.assume"];
    TEXT.iter().chain(&known).any(|p| name.starts_with(p)) || super::facts::always_throws(name)
}

/// Whether an instruction changes nothing that has a derivative and that is seen after the exception is caught.
pub fn is_harmless(i: Value) -> bool {
    if i.is(Op::LLVMStore) {
        let value = i.operand(0);
        return is_message(i.operand(1)) || !(value.holds_floats() || value.is_pointer());
    }
    if !is_call(i) {
        return !i.is(Op::LLVMAtomicRMW) && !i.is(Op::LLVMAtomicCmpXchg);
    }
    is_harmless_call(i)
}

fn is_harmless_call(call: Value) -> bool {
    if call.callee().is_some_and(|name| is_text(&name)) {
        return true;
    }
    // SAFETY: a live call; the callee is asked for its body where it is a function.
    unsafe {
        let callee = called(call);
        if LLVMIsAFunction(callee).is_null() {
            return false;
        }
        let given: Vec<Value> = (0..LLVMGetNumArgOperands(call.0)).map(|i| call.operand(i)).collect();
        let given_safely = given.iter().all(|a| !a.is_pointer() || is_message(*a) || is_constant(*a));
        match FunctionValue::new(callee) {
            Some(f) if given_safely && f.count_basic_blocks() > 0 => leaves_globals(f, DEPTH),
            _ => given_safely && call.callee().is_some_and(|n| n.starts_with("llvm.mem")),
        }
    }
}

/// Whether nothing in a function, nor in what it calls, stores to a global.
fn leaves_globals(function: FunctionValue<'_>, depth: usize) -> bool {
    let all: Vec<Value> = blocks(function).into_iter().flat_map(|b| b.instructions()).collect();
    let may_call = |i: &Value| {
        // SAFETY: a live call.
        let callee = unsafe { FunctionValue::new(called(*i)) };
        i.callee().is_some_and(|n| is_text(&n) || n.starts_with("llvm."))
            || (i.callee().is_some()
                && depth > 0
                && callee.is_some_and(|f| f.count_basic_blocks() == 0 || leaves_globals(f, depth - 1)))
    };
    all.iter().all(|i| match i.op() {
        Some(Op::LLVMStore) => !is_global(i.operand(1)),
        Some(Op::LLVMCall | Op::LLVMInvoke) => may_call(i),
        _ => true,
    })
}

fn is_global(pointer: Value) -> bool {
    // SAFETY: asked of a live value.
    unsafe { LLVMIsConstant(pointer.base().0) != 0 }
}

fn is_constant(pointer: Value) -> bool {
    // SAFETY: a live value.
    unsafe {
        let global = LLVMIsAGlobalVariable(pointer.base().0);
        LLVMIsConstant(pointer.0) != 0 && (global.is_null() || LLVMIsGlobalConstant(global) != 0)
    }
}

/// Whether a pointer leads into a text, or into a thrown object without numbers.
fn is_message(pointer: Value) -> bool {
    let base = pointer.base();
    if base.is(Op::LLVMAlloca) {
        // SAFETY: the type of a live alloca.
        return !unsafe { thrown::holds_numbers(LLVMGetAllocatedType(base.0)) };
    }
    base.callee().is_some_and(|n| n == "__cxa_allocate_exception" || n.starts_with("_Znw"))
}
