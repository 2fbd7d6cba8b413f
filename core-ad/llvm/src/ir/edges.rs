//! Edits the edges of a CFG. An edge that is split has a marker in its new block, so that LLVM does not fold the block away.

use super::markers::edge_marker;
use super::{Block, Value, blocks};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMBuilderRef;
use std::collections::HashSet;

/// Redirects all edges from some blocks to one through a new block, whose marker has this id.
pub fn merge_edges(module: &Module<'_>, from: &[Block], to: Block, number: u64) -> Block {
    let phis = to.phis();
    // SAFETY: live blocks and values of one function; a phi is erased after its uses are replaced.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        let middle = Block(LLVMInsertBasicBlockInContext(context, to.0, c"".as_ptr()));
        LLVMPositionBuilderAtEnd(builder, middle.0);
        let marker = edge_marker(module).as_value_ref();
        // Numbered, so that LLVM never merges two such calls.
        let mut argument = LLVMConstInt(LLVMInt32TypeInContext(context), number, 0);
        let call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(marker), marker, &mut argument, 1, c"".as_ptr());
        LLVMBuildBr(builder, to.0);
        from.iter().for_each(|block| redirect(*block, to, middle));
        for phi in phis {
            LLVMPositionBuilderBefore(builder, call);
            let value = merge(builder, phi, from);
            replace_incoming(builder, phi, from, (value, middle));
        }
        LLVMDisposeBuilder(builder);
        middle
    }
}

/// Has a branch lead to one of its successors in any case. What only its other edges led to is left without predecessors.
pub fn keep_one(branch: Value, to: Block) {
    let from = branch.parent();
    from.successors().into_iter().filter(|block| *block != to).for_each(|block| drop_incoming(block, from));
    // SAFETY: a live branch, and a successor of it, whose phis have a value for its block.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(from.0))));
        LLVMPositionBuilderBefore(builder, branch.0);
        LLVMBuildBr(builder, to.0);
        LLVMDisposeBuilder(builder);
    }
    branch.erase();
}

/// Ends a block with a call of a function without arguments that does not return, in place of an instruction and what follows it.
pub fn end_with_call(from: Value, function: Value) {
    end_before(from, |builder| {
        // SAFETY: the builder stands in the function's module.
        unsafe {
            LLVMBuildCall2(builder, LLVMGlobalGetValueType(function.0), function.0, [].as_mut_ptr(), 0, c"".as_ptr())
        };
    });
}

/// Ends a block behind a call that does not return. Exceptions of an `invoke` go where they went.
pub fn end_after(call: Value) {
    if !call.is_terminator() {
        return end_before(call.next(), |_| {});
    }
    let (block, to) = (call.parent(), call.parent().successors()[0]);
    // SAFETY: a live `invoke`, and a new block of its function.
    unsafe {
        let context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block.0)));
        let end = LLVMAppendBasicBlockInContext(context, LLVMGetBasicBlockParent(block.0), c"".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, end);
        LLVMBuildUnreachable(builder);
        LLVMDisposeBuilder(builder);
        drop_incoming(to, block);
        LLVMSetSuccessor(call.0, 0, end);
    }
}

/// Erases an instruction and what follows it in its block, which ends with what is built then.
fn end_before(from: Value, build: impl FnOnce(LLVMBuilderRef)) {
    let block = from.parent();
    let to: HashSet<Block> = block.successors().into_iter().collect();
    to.into_iter().for_each(|next| drop_incoming(next, block));
    // The phis of the block itself may be new, where it leads to itself.
    let all = block.instructions();
    let gone = all.iter().skip_while(|i| **i != from);
    // SAFETY: live instructions, of which those that are used are used in what is erased or not reached.
    unsafe {
        for i in gone.collect::<Vec<_>>().into_iter().rev() {
            if LLVMGetTypeKind(i.ty()) != LLVMTypeKind::LLVMVoidTypeKind {
                LLVMReplaceAllUsesWith(i.0, LLVMGetPoison(i.ty()));
            }
            i.erase();
        }
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block.0))));
        LLVMPositionBuilderAtEnd(builder, block.0);
        build(builder);
        LLVMBuildUnreachable(builder);
        LLVMDisposeBuilder(builder);
    }
}

