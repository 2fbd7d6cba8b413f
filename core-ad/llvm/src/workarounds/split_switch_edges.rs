//! Splits switch edges: each successor of a switch gets one edge, through a block of its own.
//!
//! ```text
//! switch (n) { case 1: case 2: break;  case 3: unused = n; break;  default: t = 0; }  y = a * t;
//! ```
//!
//! Behind such a switch a phi may have several incoming edges from the same block, and Enzyme adds its adjoint once for each:
//! too often (`tests/cases/enzyme_bugs/switch_labels_generated.c`). LLVM creates such switches from comparisons, too, and from blocks that have
//! become empty, also inside Enzyme (`tests/cases/enzyme_bugs/empty_switch_cases_generated.c`). The new blocks contain a marker: LLVM would fold empty
//! blocks away.

use crate::ir::edges::merge_edges;
use crate::ir::{self, Block, Op};
use inkwell::module::Module;
use std::collections::HashSet;

/// Splits the edges of every switch.
pub fn run(module: &Module<'_>) {
    let mut done = 0;
    for function in ir::functions(module) {
        for block in ir::blocks(function).into_iter().filter(|b| b.terminator().is(Op::LLVMSwitch)) {
            for target in targets(block) {
                merge_edges(module, &[block], target, done);
                done += 1;
            }
        }
    }
}

/// The successors of a switch, each once. A switch with two edges is a branch; unreachable blocks have no reverse.
fn targets(block: Block) -> Vec<Block> {
    let mut successors = block.successors();
    if successors.len() < 3 {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    successors.retain(|s| !s.terminator().is(Op::LLVMUnreachable) && seen.insert(*s));
    successors
}
