//! One call: the caller's arrays in, slots of an entry point filled, results handed to the framework; over a batch too.

pub(crate) mod aliasing;
pub mod arguments;
pub(crate) mod batch_loop;
pub mod copies;
pub(crate) mod crash_guard;
mod failed_checks;
mod large_stack;
pub mod launch;
pub(crate) mod not_a_number;
pub(crate) mod results;
pub(crate) mod scratch;
pub(crate) mod shadows;
pub(crate) mod shape_cache;
pub(crate) mod split;
pub(crate) mod task;
pub mod unsolved;
