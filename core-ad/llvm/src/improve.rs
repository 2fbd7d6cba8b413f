//! What is done for the speed of derivatives beyond LLVM's own pipeline: one place that says what, when, and whether.

use crate::session::Result;
use crate::{arithmetic, emit, entries, inlining, loops, passes, trail, unread};
use core_ad::protocol::{CodeGen, Improvement, Math, Pipeline};
use inkwell::module::Module;

/// Before the pipeline that stands before the engine.
pub fn first(module: &Module<'_>, pipeline: Pipeline, codegen: &CodeGen) {
    if pipeline == Pipeline::Inlined && codegen.does(Improvement::HeldCalls) {
        trail::step("holding back calls");
        inlining::hold_back(module);
    }
}

/// On what the engine returned: it does not know what is dropped, and LLVM does not know that it is a derivative.
pub fn derivative(module: &Module<'_>, codegen: &CodeGen) -> Result<()> {
    trail::step("relaxing arithmetic");
    inlining::release(module);
    if codegen.math == Math::Contract && codegen.does(Improvement::DerivativeArithmetic) {
        arithmetic::relax_derivative(module);
    }
    if codegen.math == Math::Contract && codegen.does(Improvement::Sums) {
        arithmetic::reorder_sums(module);
    }
    passes::clean_up(module)?;
    if codegen.does(Improvement::DeadMemory) {
        trail::step("dropping memory that nobody reads");
        unread::drop_dead_memory(module);
    }
    let layout = emit::target_machine("generic")?.get_target_data();
    trail::step("improving loops");
    loops::improve(module, codegen, &layout);
    entries::release(module);
    Ok(())
}
