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

use crate::entries::edge_marker;
use crate::ir::{self, Block, Op, Value};
use inkwell::module::Module;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;
use std::collections::HashSet;

/// What the numbers of the blocks that [`crate::bypasses`] makes begin with.
pub const FIRST_OF_BYPASSES: u64 = 1 << 24;

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

/// Leads all edges from some blocks to one through a block of their own, whose marker has this number.
pub fn join_all(module: &Module<'_>, from: &[Block], to: Block, number: u64) -> Block {
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
        middle
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
