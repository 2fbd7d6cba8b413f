//! Leaves values in memory that large derivatives keep for their end.
//!
//! ```text
//! %kept = alloca double                          ; one for each value that the reverse sweep needs again
//! store double %v, ptr %kept  ...  ret:  load double, ptr %kept
//! ```
//!
//! What is needed at the end of a sweep Enzyme stores in a variable of its own. Where a function returns in many places (`if (x < 0) return`), LLVM's
//! promotion of variables to values makes a phi of each at each merge of these paths: 8,034 in one block for Boost's incomplete beta function. InstCombine compares each with
//! each, and code generation has as many live values, which it puts into memory in the end. So where a function has many such variables, those
//! that are read in one block without a loop around it stay in memory.

use crate::analysis::cfg::LoopNest;
use crate::ir::{self, Op, Result, Value};
use crate::llvm::pipelines;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::LLVMTypeKind::{LLVMArrayTypeKind, LLVMStructTypeKind};
use llvm_sys::core::{LLVMGetAllocatedType, LLVMGetTypeKind, LLVMSetVolatile};
use std::collections::HashSet;

/// A function with fewer variables is promoted as a whole.
const MANY: usize = 256;

/// Marks the variables that stay: with volatile accesses LLVM does not promote them. Promotes the others.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    let mut are_others = false;
    for function in ir::functions(module) {
        let Some(entry) = ir::blocks(function).first().copied() else { continue };
        let mut variables: Vec<Value> = entry.instructions().into_iter().filter(is_plain).collect();
        if variables.len() > MANY {
            keep(function, &mut variables);
        }
        are_others |= !variables.is_empty();
    }
    if are_others { pipelines::promote(module) } else { Ok(()) }
}

/// Whether it is a variable for one number or address that is only read and written. Tapes are [`super::large_structs`]'.
fn is_plain(variable: &Value) -> bool {
    let is_access = |a: Value| a.is(Op::LLVMLoad) || a.is(Op::LLVMStore) && a.operand(1) == *variable;
    // SAFETY: asked of live variables only.
    let is_scalar = |v: Value| unsafe {
        !matches!(LLVMGetTypeKind(LLVMGetAllocatedType(v.0)), LLVMStructTypeKind | LLVMArrayTypeKind)
    };
    variable.is(Op::LLVMAlloca) && is_scalar(*variable) && variable.users().into_iter().all(is_access)
}

/// Marks those that are read in one block, without a loop around any access, and takes them from the list.
fn keep(function: FunctionValue<'_>, variables: &mut Vec<Value>) {
    let Some(nest) = LoopNest::of(function) else { return };
    let is_in_loop: Vec<bool> = (0..nest.blocks.len()).map(|block| nest.loops.iter().any(|l| l.body[block])).collect();
    variables.retain(|variable| {
        let accesses = variable.users();
        let reads: HashSet<_> = accesses.iter().filter(|a| a.is(Op::LLVMLoad)).map(|a| a.parent().0).collect();
        let stays = reads.len() == 1 && !accesses.iter().any(|a| is_in_loop[nest.cfg.number(a.parent())]);
        if stays {
            // SAFETY: live loads and stores.
            accesses.iter().for_each(|access| unsafe { LLVMSetVolatile(access.0, 1) });
        }
        !stays
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// How many accesses are volatile in a function with so many variables that are read at its end, and one that is read in a loop.
    fn kept(variables: usize) -> usize {
        let context = Context::create();
        let all = |line: &dyn Fn(usize) -> String| (0..variables).map(line).collect::<String>();
        let text = format!(
            "define double @f(double %x, i1 %c) {{\nentry:\n  %inner = alloca double\n{}{}  br label %loop\n\
             loop:\n  store double %x, ptr %inner\n  %v = load double, ptr %inner\n  br i1 %c, label %loop, label %end\n\
             end:\n{}  ret double %r0\n}}\n",
            all(&|i| format!("  %p{i} = alloca double\n")),
            all(&|i| format!("  store double %x, ptr %p{i}\n")),
            all(&|i| format!("  %r{i} = load double, ptr %p{i}\n")),
        );
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "variables");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        run(&module).expect("a pass of LLVM");
        let variables = ir::all_instructions(&module).iter().filter(|i| i.is(Op::LLVMAlloca)).count();
        assert!(variables == 0 || variables == 300, "the variable of the loop is promoted");
        let is_volatile = |i: &Value| {
            // SAFETY: asked of live loads and stores.
            (i.is(Op::LLVMLoad) || i.is(Op::LLVMStore)) && unsafe { llvm_sys::core::LLVMGetVolatile(i.0) } != 0
        };
        ir::all_instructions(&module).iter().filter(|i| is_volatile(i)).count()
    }

    #[test]
    fn many_variables_that_are_read_at_the_end_stay() {
        assert_eq!(kept(300), 600);
    }

    #[test]
    fn few_are_promoted() {
        assert_eq!(kept(20), 0);
    }
}
