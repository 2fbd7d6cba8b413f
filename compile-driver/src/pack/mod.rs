//! Packs: functions built ahead of time, which load where there is no compiler. [`read`] opens them, [`mod@write`] makes them.

pub mod read;
pub mod write;
