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
pub mod registry;
pub(crate) mod source_text;
pub mod toolchain;
pub mod verify;

pub use call::arguments::{Input, Results, View};
pub use call::split::Batch;
pub use error::{CacheError, Error, Kind, Result};
pub use function::Function;
pub use function::tape::Tape;
pub use options::{Mode, Options, Spec, Verify};
