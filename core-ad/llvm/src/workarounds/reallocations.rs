//! Makes an allocation, a copy and a release of each `realloc`, in the pipeline `apart`.
//!
//! Enzyme wants to see where the old block was allocated, and refuses a block whose address comes from memory ("could not statically determine
//! size of realloc"): Eigen's permutations and sparse matrices grow so. How large the old block is the arena knows, and a block and its
//! shadow have one size there, because both were asked for with one size.
//!
//! What is copied the type of the old address tells, as clang gives it for the load of that address (`double *` in a structure), or what is read and
//! written there: there is one function for each type.

use crate::ir::markers::block_size;
use crate::ir::{self, Result, texts};
use crate::workarounds::{copy_types, struct_copies};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::core::*;

const NAME: &str = "ffgrad.realloc";

const BODY: &str = "
declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare i64 @ffgrad.block_size(ptr)
declare i64 @llvm.umin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define ptr @ffgrad.realloc(ptr %old, i64 %size) {
  %new = call ptr @malloc(i64 %size)
  %is.first = icmp eq ptr %old, null
  br i1 %is.first, label %end, label %check
check:
  %is.short = icmp eq ptr %new, null
  br i1 %is.short, label %fail, label %move
move:
  %had = call i64 @ffgrad.block_size(ptr %old)
  %bytes = call i64 @llvm.umin.i64(i64 %had, i64 %size)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %old, i64 %bytes, i1 false)
  call void @free(ptr %old)
  br label %fail
fail:
  br label %end
end:
  ret ptr %new
}
";

/// Replaces them. Where the arena will serve, which knows the sizes of blocks.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    let is_realloc = |i: &ir::Value| i.callee().is_some_and(|name| name == "realloc");
    let calls: Vec<ir::Value> = ir::all_instructions(module).into_iter().filter(is_realloc).collect();
    if calls.is_empty() {
        return Ok(());
    }
    block_size(module);
    for (number, call) in (0..).zip(calls) {
        let element = copy_types::element_behind(call);
        let function = match element.is_empty() && struct_copies::is_noted(call) {
            true => of_structures(module, call, number)?,
            false => of_element(module, element)?,
        };
        // SAFETY: a live call; the function takes the same operands and gives a value of the same type.
        unsafe { LLVMSetOperand(call.0, call.operands().len() as u32 - 1, function.as_value_ref()) };
    }
    Ok(())
}

/// The function that reallocates elements of a type; `""`: of any.
fn of_element<'ctx>(module: &Module<'ctx>, element: &str) -> Result<FunctionValue<'ctx>> {
    let name = format!("{NAME}.{}", if element.is_empty() { "bytes" } else { element });
    if let Some(there) = module.get_function(&name) {
        return Ok(there);
    }
    let function = define(module, &name)?;
    copies_in(function).for_each(|copy| copy_types::describe(copy, element));
    Ok(function)
}

/// The function that one call of `realloc` for structures becomes; pass `struct-copies` will find what was noted at the call.
fn of_structures<'ctx>(module: &Module<'ctx>, call: ir::Value, number: usize) -> Result<FunctionValue<'ctx>> {
    let function = define(module, &format!("{NAME}.structures.{number}"))?;
    copies_in(function).for_each(|copy| struct_copies::pass_on(call, copy));
    Ok(function)
}

fn copies_in(function: FunctionValue<'_>) -> impl Iterator<Item = ir::Value> {
    let copies = |i: &ir::Value| i.callee().is_some_and(|callee| callee.starts_with("llvm.memcpy."));
    ir::blocks(function).into_iter().flat_map(|block| block.instructions()).filter(copies)
}

fn define<'ctx>(module: &Module<'ctx>, name: &str) -> Result<FunctionValue<'ctx>> {
    texts::link(module, BODY, "reallocation")?;
    let function = module.get_function(NAME).ok_or("no reallocation")?;
    function.set_linkage(Linkage::Internal);
    function.as_global_value().set_name(name);
    Ok(function)
}
