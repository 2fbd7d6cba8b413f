//! Keeps the types of memory that a global leads to apart from the global's own.
//!
//! ```text
//! static const std::map<std::string, double> rates = {{"k", 1.2}, ...};      // its header is a member of the map, and the end of the tree
//! %node = phi ptr [ getelementptr (i8, ptr @rates, i64 8), %entry ], [ %next, %loop ]      ; rates.at(name)
//! ```
//!
//! To Enzyme's type analysis both have the type of a node. It adds that to the type of the global, drops what is beyond the global's size, takes this
//! for a change, and begins again, for ever. Where the address of a global that owns memory is merged with others, stored, or given to a function, it
//! passes through [`markers::object`], which type analysis does not look through. Loads and stores of the global's own members stay.
//!
//! The same holds for the type information of the C++ library's own types, which is declared as one address here and has two members, where a program asks an object
//! for its type (`std::any`, `typeid`): its name is the second one.
//!
//! And it holds for virtual tables, in the constructors of classes with several bases: what the table of one base leads to is added to the table of another, through
//! the type information at their beginning. `inactive-globals` marks the tables of exceptions, and all where no call through a pointer is left.

use crate::analysis::global_uses::is_expression;
use crate::analysis::memory_objects::holds_numbers_only;
use crate::analysis::virtual_tables::is_table;
use crate::ir::{self, Block, Op, Value, markers};
use crate::workarounds::inactive_globals::is_marked;
use crate::workarounds::opaque_objects;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, GlobalValue};
use llvm_sys::core::*;

/// Marks the addresses of globals that are filled at run time and have addresses in them. After `inactive-globals`, which knows whether they are
/// active.
pub fn run(module: &Module<'_>) {
    let mut count = 0;
    let is_inactive_table = |g: &GlobalValue<'_>| is_table(g.as_value_ref()) && is_marked(module, g);
    let is_filled = |g: &GlobalValue<'_>| !g.is_constant() && g.get_initializer().is_some();
    for global in module.get_globals().filter(|g| is_type_information(g) || is_inactive_table(g) || is_filled(g)) {
        let value = Value(global.as_value_ref());
        // SAFETY: the type of a live global.
        if unsafe { holds_numbers_only(LLVMGlobalGetValueType(value.0)) } {
            continue;
        }
        let inactive = is_marked(module, &global);
        for address in addresses(value) {
            count += mark_uses(module, address, inactive, is_type_information(&global));
        }
    }
    if let Some(view) = module.get_function(markers::OBJECT).filter(|_| count > 0) {
        opaque_objects::define(module, view);
    }
}

/// Whether it is type information that the C++ library has.
fn is_type_information(global: &GlobalValue<'_>) -> bool {
    global.get_initializer().is_none() && global.get_name().to_bytes().starts_with(b"_ZTI")
}

/// The address of a global, and constant addresses inside of it.
fn addresses(global: Value) -> Vec<Value> {
    let mut all = vec![global];
    let mut next = 0;
    while let Some(address) = all.get(next).copied() {
        next += 1;
        all.extend(address.users().into_iter().filter(|user| is_expression(*user)));
    }
    all
}

/// Marks an address where others than the global's members may be meant; returns in how many places.
fn mark_uses(module: &Module<'_>, address: Value, inactive: bool, is_declared: bool) -> usize {
    let mut count = 0;
    let mut users = address.users();
    users.dedup();
    for user in users.into_iter().filter(|user| user.is_instruction()) {
        match user.op() {
            Some(Op::LLVMPHI) => mark_incoming(module, user, address, inactive),
            Some(Op::LLVMSelect | Op::LLVMRet | Op::LLVMInsertValue) => replace(module, user, address, inactive),
            Some(Op::LLVMStore) if user.operand(0) == address => replace(module, user, address, inactive),
            // Beyond the declared size.
            Some(Op::LLVMLoad) if is_declared && is_expression(address) => replace(module, user, address, inactive),
            Some(Op::LLVMCall | Op::LLVMInvoke) if user.calls_a_body() && !is_marker(user) => {
                replace(module, user, address, inactive);
            }
            _ => continue,
        }
        count += 1;
    }
    count
}

fn is_marker(call: Value) -> bool {
    call.callee().is_some_and(|name| name.starts_with("ffgrad."))
}

fn replace(module: &Module<'_>, user: Value, address: Value, inactive: bool) {
    let marked = marked(module, address, user, inactive);
    let numbers = (0u32..).zip(user.operands()).filter(|(i, o)| *o == address && !(*i == 1 && user.is(Op::LLVMStore)));
    for (number, _) in numbers {
        // SAFETY: a live instruction that has this operand.
        unsafe { LLVMSetOperand(user.0, number, marked.0) };
    }
}

/// The same for what comes into a phi, at the end of each block that it comes from.
fn mark_incoming(module: &Module<'_>, phi: Value, address: Value, inactive: bool) {
    let mut made: Vec<(Block, Value)> = Vec::new();
    for (number, (value, from)) in (0u32..).zip(phi.incoming()) {
        if value != address {
            continue;
        }
        let known = made.iter().find(|(block, _)| *block == from).map(|(_, value)| *value);
        let marked = known.unwrap_or_else(|| marked(module, address, from.terminator(), inactive));
        made.push((from, marked));
        // SAFETY: a phi's values are its operands, in order.
        unsafe { LLVMSetOperand(phi.0, number, marked.0) };
    }
}

/// A marked address, before an instruction.
fn marked(module: &Module<'_>, address: Value, place: Value, inactive: bool) -> Value {
    // SAFETY: a live instruction; the address is a constant.
    let call = unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, place.0);
        let call = Value(markers::call_object(module, builder, address.0, 0));
        LLVMDisposeBuilder(builder);
        call
    };
    for key in [c"enzyme_inactive_val", c"enzyme_inactive_inst"] {
        if inactive {
            ir::metadata::mark(call, key);
        }
    }
    call
}
