//! Source-language runtimes lowered to plain IR: OpenMP, CUDA threads, Fortran, C++ exceptions, indirect calls; the map of the
//! paths that a derivative takes, and what ends the program; solvers that have not solved; roots and
//! quotients that are not chosen, powers of zero; tests of numbers for equality; loop nests that are run again and again.

pub mod access_lines;
pub mod call_objects;
pub mod caught;
pub mod checkpoint;
pub mod clamped_arguments;
pub mod closures;
pub mod cuda_threads;
pub mod dead_ends;
pub mod derived_types;
pub mod descriptors;
pub mod equality_tests;
pub mod exceptions;
pub mod failed_checks;
pub mod fortran_runtime;
pub mod guards;
pub mod indirect_calls;
pub mod known_ranks;
pub mod library_calls;
pub mod mismatched_calls;
pub mod openmp;
pub mod path_counts;
pub mod path_map;
pub mod static_locals;
pub mod sweeps;
pub mod thread_starts;
pub mod trampolines;
pub mod unsolved;
pub mod zero_norms;
pub mod zero_powers;
