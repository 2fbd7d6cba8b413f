//! The operating system: child processes, limits, interrupts, terminal, progress, CPU, sizes.

pub mod cpu;
pub mod interrupt;
pub mod process;
pub mod progress;
pub mod size;
pub(crate) mod terminal;
