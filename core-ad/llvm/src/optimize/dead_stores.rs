//! Dead-store elimination for the reverse mode, into memory that the caller drops.
//!
//! Enzyme runs the function forward once more, for the values that the reverse sweep needs. Where it needs none (a linear
//! time stepper), the forward sweep is still there: its state is in memory that the caller gave, which LLVM must assume to
//! be read afterwards. Here it is known which memory the caller drops (`PRIVATE` in `ir/markers.rs`). What is stored to memory that is
//! only read to compute what is stored there is dead, also through the back edge of a time loop; the stores go, and LLVM
//! removes the computations that fed them.

use crate::analysis::memory_objects::{self, Objects};
use crate::ir::markers::{GRADIENT, PRIVATE};
use crate::ir::{self, Op, Value};
use inkwell::attributes::AttributeLoc;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use std::collections::HashSet;

/// Removes the dead stores of the reverse mode.
pub fn eliminate_dead_stores(module: &Module<'_>) {
    let Some(function) = module.get_function(GRADIENT).filter(|f| f.count_basic_blocks() > 0) else { return };
    let objects = Objects::of(function);
    let alive = Liveness::of(function, &objects);
    let dead: HashSet<Value> = (objects.iter())
        .filter(|(i, _)| !alive.objects.contains(i))
        .flat_map(|(_, object)| object.writes.iter().copied())
        .filter(|write| !alive.values.contains(write))
        .collect();
    for write in dead {
        write.erase();
    }
}

/// What can be seen from outside: values and objects.
struct Liveness {
    values: HashSet<Value>,
    objects: HashSet<usize>,
}

impl Liveness {
    fn of(function: FunctionValue<'_>, objects: &Objects) -> Liveness {
        let mut found = Liveness { values: HashSet::new(), objects: HashSet::new() };
        let mut open: Vec<Value> = Vec::new();
        for (number, object) in objects.iter() {
            if object.escapes || !is_dropped(function, object) {
                found.mark_live(number, objects, &mut open);
            }
        }
        let all = ir::blocks(function).into_iter().flat_map(ir::Block::instructions);
        open.extend(all.filter(|i| has_effect(*i, objects)));
        while let Some(value) = open.pop() {
            if !found.values.insert(value) {
                continue;
            }
            open.extend(value.operands().into_iter().filter(|o| o.is_instruction()));
            for pointer in reads_from(value) {
                for &number in objects.underlying(pointer) {
                    found.mark_live(number, objects, &mut open);
                }
            }
        }
        found
    }

    /// A live object makes everything that writes to it live.
    fn mark_live(&mut self, number: usize, objects: &Objects, open: &mut Vec<Value>) {
        if self.objects.insert(number) {
            open.extend(&objects.get(number).writes);
        }
    }
}

/// Whether what stands in an object when the function returns is lost anyway.
fn is_dropped(function: FunctionValue<'_>, object: &memory_objects::Object) -> bool {
    match object.parameter {
        Some(i) => function.get_string_attribute(AttributeLoc::Param(i), PRIVATE).is_some(),
        None => true,
    }
}

/// The pointers that an instruction may read through.
fn reads_from(value: Value) -> Vec<Value> {
    match value.op() {
        Some(Op::LLVMLoad) => vec![value.operand(0)],
        Some(Op::LLVMCall) => match value.callee().unwrap_or_default() {
            name if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") => vec![value.operand(1)],
            // `free` does not read the memory; a freed address that was loaded is an operand.
            name if memory_objects::is_neutral(&name) => Vec::new(),
            _ => value.operands(),
        },
        _ => Vec::new(),
    }
}

/// Whether an instruction does something whatever becomes of its value. Writes to known objects do it only if the
/// object is live.
fn has_effect(value: Value, objects: &Objects) -> bool {
    let to_known = |pointer| !objects.underlying(pointer).is_empty();
    match value.op() {
        Some(Op::LLVMStore) => value.is_special() || !to_known(value.operand(1)),
        Some(Op::LLVMLoad) => value.is_special(),
        Some(Op::LLVMCall) => {
            let name = value.callee().unwrap_or_default();
            let moves = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|p| name.starts_with(p));
            if moves { !to_known(value.operand(0)) } else { !value.only_computes() }
        }
        Some(op) => {
            matches!(
                op,
                Op::LLVMInvoke
                    | Op::LLVMFence
                    | Op::LLVMAtomicRMW
                    | Op::LLVMAtomicCmpXchg
                    | Op::LLVMCallBr
                    | Op::LLVMVAArg
            ) || value.is_terminator()
        }
        None => false,
    }
}
