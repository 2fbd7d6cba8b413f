//! Binds a finished derivative to ffgrad's run-time support: its allocations come from the tape arena, and a mark says where it may need a large stack.

pub mod arena;
pub mod large_stack;
