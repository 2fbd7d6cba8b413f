//! Solvers that have not solved: what the programs in their places report (`compile-driver/rules/include/ffgrad/implicit.h`) is kept
//! for the driver, which returns an error in place of the gradient.
//!
//! The reporting function is declared until Enzyme is done, so that it sees a call without memory. Its body keeps a note in the calling
//! thread, or for all threads of teams together, and a second function tells where.

use crate::ir::{Result, texts};
use core_ad::protocol::{UNSOLVED, UNSOLVED_NOTE};
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
    texts::link(module, include_str!("unsolved.ll"), UNSOLVED_NOTE)
}
