//! Compiles, differentiates, caches, loads and calls foreign functions.
//!
//! One folder a room; a room imports only those below it (`tests/rooms.rs`). A front end opens a [`Function`] and calls it.
//! What is known without the outside world is in `core-ad`.
//!
//! ```text
//! pack::write   packs a function                                             -> function, build, cache
//! function      an opened function: its derivatives chosen, verified, called -> call, verify, build, load, gpu, pack::read
//! prover        verifies in a process of its own                             -> verify, call, load, toolchain
//! verify        dot-product test, finite differences, second order           -> call, load
//! call          arguments, shadows, results, batch loop                      -> load
//! pack::read    opens a function of a pack                                   -> build::key, load, cache
//! build         source -> bitcode -> derivative -> shared object             -> toolchain, cache, gpu
//! load          opens an artifact; OpenMP's and MPI's run time               -> cache
//! gpu           CUDA driver, memory, errors                                  -> error
//! cache         the store of entries                                         -> error, os
//! error, options, source_text                                                -> toolchain
//! toolchain     finds and installs compilers and Enzyme                      -> os
//! os            child processes, limits, interrupts, terminal, CPU
//! ```

pub mod build;
pub mod cache;
pub mod call;
pub mod error;
pub mod function;
pub mod gpu;
pub mod load;
pub mod options;
pub mod os;
pub mod pack;
pub mod prover;
pub mod registry;
pub(crate) mod source_text;
pub mod toolchain;
pub mod verify;

pub use call::arguments::{Input, Results, View};
pub use call::split::Batch;
pub use error::{CacheError, Error, Kind, NO_MEMORY, Result};
pub use function::Function;
pub use function::repeat::Checkpointing;
pub use function::tape::Tape;
pub use options::{Mode, Options, Spec, Verify};