/// Rebuilds a block's phis without the values from one predecessor.
fn drop_incoming(block: Block, gone: Block) {
    for phi in block.phis() {
        let kept: Vec<(Value, Block)> = phi.incoming().into_iter().filter(|(_, from)| *from != gone).collect();
        // SAFETY: a live phi, which is erased after its uses are replaced by one of its other values.
        unsafe {
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(phi.ty()));
            LLVMPositionBuilderBefore(builder, phi.0);
            let instead = if kept.is_empty() { Value(LLVMGetPoison(phi.ty())) } else { like(builder, phi, &kept) };
            LLVMReplaceAllUsesWith(phi.0, instead.0);
            LLVMDisposeBuilder(builder);
        }
        phi.erase();
    }
}

/// A phi of another one's type and flags, with these edges, at the builder's position.
///
/// # Safety
///
/// The builder is positioned among the phis of a block, or before them; values and blocks are of its function.
unsafe fn like(builder: LLVMBuilderRef, phi: Value, edges: &[(Value, Block)]) -> Value {
    // SAFETY: by this function's promise.
    unsafe {
        let new = LLVMBuildPhi(builder, phi.ty(), c"".as_ptr());
        edges.iter().for_each(|(value, from)| LLVMAddIncoming(new, &mut { value.0 }, &mut { from.0 }, 1));
        Value(new).set_flags(phi.flags().unwrap_or(0));
        Value(new)
    }
}

/// Deletes the blocks of a function that no path from its beginning comes to.
pub fn delete_unreachable(function: FunctionValue<'_>) {
    let all = blocks(function);
    let mut open: Vec<Block> = all.first().copied().into_iter().collect();
    let mut reached: HashSet<Block> = open.iter().copied().collect();
    while let Some(block) = open.pop() {
        open.extend(block.successors().into_iter().filter(|next| reached.insert(*next)));
    }
    let (_, gone): (Vec<Block>, Vec<Block>) = all.into_iter().partition(|block| reached.contains(block));
    for block in &gone {
        let left: HashSet<Block> = block.successors().into_iter().filter(|next| reached.contains(next)).collect();
        left.into_iter().for_each(|next| drop_incoming(next, *block));
    }
    // SAFETY: live instructions of blocks that nothing reaches; values that are used are used in such blocks.
    unsafe {
        for i in gone.iter().flat_map(|block| block.instructions().into_iter().rev()) {
            if LLVMGetTypeKind(i.ty()) != LLVMTypeKind::LLVMVoidTypeKind {
                LLVMReplaceAllUsesWith(i.0, LLVMGetPoison(i.ty()));
            }
            i.erase();
        }
        gone.iter().for_each(|block| LLVMDeleteBasicBlock(block.0));
    }
}

/// Redirects the edges from one block to another. Their phis stay as they are.
pub fn redirect(from: Block, to: Block, instead: Block) {
    for (i, _) in (0u32..).zip(from.successors()).filter(|(_, successor)| *successor == to) {
        // SAFETY: the i-th successor of a live terminator.
        unsafe { LLVMSetSuccessor(from.terminator().0, i, instead.0) };
    }
}

/// Replaces a phi by one with a single edge, and its value, in place of those from some blocks.
///
/// # Safety
///
/// A live phi, and a value of its type that is available at the end of the new block.
pub unsafe fn replace_incoming(builder: LLVMBuilderRef, phi: Value, old: &[Block], new: (Value, Block)) {
    let others = phi.incoming().into_iter().filter(|(_, block)| !old.contains(block));
    let edges: Vec<(Value, Block)> = others.chain([new]).collect();
    // SAFETY: by this function's promise; the phi is erased after its uses are replaced.
    unsafe {
        LLVMPositionBuilderBefore(builder, phi.0);
        LLVMReplaceAllUsesWith(phi.0, like(builder, phi, &edges).0);
        phi.erase();
    }
}

/// The value of a phi for the edges from some blocks, built at the builder's position.
///
/// # Safety
///
/// The builder is positioned after the phis of a block whose predecessors are these blocks.
unsafe fn merge(builder: LLVMBuilderRef, phi: Value, from: &[Block]) -> Value {
    let (mut seen, mut ours) = (HashSet::new(), phi.incoming());
    ours.retain(|(_, block)| from.contains(block) && seen.insert(*block));
    if let [(value, _)] = ours[..] {
        return value;
    }
    // SAFETY: the phi's own values and blocks, by this function's promise.
    unsafe { like(builder, phi, &ours) }
}
