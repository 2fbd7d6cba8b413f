//! The operating system: child processes, limits, interrupts, terminal, CPU, sizes.

pub mod cpu;
pub mod interrupt;
pub mod process;
pub mod size;
pub(crate) mod terminal;
