//! Keeps what a loop nest reads instead of what it computes, where the nest is run again and again: the cells of a stencil in a time loop, the elements of
//! a mesh in each step.
//!
//! ```text
//! for step:  for cells: b[i] = f(a[i-1], a[i], a[i+1]);  swap(a, b)
//! ```
//!
//! Later steps overwrite what one reads. So Enzyme keeps, for each cell and step, each number that a derivative needs: what was loaded, or what was
//! computed of it, kilobytes for an element of a mesh. The state itself is smaller. So such a nest, a *sweep*, becomes a function with a custom derivative
//! (`rules/mod.rs`): its forward half copies what is read and overwritten later, its reverse half runs the nest again, on the copy, forward and back
//! together. There nothing that is read is overwritten, so Enzyme loads it where it needs it, and its iterations may be independent.
//!
//! Sound for any code whose accesses are all known ([`find`]); it is done where it pays:
//!
//! * the nest stands in another loop, whose iterations are not independent, and reads all before it writes: a cell that is read and written has one address in the nest,
//! * what is copied is what each run of the nest reads: no address in it, and no trip count, depends on the loops around the nest. A loop over a row of
//!   a matrix does not copy the matrix,
//! * Enzyme would keep much, and no function is called that costs more than the copy.
//!
//! Two buffers that change places are told apart: phis of one header that take different objects when the loop is entered, and the phis of that
//! header, each once, from its latches, lead to different objects ([`find::Place`]).

mod find;
mod outline;
mod rule;

use crate::ir::path_markers;
use crate::ir::{self, Block, Result};
use crate::llvm::pipelines;
use crate::rules::{self, Installed};
use core_ad::CallPlan;
use inkwell::module::Module;
use inkwell::values::FunctionValue;

/// Prefix of the function of a nest.
pub const SWEEP: &str = "ffgrad.sweep.";

/// Prefix of the functions that call Enzyme.
const GRADIENT: &str = "ffgrad.sweepgrad.";

/// Prefix of what is called in its place, which has the custom derivative.
const WHOLE: &str = "ffgrad.swept.";

/// Gives the sweeps in the wrapper around the user's function their derivatives. `mask`: the inputs that have a shadow.
///
/// # Errors
///
/// None but LLVM's.
pub fn run(module: &Module<'_>, wrapper: &str, plan: &CallPlan, mask: u64) -> Result<()> {
    let Some(function) = module.get_function(wrapper).filter(|f| f.count_basic_blocks() > 0) else { return Ok(()) };
    // A block before each loop, which leads nowhere else.
    pipelines::on_function(function, c"loop-simplify")?;
    let mut all = Vec::new();
    // One by one: a nest that is moved away changes the blocks of the function.
    while let Some(sweep) = find::next(function, plan, mask) {
        let outlined = outline::outline(module, function, plan, &sweep, all.len());
        all.push(rule::build(module, &outlined, all.len())?);
    }
    let installed = rules::install(module, &all)?;
    rules::keep(module, &installed);
    Ok(())
}

/// The functions of the sweeps.
pub fn functions<'ctx>(module: &Module<'ctx>) -> Vec<FunctionValue<'ctx>> {
    let is_one = |f: &FunctionValue<'ctx>| f.get_name().to_bytes().starts_with(SWEEP.as_bytes());
    ir::functions(module).into_iter().filter(is_one).collect()
}

/// The parts of their derivatives, by name: they free what they alone hold.
pub fn parts(module: &Module<'_>) -> Vec<String> {
    let names = ir::functions(module).into_iter().map(|f| f.get_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(SWEEP) || name.starts_with(GRADIENT) || name.contains(WHOLE)).collect()
}

/// The reverse half runs a nest again: paths are counted in the forward sweep.
pub fn forget_paths(module: &Module<'_>) {
    let again = format!("{GRADIENT}autodiff.");
    for function in ir::functions(module) {
        let name = function.get_name().to_string_lossy().into_owned();
        let is_reverse = name.starts_with(&again) || name.starts_with("diffe") && name.contains(SWEEP);
        if !is_reverse {
            continue;
        }
        for i in ir::blocks(function).into_iter().flat_map(Block::instructions) {
            if i.callee().is_some_and(|name| path_markers::is_one(&name)) {
                i.erase();
            }
        }
    }
}

/// What is left to do for them when Enzyme is done.
pub fn installed<'ctx>(module: &Module<'ctx>) -> Vec<Installed<'ctx>> {
    rules::installed(module, WHOLE)
}
