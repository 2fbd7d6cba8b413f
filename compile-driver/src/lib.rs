//! Compiles, differentiates, caches, loads and calls foreign functions.
//!
//! The outside world is here: compilers and the engine as child processes ([`process`]), the tool
//! folder ([`toolchain`]), the cache ([`cache`]), shared objects ([`artifact`]). What is known without it
//! is in `core-ad`. A front end opens a [`Function`] and calls it:
//!
//! ```text
//! Spec ─ frontend ─ bitcode ─ worker ─ prototype ─ plan ─► entry in the cache        build::analyse
//! entry ─ worker ─ engine ─ worker ─ object ─ linker ─► shared object in the entry   build::derivative
//! shared object ─ artifact ─ ladder (verify) ─► vjp, jvp                             function, call
//! ```

mod again;
mod apart;
pub mod artifact;
mod batch;
mod blame;
pub mod build;
pub mod cache;
pub mod call;
pub mod cpu;
mod crash;
pub mod cuda;
mod derivative;
pub mod engine;
pub mod error;
pub mod fortran;
pub mod frontend;
pub mod function;
pub mod interrupt;
pub mod key;
mod ladder;
mod landing;
mod lanes;
mod libraries;
pub mod library;
mod linking;
mod locate;
pub mod mpi;
pub mod openmp;
pub mod options;
pub mod pack;
pub mod process;
mod proven;
mod recent;
pub mod registry;
mod rules;
mod runtime;
mod sample;
mod scratch;
mod sizes;
mod sources;
mod specialize;
mod symbol;
mod tape;
mod terminal;
pub mod toolchain;
mod tune;
pub mod verify;
mod worker;

pub use batch::Batch;
pub use call::{Input, Results, View};
pub use error::{CacheError, Error, Kind, Result};
pub use function::Function;
pub use options::{Mode, Options, Spec, Verify};
pub use tape::Tape;
