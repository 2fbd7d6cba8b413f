//! Gives loops with more than one entry a header: Enzyme does not see them as loops, and its reverse pass never ends.
//!
//! ```text
//! switch (n % 4) { case 0: do { s += *p * *p++;  case 3: s += *p * *p++;  case 2: ... } while (--count > 0); }
//! ```
//!
//! (Duff's device, or a `goto` into a loop.) Enzyme knows natural loops only: for those it stores trip counts and caches values by iteration. The
//! blocks of another circle it reverses as if each ran once, and the branches of the reversed blocks go around without end. The smallest IR:
//!
//! ```text
//! entry:  br i1 %c, label %a, label %b
//! a:      br label %b
//! b:      br i1 %more, label %a, label %exit
//! ```
//!
//! LLVM's `fix-irreducible` leads all entries of such a loop through one new block, which branches to where each goes. It takes
//! branches only, so `lower-switch` comes before.

use crate::analysis::cfg::{Cfg, MAX_BLOCKS};
use crate::ir::{self, Result};
use crate::llvm::pipelines;
use inkwell::module::Module;
use inkwell::values::FunctionValue;

/// Gives such loops a header.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    for function in ir::functions(module).into_iter().filter(|f| is_irreducible(*f)) {
        pipelines::on_function(function, c"lower-switch,fix-irreducible")?;
    }
    Ok(())
}

fn is_irreducible(function: FunctionValue<'_>) -> bool {
    let blocks = ir::blocks(function);
    if blocks.len() < 3 || blocks.len() > MAX_BLOCKS {
        return false;
    }
    let cfg = Cfg::of(&blocks);
    !cfg.is_reducible(&cfg.dominators())
}
