//! Optimisations of the derivative beyond LLVM's pipeline, one file each.

pub mod borders;
pub mod byte_flags;
pub mod dead_stores;
pub mod exit_slots;
pub mod fast_math;
pub mod fuse_loops;
pub mod iterations;
pub mod keep_calls;
pub mod keep_results;
pub mod large_structs;
pub mod libmvec;
pub mod path_slots;
pub mod reverse_loop;
pub mod scatter_to_gather;
pub mod shared_counts;
pub mod sole_calls;
pub mod split_scatters;
pub mod zero_memory;

mod inner_loops;
