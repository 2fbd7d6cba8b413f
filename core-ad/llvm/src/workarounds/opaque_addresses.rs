//! Keeps apart the types of all memory that is reached through addresses in memory, for a pipeline of its own.
//!
//! Enzyme's type analysis gives all memory that one address may lead to one type. Code whose memory has several (a `std::variant`, closures and
//! lists whose heads are no nodes, a reader that walks through both) is refused by it ("Illegal updateAnalysis"), and in large structures it goes
//! on for ever. Here each address passes through [`markers::object`] where it is stored and where it is loaded, and type analysis does not look
//! through that. So the type of memory follows from the accesses of one function, and from nothing that is farther away.

use crate::analysis::virtual_tables::{is_from_table, is_loaded_table};
use crate::ir::{self, Op, Value, markers};
use inkwell::module::Module;
use llvm_sys::core::*;

/// Marks the addresses that are stored and loaded. Before `opaque-objects`, which gives the marker its body.
pub fn run(module: &Module<'_>) {
    for access in ir::all_instructions(module) {
        match access.op() {
            Some(Op::LLVMLoad) if access.is_pointer() && !access.is_special() => mark_loaded(module, access),
            Some(Op::LLVMStore) if access.operand(0).is_pointer() && !access.is_special() => {
                mark_stored(module, access)
            }
            _ => {}
        }
    }
}

/// Every use that looks at the memory, or passes the address on to what may.
fn mark_loaded(module: &Module<'_>, load: Value) {
    if is_loaded_table(load) || is_from_table(load) {
        return;
    }
    let users: Vec<Value> = load.users().into_iter().filter(|user| !only_compares(load, *user)).collect();
    if users.is_empty() {
        return;
    }
    let marked = mark(module, load, load.next());
    for user in users {
        replace(user, load, marked);
    }
}

/// Whether a user needs the address, and not what is there; or calls it.
fn only_compares(address: Value, user: Value) -> bool {
    let is_called = user.called() == Some(address);
    is_called || matches!(user.op(), Some(Op::LLVMICmp | Op::LLVMPtrToInt)) || is_stored(address, user)
}

fn is_stored(address: Value, user: Value) -> bool {
    user.is(Op::LLVMStore) && user.operand(0) == address
}

fn mark_stored(module: &Module<'_>, store: Value) {
    let address = store.operand(0);
    let is_new =
        address.is_instruction() && !address.is(Op::LLVMLoad) && !is_marked(address) || ir::is_argument(address);
    if is_new {
        let marked = mark(module, address, store);
        replace(store, address, marked);
    }
}

fn is_marked(value: Value) -> bool {
    value.callee().is_some_and(|name| name == markers::OBJECT)
}

/// A marked address, before an instruction.
fn mark(module: &Module<'_>, address: Value, place: Value) -> Value {
    // SAFETY: a live instruction, where the address is defined.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, place.0);
        let call = markers::call_object(module, builder, address.0, 0);
        LLVMDisposeBuilder(builder);
        Value(call)
    }
}

fn replace(user: Value, address: Value, marked: Value) {
    for (i, operand) in user.operands().into_iter().enumerate() {
        // An address that is stored stays as it was loaded, where it is stored through itself.
        if operand == address && !(i == 0 && user.is(Op::LLVMStore) && address.is(Op::LLVMLoad)) {
            // SAFETY: a live instruction that has this operand.
            unsafe { LLVMSetOperand(user.0, i as u32, marked.0) };
        }
    }
}
