//! Whether a global is only read: what becomes of its address, through calls of functions with bodies.

use crate::ir::{Op, Value};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::HashSet;

/// How many tables, each in the next one, may stand before a global: `static struct model *models[]` of structs that point to it.
const MOST_TABLES: usize = 3;

/// Whether no function of `reachable` writes to a global. `constant`: the source says that it is, so its address may go anywhere.
pub fn is_only_read(global: Value, reachable: &HashSet<LLVMValueRef>, constant: bool) -> bool {
    let mut walk = Walk { reachable, constant, seen: HashSet::new(), open: vec![Address { value: global, loads: 0 }] };
    while let Some(address) = walk.open.pop() {
        if walk.seen.insert(address) && !address.value.users().into_iter().all(|user| walk.is_harmless(user, address)) {
            return false;
        }
    }
    true
}

/// A value from which so many loads lead to the global's address; with none it is that.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Address {
    value: Value,
    loads: usize,
}

/// The addresses that a global's is known under.
struct Walk<'a> {
    reachable: &'a HashSet<LLVMValueRef>,
    constant: bool,
    seen: HashSet<Address>,
    open: Vec<Address>,
}

impl Walk<'_> {
    /// Whether a use writes nothing. Addresses that are made of this one are looked at later.
    fn is_harmless(&mut self, user: Value, address: Address) -> bool {
        let same = Address { value: user, ..address };
        if !user.is_instruction() {
            return is_expression(user) && self.follow(same) || self.is_in_table(user, address) || self.constant;
        }
        // SAFETY: a live instruction.
        if !self.reachable.contains(&unsafe { LLVMGetBasicBlockParent(user.parent().0) }) {
            return true;
        }
        match user.op() {
            Some(Op::LLVMLoad) if address.loads == 0 => true,
            Some(Op::LLVMLoad) => self.loads_harmlessly(user, address) || self.constant,
            Some(Op::LLVMICmp) => true,
            Some(Op::LLVMGetElementPtr | Op::LLVMPHI | Op::LLVMSelect) => self.follow(same),
            Some(Op::LLVMRet) => self.is_returned(user, address),
            Some(Op::LLVMStore) => self.constant && user.operand(1) != address.value,
            Some(Op::LLVMCall | Op::LLVMInvoke) => self.only_reads(user, address),
            _ => self.constant,
        }
    }

    fn follow(&mut self, address: Address) -> bool {
        self.open.push(address);
        true
    }

    /// Whether it is a table, constant or not, that begins with the address in it: what is read from it is looked at later.
    fn is_in_table(&mut self, user: Value, address: Address) -> bool {
        // SAFETY: asked of live values.
        let (is_global, is_aggregate) = unsafe {
            (
                !LLVMIsAGlobalVariable(user.0).is_null(),
                !LLVMIsAConstantStruct(user.0).is_null() || !LLVMIsAConstantArray(user.0).is_null(),
            )
        };
        let loads = address.loads + usize::from(is_global);
        (is_global || is_aggregate) && loads <= MOST_TABLES && self.follow(Address { value: user, loads })
    }

    /// Whether what is read from a table is no address, or one that is looked at later.
    fn loads_harmlessly(&mut self, load: Value, table: Address) -> bool {
        if load.is_pointer() {
            return self.follow(Address { value: load, loads: table.loads - 1 });
        }
        // SAFETY: a live type.
        let kind = unsafe { LLVMGetTypeKind(load.ty()) };
        let passes_on = |user: &Value| matches!(user.op(), Some(Op::LLVMStore | Op::LLVMIntToPtr));
        match kind {
            LLVMTypeKind::LLVMIntegerTypeKind => !load.users().iter().any(passes_on),
            _ => load.holds_floats(),
        }
    }

    /// Whether all who get the address from a function are known: they are looked at later.
    fn is_returned(&mut self, by: Value, address: Address) -> bool {
        // SAFETY: a live instruction.
        let function = Value(unsafe { LLVMGetBasicBlockParent(by.parent().0) });
        let (calls, others): (Vec<Value>, Vec<Value>) =
            function.users().into_iter().partition(|user| user.called() == Some(function));
        self.open.extend(calls.into_iter().map(|value| Address { value, ..address }));
        others.is_empty() || self.constant
    }

    /// Whether a call only reads what it gets an address of.
    fn only_reads(&mut self, call: Value, address: Address) -> bool {
        // SAFETY: asked of a live instruction.
        if !unsafe { LLVMIsAMemIntrinsic(call.0) }.is_null() {
            // Copied from, not to, and no addresses copied.
            return call.operand(0) != address.value && (address.loads == 0 || self.constant);
        }
        let Some(callee) = call.called().filter(|_| call.calls_a_body()) else { return self.constant };
        // SAFETY: a live function, whose parameters are asked for by their numbers.
        unsafe {
            let (given, known) = (LLVMGetNumArgOperands(call.0), LLVMCountParams(callee.0));
            let numbers = (0..given).filter(|i| call.operand(*i) == address.value);
            let parameters: Option<Vec<Value>> =
                numbers.map(|i| (i < known).then(|| Value(LLVMGetParam(callee.0, i)))).collect();
            let is_followed = parameters.is_some();
            self.open.extend(parameters.unwrap_or_default().into_iter().map(|value| Address { value, ..address }));
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
