//! Makes the final values of nested loops opaque where a later call uses them: Enzyme would recompute them wrongly.
//!
//! ```text
//! while (lo < hi) {                                        // A
//!   i = lo; j = hi;
//!   while (i <= j) {                                       // B
//!     while (a[i] < p) i++;  while (a[j] > p) j--;         // C, D
//!     if (i <= j) { swap; i++; j--; }
//!   }
//!   if (lo < j) sort(a, lo, j);                            // uses j of B's last iteration
//!   lo = i;
//! }
//! ```
//!
//! To have `j` again in the reverse pass of A, Enzyme caches either `j` or what it can be computed from: `EnzymeMinCut` (DifferentialUseAnalysis.cpp)
//! picks what is least to store, here the `j` that the last iteration of B began with and the trip count of D. `GradientUtils::unwrapM` computes
//! `j - trips(D)` from them. Of the first there is a copy that is right behind B (its phi in closed form, `fixLCSSA`). The trip count of D is stored by iteration of B
//! (`loopLimit_cache[A][B]`), and behind B there is no iteration of B: `lookupM` reads the place of iteration 0. So the reverse pass
//! takes another branch than the forward pass did, calls the derivative of `sort` with another `j` and a tape that was never written: SIGSEGV, or a wrong gradient
//! (`tests/cases/enzyme_bugs/quick_one_recursion.c`, `std::nth_element`). With `enzyme-mincut-cache=0` it caches `j` itself. The smallest IR:
//!
//! ```text
//! b:      %j = phi i64 [ %hi, %a ], [ %last, %b.latch ]
//! d:      %trips = phi i64 [ 0, %b ], [ %more, %d ]        ; leaves when it finds a small number
//! latch:  %last = sub i64 %j, %trips
//! behind: call void @sort(ptr %a, i64 %lo, i64 %last)
//! ```
//!
//! So every such value goes through a function that Enzyme does not repeat, behind the loop: it caches what the function returned. The function
//! subtracts a 0 whose value Enzyme does not see. [`super::lagged_phi`] does the same for a value of the previous iteration.

use super::lagged_phi;
use crate::analysis::cfg::{LoopNest, NaturalLoop};
use crate::analysis::value_paths;
use crate::ir::{self, Op, Result, Value, crash_trace};
use crate::llvm::pipelines;
use inkwell::module::Module;
use inkwell::values::FunctionValue;
use llvm_sys::core::*;
use std::collections::HashSet;

/// Passes such values through the function, where values decide the path. To be called last before Enzyme.
///
/// # Errors
///
/// LLVM's own.
pub fn run(module: &Module<'_>) -> Result<()> {
    let by_values = value_paths::of(module);
    for function in ir::functions(module) {
        if !by_values.contains_key(function.get_name().to_string_lossy().as_ref()) || !has_nest(function) {
            continue;
        }
        crash_trace::step("closing loops");
        // Gives every value that is used behind its loop a phi there: in a block of its own, not at the beginning of the next loop, which would carry it.
        pipelines::on_function(function, c"loop-simplify,lcssa")?;
        for value in left_behind(function) {
            lagged_phi::replace(module, value).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

fn has_nest(function: FunctionValue<'_>) -> bool {
    LoopNest::of(function).is_some_and(|nest| nest.loops.iter().any(|l| is_outer(&nest, l)))
}

fn is_outer(nest: &LoopNest, l: &NaturalLoop) -> bool {
    nest.loops.iter().any(|inner| l.is_around(inner))
}

/// The phis behind loops with a loop inside that take a value from there.
fn left_behind(function: FunctionValue<'_>) -> Vec<Value> {
    let Some(nest) = LoopNest::of(function) else { return Vec::new() };
    let outer: Vec<&NaturalLoop> = nest.loops.iter().filter(|l| is_outer(&nest, l)).collect();
    let mut found = Vec::new();
    for (number, block) in nest.blocks.iter().enumerate() {
        if block.first_after_phis().is(Op::LLVMLandingPad) {
            continue;
        }
        let leaves = |value: Value, from: usize| {
            let is_made_in = |l: &&&NaturalLoop| !l.body[number] && l.body[from] && nest.is_in(value, l);
            value.is_instruction() && outer.iter().any(|l| is_made_in(&l))
        };
        let is_left = |phi: &Value| phi.incoming().iter().any(|(v, from)| leaves(*v, nest.cfg.number(*from)));
        found.extend(block.phis().into_iter().filter(|phi| is_led(*phi) && !phi.users().is_empty() && is_left(phi)));
    }
    found
}

/// Whether there is such a function for a value: for integers, floating-point values and pointers.
pub(super) fn is_led(value: Value) -> bool {
    // SAFETY: asked of a live value, and of its type only if it is an integer's.
    let is_integer = unsafe {
        LLVMGetTypeKind(value.ty()) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(value.ty()) <= 64
    };
    value.is_float() || value.is_pointer() || is_integer && !becomes_address(value)
}

/// Whether an address is made of an integer: it has a shadow, then.
fn becomes_address(integer: Value) -> bool {
    let (mut seen, mut open) = (HashSet::new(), vec![integer]);
    while let Some(value) = open.pop() {
        if value.is(Op::LLVMIntToPtr) {
            return true;
        }
        if seen.insert(value) {
            open.extend(
                value
                    .users()
                    .into_iter()
                    .filter(|u| !u.is_float() && !matches!(u.op(), Some(Op::LLVMGetElementPtr | Op::LLVMICmp))),
            );
        }
    }
    false
}
