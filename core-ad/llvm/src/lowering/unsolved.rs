//! Solvers that have not solved: what the programs in their places report (`compile-driver/rules/include/ffgrad/implicit.h`) is kept
//! for the driver, which returns an error in place of the gradient.
//!
//! The reporting function is declared until Enzyme is done, so that it sees a call without memory. Its body keeps a note in the calling
//! thread, or for all threads of teams together, and a second function tells where.

use crate::ir::Result;
use core_ad::protocol::{UNSOLVED, UNSOLVED_NOTE};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Adds the bodies to a derivative that reports.
///
/// # Errors
///
/// LLVM's own.
pub fn lower(module: &Module<'_>) -> Result<()> {
    if module.get_function(UNSOLVED).is_none() {
        return Ok(());
    }
    let buffer = MemoryBuffer::create_from_memory_range_copy(include_str!("unsolved.ll").as_bytes(), UNSOLVED_NOTE);
    let body = module.get_context().create_module_from_ir(buffer).map_err(|e| e.to_string())?;
    body.set_triple(&module.get_triple());
    body.set_data_layout(&module.get_data_layout());
    module.link_in_module(body).map_err(|e| e.to_string())
}
