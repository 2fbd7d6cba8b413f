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
use llvm_sys::prelude::LLVMBuilderRef;
use std::collections::HashSet;

/// What the numbers of the blocks that [`crate::bypasses`] makes begin with.
pub const FIRST_OF_BYPASSES: u64 = 1 << 24;

/// Leads them together. To be called last before the engine.
pub fn join(module: &Module<'_>) {
    let mut done = 0;
    for function in ir::functions(module) {
        for block in ir::blocks(function).into_iter().filter(|b| b.terminator().is(Op::LLVMSwitch)) {
            for target in repeated(block) {
                join_all(module, &[block], target, done);
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

/// Leads all edges from some blocks to one through a block of their own, whose marker has this number.
pub fn join_all(module: &Module<'_>, from: &[Block], to: Block, number: u64) {
    let phis = to.phis();
    // SAFETY: live blocks and values of one function; a phi is erased after its uses are replaced.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let middle = Block(LLVMInsertBasicBlockInContext(context, to.0, c"".as_ptr()));
        LLVMPositionBuilderAtEnd(builder, middle.0);
        let marker = edge_marker(module).as_value_ref();
        // A number, so that two such calls are never taken for one.
        let mut argument = LLVMConstInt(LLVMInt32TypeInContext(context), number, 0);
        let call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut argument, 1, c"".as_ptr());
        LLVMBuildBr(builder, to.0);
        for block in from {
            for (i, successor) in (0u32..).zip(block.successors()) {
                if successor == to {
                    LLVMSetSuccessor(block.terminator().0, i, middle.0);
                }
            }
        }
        for phi in phis {
            LLVMPositionBuilderBefore(builder, call);
            let value = merge(builder, phi, from);
            LLVMPositionBuilderBefore(builder, phi.0);
            let new = LLVMBuildPhi(builder, phi.ty(), c"".as_ptr());
            for (value, block) in phi.incoming().into_iter().filter(|(_, b)| !from.contains(b)) {
                LLVMAddIncoming(new, &mut { value.0 }, &mut { block.0 }, 1);
            }
            LLVMAddIncoming(new, &mut { value.0 }, &mut { middle.0 }, 1);
            Value(new).set_flags(phi.flags().unwrap_or(0));
            LLVMReplaceAllUsesWith(phi.0, new);
            phi.erase();
        }
        LLVMDisposeBuilder(builder);
    }
}

/// What comes to a phi from some blocks, as one value, where the builder stands.
///
/// # Safety
///
/// The builder stands behind the phis of a block that these blocks lead to.
unsafe fn merge(builder: LLVMBuilderRef, phi: Value, from: &[Block]) -> Value {
    let (mut seen, mut ours) = (HashSet::new(), phi.incoming());
    ours.retain(|(_, block)| from.contains(block) && seen.insert(*block));
    if let [(value, _)] = ours[..] {
        return value;
    }
    // SAFETY: the phi's own values and blocks, by this function's promise.
    unsafe {
        let new = LLVMBuildPhi(builder, phi.ty(), c"".as_ptr());
        for (value, block) in ours {
            LLVMAddIncoming(new, &mut { value.0 }, &mut { block.0 }, 1);
        }
        Value(new).set_flags(phi.flags().unwrap_or(0));
        Value(new)
    }
}
