//! Which outputs the prepared code reads back, although they were said to be only written.
//!
//! ```text
//! r = 1;  do while (abs(error) > tol);  error = g(r);  r = r - error;  end do       ! `r` is an output, and its own work variable
//! ```
//!
//! That an output is only written is known of code in which LLVM has made a variable of `r`. The code that Enzyme gets is prepared in other
//! ways, and may still have the loads. Enzyme drops all stores to the primal of an output that nobody needs, so the loads would read what was
//! there before the call: forward and reverse mode are then wrong alike.

use super::WRAPPER;
use crate::ir::markers::is_type_marker;
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::HashSet;

/// Those of these arguments of the wrapper that may be read.
pub fn read_back(module: &Module<'_>, arguments: &[usize]) -> Vec<usize> {
    let Some(wrapper) = module.get_function(WRAPPER) else { return arguments.to_vec() };
    let all = ir::arguments(wrapper);
    let may_be_read = |i: &&usize| all.get(**i).is_none_or(|a| a.is_pointer() && is_read(*a));
    arguments.iter().filter(may_be_read).copied().collect()
}

/// Whether anything may read the memory that a pointer is the address of. What is not known reads it.
fn is_read(pointer: Value) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![pointer]);
    while let Some(address) = open.pop() {
        if !seen.insert(address) {
            continue;
        }
        for user in address.users() {
            match user.op().filter(|_| user.is_instruction()) {
                Some(Op::LLVMGetElementPtr | Op::LLVMPHI | Op::LLVMSelect | Op::LLVMBitCast) => open.push(user),
                Some(Op::LLVMStore) if user.operand(0) != address => {}
                Some(Op::LLVMICmp) => {}
                Some(Op::LLVMCall) => match given_to(user, address) {
                    Some(arguments) => open.extend(arguments),
                    None => return true,
                },
                _ => return true,
            }
        }
    }
    false
}

/// The arguments of a function here that a call hands an address to; none where it only writes there. `None`: it may read.
fn given_to(call: Value, address: Value) -> Option<Vec<Value>> {
    let name = call.callee()?;
    if is_type_marker(&name) || name.starts_with("llvm.lifetime.") || name.starts_with("llvm.memset.") {
        return Some(Vec::new());
    }
    if ["llvm.memcpy.", "llvm.memmove."].iter().any(|copy| name.starts_with(copy)) {
        return (call.operand(1) != address).then(Vec::new);
    }
    // SAFETY: a live function, as the call names it.
    let callee = unsafe { FunctionValue::new(call.called()?.0) }?;
    let arguments = ir::arguments(callee);
    // The last operand is the function itself.
    let operands = call.operands();
    let operands = &operands[..operands.len().saturating_sub(1)];
    if callee.count_basic_blocks() == 0 || operands.len() != arguments.len() {
        return None;
    }
    Some(operands.iter().zip(arguments).filter(|(given, _)| **given == address).map(|(_, argument)| argument).collect())
}
