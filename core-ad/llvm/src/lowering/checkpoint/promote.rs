//! Makes small objects on the heap local variables, so that the addresses that they hold become values.
//!
//! ```text
//! Sim *s = malloc(sizeof *s);  s->u = malloc(n * 8);  loop { step(s); }      ; std::make_unique<Sim>(..) is the same
//! ```
//!
//! An address that is read from memory leads to an object of unknown size. SROA makes the members of a local variable values, and then `s->u` is the
//! allocation itself.

use crate::analysis::cfg::Cfg;
use crate::analysis::memory_objects::{Objects, allocates};
use crate::ir::{self, Op, Value};
use crate::lowering::caught::build::Edit;
use crate::rules::lifetimes::FREEING;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;

/// Objects up to this size are structures; larger ones are arrays.
const LARGEST: i64 = 4096;

/// Moves the objects of the functions with such loops; whether there were any.
pub fn run(module: &Module<'_>) -> bool {
    let edit = Edit::of(module);
    let mut any = false;
    for function in ir::functions(module).into_iter().filter(|f| !super::anchor::in_function(*f).is_empty()) {
        any |= promote(&edit, function);
    }
    any
}

fn promote(edit: &Edit, function: FunctionValue<'_>) -> bool {
    let blocks = ir::blocks(function);
    let cfg = Cfg::of(&blocks);
    let objects = Objects::of(function);
    let runs_again = |block| cfg.reached_from(block, |_| true)[block];
    let chosen: Vec<(Value, i64)> = blocks
        .iter()
        .filter(|block| !runs_again(cfg.number(**block)))
        .flat_map(|block| block.instructions())
        .filter_map(|i| Some((i, size(i)?)))
        .filter(|(i, _)| !objects.underlying(*i).iter().any(|number| objects.get(*number).escapes) && has_own_uses(*i))
        .collect();
    let entry = blocks[0].first_after_phis();
    chosen.iter().for_each(|(allocation, size)| replace(edit, *allocation, *size, entry));
    !chosen.is_empty()
}

/// The constant size of what a call allocates.
fn size(call: Value) -> Option<i64> {
    let name = call.callee().filter(|name| call.is(Op::LLVMCall) && allocates(name))?;
    let first = call.operand(0).constant()?;
    let bytes = if is_zeroed(&name) { first.checked_mul(call.operand(1).constant()?)? } else { first };
    (1..=LARGEST).contains(&bytes).then_some(bytes)
}

fn is_zeroed(name: &str) -> bool {
    matches!(name, "calloc" | "ffgrad_calloc")
}

fn is_free(call: Value) -> bool {
    call.callee().is_some_and(|name| FREEING.contains(&name.as_str()))
}

/// Whether no phi or select mixes the object with others: what is freed would not be known.
fn has_own_uses(pointer: Value) -> bool {
    pointer.users().into_iter().all(|user| match user.op() {
        Some(Op::LLVMPHI | Op::LLVMSelect) => false,
        Some(Op::LLVMGetElementPtr) => has_own_uses(user),
        _ => true,
    })
}

/// Puts a variable in an allocation's place, and drops what frees it.
fn replace(edit: &Edit, allocation: Value, size: i64, entry: Value) {
    let is_zero = allocation.callee().is_some_and(|name| is_zeroed(&name));
    for free in allocation.users().into_iter().filter(|user| is_free(*user)) {
        free.erase();
    }
    // SAFETY: live instructions of the function; the call is erased when nothing uses it.
    unsafe {
        edit.before(entry);
        let bytes = LLVMArrayType2(LLVMInt8TypeInContext(edit.context), size as u64);
        let variable = LLVMBuildAlloca(edit.builder, bytes, c"".as_ptr());
        LLVMSetAlignment(variable, 16);
        edit.before(allocation);
        if is_zero {
            let zero = LLVMConstInt(LLVMInt8TypeInContext(edit.context), 0, 0);
            LLVMBuildMemSet(edit.builder, variable, zero, edit.number(size as u64), 16);
        }
        LLVMReplaceAllUsesWith(allocation.0, variable);
    }
    allocation.erase();
}
