//! What a derivative job of a session is about.

use core_ad::CallPlan;
use core_ad::protocol::{CodeGen, Derivative, Pipeline, Solver};

/// What a derivative job is about.
pub struct Derive<'a> {
    /// The function.
    pub symbol: &'a str,
    /// Solvers whose derivative follows from a residual.
    pub solvers: &'a [Solver],
    /// What its arguments are.
    pub plan: &'a CallPlan,
    /// The inputs that have a shadow, a bit each.
    pub mask: u64,
    /// Arguments that the function only writes.
    pub write_only: &'a [usize],
    /// How the code is prepared for Enzyme.
    pub pipeline: Pipeline,
    /// Functions that carry no derivative.
    pub inactive: &'a [String],
    /// Functions whose derivative is given.
    pub derivatives: &'a [Derivative],
    /// Those of them that are left out.
    pub ignored: &'a [String],
    /// Memory comes from the arena.
    pub arena: bool,
    /// A CUDA kernel, for the CPU as a device.
    pub kernel: bool,
    /// Code that starts threads is left out.
    pub without_threads: bool,
    /// How the result is compiled.
    pub codegen: &'a CodeGen,
    /// The module keeps the source's lines.
    pub lines: bool,
}

/// Whether one thread or many run the parallel regions of an OpenMP program.
#[derive(Clone, Copy, PartialEq)]
pub enum Team {
    /// There are none.
    None,
    /// One thread.
    One,
    /// As many as the program asks for.
    Many,
}
