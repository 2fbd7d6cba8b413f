//! CUDA kernels: the parts that need no GPU, computed from IR, options and call plan.
//!
//! [`geometry`] computes the launch of one call from the options `grid`, `block` and `shared`. [`host`] rewrites device
//! IR into IR for the CPU as a device. [`device`] writes a GPU's entry points before Enzyme, [`back_end`] prepares what
//! comes out of it for code generation. [`outline`] finds the functions of a source, to leave out what only the host runs.

mod adders;
pub mod back_end;
pub mod constants;
pub mod device;
pub mod geometry;
pub mod host;
pub mod outline;
pub mod reach;

pub use geometry::{Extent, Geometry, Launch};

/// Bytes of dynamic shared memory a block may ask for: what the largest GPUs give a block.
pub const MOST_SHARED: i64 = 227 << 10;

/// Prefix of the globals that stand for shared memory on the CPU. The linkage step leaves names of Enzyme alone.
pub const SHARED: &str = "enzyme_shared.";

/// Prefix of their shadows.
pub const SHARED_SHADOW: &str = "enzyme_shared_shadow.";

/// The part of both names that marks dynamic shared memory.
pub const DYNAMIC: &str = "dynamic";

/// The worker's prefix for a kernel that reads constant memory without a value; the variable's name follows.
pub const UNSET_CONSTANT: &str = "constant memory without a value: ";

/// Section of constant memory without a value, in the IR for the CPU.
pub const UNSET_SECTION: &str = ".ffgrad.unset";

/// Why a kernel with shared memory has no second derivatives.
pub const NO_SECOND: &str = "second derivatives of a kernel with shared memory are not available: the shadow of shared memory \
                             has itself no shadow";
