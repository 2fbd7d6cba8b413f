//! Hides from Enzyme's type analysis that the nodes of a `std::list`, `std::set` or `std::map` lead to a member of an object.
//!
//! ```text
//! struct Graph { std::map<double, double> memo; std::vector<double> terms; };     // header of the tree at 8; node: links to 32, key at 32, number at 40
//! ```
//!
//! Type analysis gives all that one pointer may lead to one type. The last node leads to the header, inside of the object, so what follows the
//! header there has the type of what a node has at that distance: the number of the node and the begin of the vector, both 40 bytes on, are
//! one ("Illegal updateAnalysis"). No program reads an element of the header. So the address of a header goes through a function
//! that type analysis does not look through ([`crate::ir::identity`]) where it becomes a link, or one of a phi's values. What else is at the header's place stays
//! as it is. [`super::container_counts`] does the same for the count behind the links.

use crate::ir::count_markers;
use crate::ir::identity::identity_fn;
use crate::ir::metadata::{attached, operands, text};
use crate::ir::{self, Op, Result, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Names of libstdc++'s links for TBAA.
const LINKS: [&str; 2] = ["_ZTSNSt8__detail15_List_node_baseE", "_ZTSSt18_Rb_tree_node_base"];

/// How far behind the beginning of a header its count is: of a list, of a tree.
const COUNTS: [i64; 2] = [16, 32];

/// An address: so many bytes behind a value.
type Place = (Value, i64);

/// Passes the addresses through the function.
///
/// # Errors
///
/// Errors of LLVM's builder.
pub fn run(module: &Module<'_>) -> Result<()> {
    for function in ir::functions(module) {
        let headers = headers(function);
        if headers.is_empty() {
            continue;
        }
        for (user, operand) in links(function, &headers) {
            // Another edge of a phi from the same block has been seen to.
            if !headers.contains(&place(user.operand(operand))) {
                continue;
            }
            hide(module, user, operand).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// The headers whose address becomes a link, or whose count is read or written.
fn headers(function: FunctionValue<'_>) -> HashSet<Place> {
    let mut found = HashSet::new();
    for i in instructions(function) {
        if is_link(i) && (i.operand(0).is_pointer() && !is_node(i.operand(0))) {
            found.insert(place(i.operand(0)));
        }
        if i.callee().is_some_and(|name| count_markers::is_access(&name)) {
            let (base, at) = place(i.operand(0));
            found.extend(COUNTS.map(|before| (base, at - before)));
        }
    }
    found
}

/// Where such addresses are stored, or values of a phi or a select: the user and the operand. What hooks nodes into a list writes links of another type.
fn links(function: FunctionValue<'_>, headers: &HashSet<Place>) -> Vec<(Value, u32)> {
    let mut found = Vec::new();
    for i in instructions(function) {
        let operands = match i.op() {
            Some(Op::LLVMStore) => 0..1,
            Some(Op::LLVMPHI) if i.is_pointer() => 0..i.operands().len() as u32,
            Some(Op::LLVMSelect) if i.is_pointer() => 1..3,
            _ => continue,
        };
        found.extend(operands.filter(|o| headers.contains(&place(i.operand(*o)))).map(|o| (i, o)));
    }
    found
}

fn instructions(function: FunctionValue<'_>) -> Vec<Value> {
    ir::blocks(function).into_iter().flat_map(|block| block.instructions()).collect()
}

/// Whether a store writes a link of a node or a header.
fn is_link(i: Value) -> bool {
    let base = i.is(Op::LLVMStore).then(|| operands(attached(i, c"tbaa")).first().copied()).flatten();
    let name = base.and_then(|base| operands(base).first().map(|name| text(*name)));
    name.is_some_and(|name| LINKS.contains(&name.as_str()))
}

/// Whether a pointer is to a node as a rule: what was allocated or loaded.
fn is_node(pointer: Value) -> bool {
    let plain = [Op::LLVMCall, Op::LLVMInvoke, Op::LLVMLoad, Op::LLVMPHI, Op::LLVMSelect];
    pointer.is_null_or_undefined() || plain.iter().any(|op| pointer.is(*op))
}

/// The value that an address is so many bytes behind.
fn place(address: Value) -> Place {
    let (mut base, mut bytes) = (address, 0);
    while base.is(Op::LLVMGetElementPtr)
        && let [from, offset] = base.operands()[..]
        && let Some(offset) = offset.constant()
        && is_of_bytes(base)
    {
        (base, bytes) = (from, bytes + offset);
    }
    (base, bytes)
}

/// Whether a `getelementptr` steps by bytes, as LLVM's pipeline writes constant offsets.
fn is_of_bytes(step: Value) -> bool {
    // SAFETY: asked of a live `getelementptr`; only an integer type has a width.
    unsafe {
        let element = LLVMGetGEPSourceElementType(step.0);
        LLVMGetTypeKind(element) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 8
    }
}

fn hide(module: &Module<'_>, user: Value, operand: u32) -> std::result::Result<(), inkwell::builder::BuilderError> {
    let header = user.operand(operand);
    let same = identity_fn(module, header)?.as_value_ref();
    let before = if user.is(Op::LLVMPHI) { user.incoming()[operand as usize].1.terminator() } else { user };
    // SAFETY: a live instruction that the address is available before, and a function of a pointer.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, before.0);
        let call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(same), same, &mut { header.0 }, 1, c"".as_ptr());
        // A phi has one value for all edges from a block.
        let from = user.is(Op::LLVMPHI).then(|| user.incoming()[operand as usize].1);
        for other in (0..user.operands().len() as u32).filter(|other| user.operand(*other) == header) {
            if other == operand || from.is_some_and(|block| user.incoming()[other as usize].1 == block) {
                LLVMSetOperand(user.0, other, call);
            }
        }
        LLVMDisposeBuilder(builder);
    }
    Ok(())
}
