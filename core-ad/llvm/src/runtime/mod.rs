//! Binds a finished derivative to ffgrad's run-time support: its allocations come from the tape arena.

pub mod arena;
