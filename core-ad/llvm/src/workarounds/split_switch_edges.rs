//! Several edges from one switch to one block.
//!
//! ```text
//! switch (n) { case 1: case 2: break;  case 3: unused = n; break;  default: t = 0; }  y = a * t;
//! ```
//!
//! Behind such a switch a number may come by several edges from the same block, and the engine adds its adjoint once for each: too often
//! (`tests/torture/found/p50004.c`). LLVM makes such switches of comparisons, too, and of blocks in which nothing is left to do, in the
//! engine as well (`tests/torture/found/p95653.c`). So each successor of a switch is reached through a block of its own, with a marker
//! in it: LLVM would put an empty block back.

use crate::ir::edges::join_all;
use crate::ir::{self, Block, Op};
use inkwell::module::Module;
use std::collections::HashSet;

/// Leads them together, and keeps the others apart. To be called last before the engine.
pub fn join(module: &Module<'_>) {
    let mut done = 0;
    for function in ir::functions(module) {
        for block in ir::blocks(function).into_iter().filter(|b| b.terminator().is(Op::LLVMSwitch)) {
            for target in targets(block) {
                join_all(module, &[block], target, done);
                done += 1;
            }
        }
    }
}

/// The successors of a switch, each once. One with two edges is a branch; what is never reached needs no way back.
fn targets(block: Block) -> Vec<Block> {
    let mut successors = block.successors();
    if successors.len() < 3 {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    successors.retain(|s| !s.terminator().is(Op::LLVMUnreachable) && seen.insert(*s));
    successors
}
