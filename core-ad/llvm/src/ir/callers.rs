//! What comes to a call of some function, over other functions.

use super::{Block, Value, blocks, functions, is_argument};
use inkwell::module::Module;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::{LLVMGetLinkage, LLVMGetParam, LLVMGetParamParent};
use std::collections::HashSet;

/// The names of these functions and of all that call one of them, and the calls.
pub fn of(module: &Module<'_>, mut names: HashSet<String>) -> (HashSet<String>, Vec<Value>) {
    let calls: Vec<(String, Value, String)> = functions(module)
        .into_iter()
        .flat_map(|f| {
            let caller = f.get_name().to_string_lossy().into_owned();
            let all = blocks(f).into_iter().flat_map(Block::instructions);
            all.filter_map(|i| Some((i, i.callee()?)))
                .map(|(i, callee)| (caller.clone(), i, callee))
                .collect::<Vec<_>>()
        })
        .collect();
    loop {
        let before = names.len();
        for (caller, _, callee) in &calls {
            if names.contains(callee) && !names.contains(caller) {
                names.insert(caller.clone());
            }
        }
        if names.len() == before {
            let calls = calls.into_iter().filter(|(_, _, callee)| names.contains(callee)).map(|(_, call, _)| call);
            let calls = calls.collect();
            return (names, calls);
        }
    }
}

/// What all calls of a function give for an argument, if that is one constant, as the address of a global; else the argument itself.
pub fn given(argument: Value) -> Value {
    if !is_argument(argument) {
        return argument;
    }
    // SAFETY: the function of a live argument, and its arguments, of which it is one.
    let (function, before, is_internal) = unsafe {
        let function = LLVMGetParamParent(argument.0);
        let before = (0..).take_while(|i| LLVMGetParam(function, *i) != argument.0).count() as u32;
        (Value(function), before, LLVMGetLinkage(function) == LLVMLinkage::LLVMInternalLinkage)
    };
    if !is_internal {
        return argument;
    }
    let of_call = |call: Value| (call.called() == Some(function)).then(|| call.operand(before));
    let given: Option<HashSet<Value>> = function.users().into_iter().map(of_call).collect();
    match given.map(Vec::from_iter).as_deref() {
        Some([one]) if !one.is_instruction() && !is_argument(*one) => *one,
        _ => argument,
    }
}
