//! Loading: an artifact is checked and opened, and connected to the OpenMP and MPI of this process.

pub mod artifact;
pub(crate) mod mpi_ranks;
pub(crate) mod openmp_runtime;
pub mod solver_notes;
