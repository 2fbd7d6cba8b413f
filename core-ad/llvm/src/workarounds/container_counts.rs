//! Reads and writes the number of elements of `std::list`, `std::set` and `std::map` by functions that Enzyme does not look into.
//!
//! ```text
//! std::list<double> l;      // header {next, previous, count}, nodes {next, previous, double}; the last node leads back to the header
//! ```
//!
//! Enzyme's type analysis gives all that one pointer may lead to one type. A loop over the nodes ends at the header, so it finds a `double`
//! and an integer at one offset, and refuses ("Illegal updateAnalysis"). No program reads an element of the header: what is there is for the
//! container alone. A call without a body has no type, and is inactive.

use crate::ir::count_markers::{count_reader, count_writer};
use crate::ir::metadata::{attached, number, operands, text};
use crate::ir::{self, Op, Value};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;

/// Names of libstdc++'s headers for TBAA, and where each has its count.
const HEADERS: [(&str, u64); 2] = [("_ZTSNSt8__detail17_List_node_headerE", 16), ("_ZTSSt15_Rb_tree_header", 32)];

/// Replaces the accesses.
pub fn run(module: &Module<'_>) {
    ir::all_instructions(module).into_iter().filter(|i| is_of_count(*i)).for_each(|i| hide(module, i));
}

/// Replaces a load or store of an integer by a call that Enzyme does not look into.
pub fn hide(module: &Module<'_>, access: Value) {
    let is_load = access.is(Op::LLVMLoad);
    // SAFETY: a live access of an integer.
    let bits = unsafe { LLVMGetIntTypeWidth(if is_load { access.ty() } else { access.operand(0).ty() }) };
    match is_load {
        true => call(module, access, count_reader(module, bits), &mut [access.operand(0).0]),
        false => call(module, access, count_writer(module, bits), &mut [access.operand(1).0, access.operand(0).0]),
    }
}

/// Whether it loads or stores the count of a header, by its tag.
fn is_of_count(i: Value) -> bool {
    let is_word = |value: Value| {
        // SAFETY: a live type.
        unsafe {
            LLVMGetTypeKind(value.ty()) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind
                && LLVMGetIntTypeWidth(value.ty()) == 64
        }
    };
    let word = match i.op() {
        Some(Op::LLVMLoad) => is_word(i),
        Some(Op::LLVMStore) => is_word(i.operand(0)),
        _ => false,
    };
    let tag = if word { operands(attached(i, c"tbaa")) } else { Vec::new() };
    match tag[..] {
        [base, _, offset, ..] => number(offset).is_some_and(|offset| leads_to_count(base, offset)),
        _ => false,
    }
}

/// Whether the member of a type of TBAA at an offset is the count of a header in it.
fn leads_to_count(mut ty: LLVMValueRef, mut offset: u64) -> bool {
    loop {
        let parts = operands(ty);
        let name = parts.first().map_or_else(String::new, |first| text(*first));
        if HEADERS.contains(&(name.as_str(), offset)) {
            return true;
        }
        // A structure is a name, and pairs of a type and an offset; a scalar is a name, its parent and 0.
        let members = parts.get(1..).unwrap_or_default().chunks_exact(2);
        let around = members.filter_map(|m| Some((m[0], number(m[1])?))).rfind(|(_, at)| *at <= offset);
        match around {
            Some((member, at)) if parts.len() > 3 || !is_scalar(member) => (ty, offset) = (member, offset - at),
            _ => return false,
        }
    }
}

/// Whether a type of TBAA is what all scalars derive from.
fn is_scalar(ty: LLVMValueRef) -> bool {
    operands(ty).len() < 3 || operands(ty).first().is_some_and(|name| text(*name) == "omnipotent char")
}

fn call(module: &Module<'_>, access: Value, function: FunctionValue<'_>, arguments: &mut [LLVMValueRef]) {
    let callee = function.as_value_ref();
    // SAFETY: a live access of the module, and a function of it with these parameters.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        LLVMPositionBuilderBefore(builder, access.0);
        let ty = LLVMGlobalGetValueType(callee);
        let count = arguments.len() as u32;
        let made = LLVMBuildCall2(builder, ty, callee, arguments.as_mut_ptr(), count, c"".as_ptr());
        LLVMAddMetadataToInst(builder, made);
        LLVMDisposeBuilder(builder);
        if access.is(Op::LLVMLoad) {
            LLVMReplaceAllUsesWith(access.0, made);
        }
    }
    access.erase();
}
