//! Optimisations of the derivative beyond LLVM's pipeline, one file each.

pub mod dead_stores;
pub mod fast_math;
pub mod inner_loops;
pub mod keep_calls;
pub mod libmvec;

mod reverse_loop;
mod scatter_to_gather;
