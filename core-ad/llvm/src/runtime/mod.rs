//! Binds a finished derivative to ffgrad's run-time support.

pub mod arena;
