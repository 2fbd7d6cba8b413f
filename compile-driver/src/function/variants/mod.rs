//! Variants of a function chosen by time: tuned, specialised for sizes, or from a pack.

pub(crate) mod packed;
pub(crate) mod specialize;
pub(crate) mod tune;
