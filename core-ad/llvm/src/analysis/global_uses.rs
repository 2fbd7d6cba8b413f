//! Whether a global is only read: what becomes of its address, through calls of functions with bodies.

use crate::ir::{Op, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashSet;

/// Whether no function of `reachable` writes to a global. `constant`: the source says that it is, so its address may go anywhere.
pub fn is_only_read(global: Value, reachable: &HashSet<LLVMValueRef>, constant: bool) -> bool {
    let mut walk = Walk { reachable, constant, seen: HashSet::new(), open: vec![global] };
    while let Some(address) = walk.open.pop() {
        if walk.seen.insert(address) && !address.users().into_iter().all(|user| walk.is_harmless(user, address)) {
            return false;
        }
    }
    true
}

/// The addresses that a global's is known under.
struct Walk<'a> {
    reachable: &'a HashSet<LLVMValueRef>,
    constant: bool,
    seen: HashSet<Value>,
    open: Vec<Value>,
}

impl Walk<'_> {
    /// Whether a use writes nothing. Addresses that are made of this one are looked at later.
    fn is_harmless(&mut self, user: Value, address: Value) -> bool {
        if !user.is_instruction() {
            // A constant expression; a global that holds the address may leak it.
            let is_expression = is_expression(user);
            self.open.extend(is_expression.then_some(user));
            return is_expression || self.constant;
        }
        // SAFETY: a live instruction.
        if !self.reachable.contains(&unsafe { LLVMGetBasicBlockParent(user.parent().0) }) {
            return true;
        }
        match user.op() {
            Some(Op::LLVMLoad | Op::LLVMICmp) => true,
            Some(Op::LLVMGetElementPtr | Op::LLVMPHI | Op::LLVMSelect) => {
                self.open.push(user);
                true
            }
            Some(Op::LLVMRet) => self.is_returned(user),
            Some(Op::LLVMStore) => self.constant && user.operand(1) != address,
            Some(Op::LLVMCall | Op::LLVMInvoke) => self.only_reads(user, address),
            _ => self.constant,
        }
    }

    /// Whether all who get the address from a function are known: they are looked at later.
    fn is_returned(&mut self, by: Value) -> bool {
        // SAFETY: a live instruction.
        let function = Value(unsafe { LLVMGetBasicBlockParent(by.parent().0) });
        let (calls, others): (Vec<Value>, Vec<Value>) =
            function.users().into_iter().partition(|user| user.called() == Some(function));
        self.open.extend(calls);
        others.is_empty() || self.constant
    }

    /// Whether a call only reads what it gets an address of.
    fn only_reads(&mut self, call: Value, address: Value) -> bool {
        // SAFETY: asked of a live instruction.
        if !unsafe { LLVMIsAMemIntrinsic(call.0) }.is_null() {
            // Copied from, not to.
            return call.operand(0) != address;
        }
        let Some(callee) = call.called().filter(|_| call.calls_a_body()) else { return self.constant };
        // SAFETY: a live function, whose parameters are asked for by their numbers.
        unsafe {
            let (given, known) = (LLVMGetNumArgOperands(call.0), LLVMCountParams(callee.0));
            let numbers = (0..given).filter(|i| call.operand(*i) == address);
            let parameters: Option<Vec<Value>> =
                numbers.map(|i| (i < known).then(|| Value(LLVMGetParam(callee.0, i)))).collect();
            let is_followed = parameters.is_some();
            self.open.extend(parameters.unwrap_or_default());
            is_followed || self.constant
        }
    }
}

/// Whether it is an address inside a global.
pub fn is_expression(value: Value) -> bool {
    // SAFETY: asked of a live value.
    !unsafe { LLVMIsAConstantExpr(value.0) }.is_null()
}

/// Whether a name is LLVM's, Enzyme's or this worker's.
pub fn is_ours(name: &[u8]) -> bool {
    [&b"llvm."[..], b"ffgrad", b"enzyme_", b"__enzyme"].iter().any(|p| name.starts_with(p))
}
