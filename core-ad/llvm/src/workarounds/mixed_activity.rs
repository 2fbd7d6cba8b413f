//! Requests runtime activity of Enzyme where memory holds pointers to constant inputs beside pointers to active data.
//!
//! ```text
//! struct Data { double *k, *w; };   d->k = k;  d->w = malloc(..);   phase(E[i], d);          // reads d->k[j], writes d->w[j]
//! ```
//!
//! Enzyme decides once for each pointer whether its pointee is active (`ActivityAnalyzer::isConstantValue`). `d` is active, for its `w`, so `d` gets a shadow; the pointer stored
//! there for the inactive `k` is `k` itself (`AdjointGenerator::visitCommonStore` with a constant value). A function that is not inlined sees
//! two pointers read from `d`, takes both for active, and loads their shadows from the shadow of `d`. So the reverse pass adds adjoints into the
//! caller's constant, and the forward mode reads its values as tangents (`tests/cases/enzyme_bugs/mixed_struct.c`). The smallest IR:
//!
//! ```text
//! store ptr %k, ptr %d                                   ; Enzyme: store ptr %k, ptr %"d'"
//! call void @phase(double %e, ptr %d)                    ; there: %k' = load ptr, ptr %"d'";  *%k' += adjoint
//! ```
//!
//! A table that owns memory (`static const std::vector<double>`) is inactive, too, and what it leads to has no shadow. So where its address meets
//! another in a phi, is returned, or is given to a call through a pointer, the same is wrong (`tests/cases/enzyme_bugs/shared_tables.cpp`).
//!
//! Enzyme can compare pointer and shadow at run time, and skip memory that is its own shadow: `enzyme_runtime_activity`. It is requested where the address of
//! a constant input of floating-point numbers, or of a table that no call changes, is stored anywhere, and for such an owner. The reverse pass would add adjoints to such a
//! table, which is in read-only memory: SIGSEGV (`tests/cases/enzyme_bugs/mixed_table.c`).

use super::inactive_globals;
use crate::analysis::global_uses::is_expression;
use crate::analysis::memory_objects::{contains_floats, holds_numbers_only};
use crate::entry::requests;
use crate::ir::markers::is_type_marker;
use crate::ir::{Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, GlobalValue};
use llvm_sys::core::*;
use std::collections::HashSet;

const RUNTIME_ACTIVITY: &str = "enzyme_runtime_activity";

/// Requests runtime activity where it is needed. Called before Enzyme, after inlining.
pub fn run(module: &Module<'_>) {
    let calls = requests::all(module);
    let mut seen = HashSet::new();
    let given = calls.iter().flat_map(|call| constants(*call)).filter(|c| holds_floats(*c));
    let is_mixed = given.chain(tables(module)).any(|c| is_stored(c, &mut seen, false));
    if is_mixed || owners(module).any(|c| is_stored(c, &mut seen, true)) {
        calls.into_iter().for_each(|call| requests::add(module, call, RUNTIME_ACTIVITY));
    }
}

/// Whether a derivative is requested with runtime activity.
pub fn is_requested(module: &Module<'_>) -> bool {
    requests::all(module).into_iter().any(|call| requests::has(call, RUNTIME_ACTIVITY))
}

/// The arguments of a derivative's request that are marked constant: pointers, to floating-point data or not.
fn constants(call: Value) -> Vec<Value> {
    let mut arguments = call.operands();
    arguments.pop();
    let Some((function, rest)) = arguments.split_first() else { return Vec::new() };
    let (mut found, mut parameter, mut activity) = (Vec::new(), 0, String::new());
    for &argument in rest {
        if let Some(word) = requests::word(argument) {
            activity = word;
            continue;
        }
        // What follows is a shadow, which is no parameter.
        match activity.as_str() {
            "enzyme_dup" | "enzyme_dupnoneed" => activity = "shadow".to_owned(),
            "shadow" => continue,
            _ => activity.clear(),
        }
        // SAFETY: a function of the module, and a number below that of its parameters.
        unsafe {
            let is_function = !LLVMIsAFunction(function.0).is_null();
            if is_function && parameter < LLVMCountParams(function.0) && argument.is_pointer() && activity.is_empty() {
                found.push(Value(LLVMGetParam(function.0, parameter)));
            }
        }
        parameter += 1;
    }
    found
}

/// The globals of floating-point numbers that no call changes, as [`super::inactive_globals`] has found out.
fn tables(module: &Module<'_>) -> Vec<Value> {
    let is_inactive = |g: &GlobalValue<'_>| g.is_constant() || inactive_globals::is_marked(module, g);
    // SAFETY: the type of a live global.
    let has_floats = |g: &GlobalValue<'_>| unsafe { contains_floats(LLVMGlobalGetValueType(g.as_value_ref())) };
    module.get_globals().filter(|g| is_inactive(g) && has_floats(g)).map(|g| Value(g.as_value_ref())).collect()
}

/// The objects with addresses in them that no call changes, but that are filled: at load, or by the first call.
fn owners(module: &Module<'_>) -> impl Iterator<Item = Value> {
    let is_inactive = |g: &GlobalValue<'_>| !g.is_constant() && inactive_globals::is_marked(module, g);
    let all = module.get_globals().filter(is_inactive).map(|g| Value(g.as_value_ref()));
    // SAFETY: the type of a live global.
    let has_addresses = |g: &Value| unsafe { !holds_numbers_only(LLVMGlobalGetValueType(g.0)) };
    all.filter(has_addresses).collect::<Vec<_>>().into_iter()
}

/// Whether a parameter points to floating-point numbers: then the wrapper marks it so.
fn holds_floats(parameter: Value) -> bool {
    let is_number_access = |user: Value| user.callee().is_some_and(|name| is_type_marker(&name));
    parameter.users().into_iter().any(is_number_access)
}

/// Whether an address is stored, here or in a function that it is given to. Of an object that owns memory: or meets another, is
/// returned, or is given to what is not known.
fn is_stored(pointer: Value, seen: &mut HashSet<Value>, owns: bool) -> bool {
    let mut open = vec![pointer];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        for user in value.users() {
            match user.op() {
                Some(Op::LLVMPHI | Op::LLVMSelect | Op::LLVMRet) if owns => return true,
                Some(Op::LLVMCall | Op::LLVMInvoke) if owns && !user.calls_a_body() && user.callee().is_none() => {
                    return true;
                }
                Some(Op::LLVMGetElementPtr | Op::LLVMPHI | Op::LLVMSelect) if user.is_pointer() => open.push(user),
                Some(Op::LLVMStore) if user.operand(0) == value => return true,
                Some(Op::LLVMInsertValue) => return true,
                Some(Op::LLVMCall | Op::LLVMInvoke) => open.extend(parameters(user, value)),
                None if is_expression(user) => open.push(user),
                _ => {}
            }
        }
    }
    false
}

/// The parameters that a call gives a pointer to.
fn parameters(call: Value, pointer: Value) -> Vec<Value> {
    // SAFETY: a live call; a function's parameters are asked for by their numbers.
    unsafe {
        let called = LLVMGetCalledValue(call.0);
        if LLVMIsAFunction(called).is_null() || LLVMCountBasicBlocks(called) == 0 {
            return Vec::new();
        }
        let given = LLVMGetNumArgOperands(call.0).min(LLVMCountParams(called));
        (0..given).filter(|i| call.operand(*i) == pointer).map(|i| Value(LLVMGetParam(called, i))).collect()
    }
}
