//! Several edges from one switch to one block.
//!
//! ```text
//! switch (n) { case 1: case 2: break;  default: t = 0; }  y = a * t;
//! ```
//!
//! Behind such a switch a number may come by two edges from the same block, and the engine adds its adjoint once for each: twice
//! too much (`tests/torture/found/p50004.c`). LLVM makes such switches of comparisons, too. So the edges are led through a block of
//! their own, with a marker in it: LLVM would put an empty block back.

use crate::entries::edge_marker;
use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use std::collections::HashSet;

/// Leads them together. To be called last before the engine.
pub fn join(module: &Module<'_>) {
    let mut done = 0;
    for function in ir::functions(module) {
        for block in ir::blocks(function).into_iter().filter(|b| b.terminator().is(Op::LLVMSwitch)) {
            for target in repeated(block) {
                join_edges(module, block, target, done);
                done += 1;
            }
        }
    }
}

/// The successors that are reached by more than one edge. Where no number comes by them yet, the engine's own clean-up may let one.
fn repeated(block: Block) -> Vec<Block> {
    let (mut once, mut twice) = (HashSet::new(), HashSet::new());
    block.successors().into_iter().filter(|s| !once.insert(*s) && twice.insert(*s)).collect()
}

fn join_edges(module: &Module<'_>, from: Block, to: Block, number: usize) {
    let phis = to.phis();
    // SAFETY: live blocks and values of one function; a phi is erased after its uses are replaced.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let mut middle = LLVMInsertBasicBlockInContext(context, to.0, c"".as_ptr());
        LLVMPositionBuilderAtEnd(builder, middle);
        let marker = edge_marker(module).as_value_ref();
        // A number, so that two such calls are never taken for one.
        let mut argument = LLVMConstInt(LLVMInt32TypeInContext(context), number as u64, 0);
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut argument, 1, c"".as_ptr());
        LLVMBuildBr(builder, to.0);
        let switch = from.terminator();
        for (i, successor) in (0u32..).zip(from.successors()) {
            if successor == to {
                LLVMSetSuccessor(switch.0, i, middle);
            }
        }
        for phi in phis {
            LLVMPositionBuilderBefore(builder, phi.0);
            let new = LLVMBuildPhi(builder, phi.ty(), c"".as_ptr());
            let (mut ours, others): (Vec<_>, Vec<_>) = phi.incoming().into_iter().partition(|(_, b)| *b == from);
            for (value, block) in others {
                LLVMAddIncoming(new, &mut { value.0 }, &mut { block.0 }, 1);
            }
            if let Some((value, _)) = ours.pop() {
                LLVMAddIncoming(new, &mut { value.0 }, &mut middle, 1);
            }
            Value(new).set_flags(phi.flags().unwrap_or(0));
            LLVMReplaceAllUsesWith(phi.0, new);
            phi.erase();
        }
        LLVMDisposeBuilder(builder);
    }
}
