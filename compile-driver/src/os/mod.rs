//! The operating system: child processes, limits, interrupts, terminal, progress, CPU, free memory, sizes.

pub mod cpu;
pub(crate) mod free_memory;
pub mod interrupt;
pub(crate) mod lock_holder;
pub mod process;
pub mod progress;
pub mod size;
pub(crate) mod terminal;
