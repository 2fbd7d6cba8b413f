//! Runs a rewrite on every one-block loop of a module.

use crate::analysis::inner_loop::Loop;
use crate::analysis::memory_objects::Objects;
use crate::ir::{self, Result};
use crate::llvm::codegen;
use inkwell::module::Module;
use inkwell::targets::TargetData;

/// Runs it. A rewrite returns whether it changed memory accesses: the next loop then gets a fresh analysis of them.
pub fn rewrite(module: &Module<'_>, one: impl Fn(&Loop, &Objects, &TargetData) -> bool) -> Result<()> {
    let layout = codegen::target_machine("generic")?.get_target_data();
    for function in ir::functions(module) {
        let loops: Vec<Loop> = ir::blocks(function).into_iter().filter_map(Loop::of).collect();
        if loops.is_empty() {
            continue;
        }
        let mut objects = Objects::of(function);
        for each in loops {
            if one(&each, &objects, &layout) {
                objects = Objects::of(function);
            }
        }
    }
    Ok(())
}
