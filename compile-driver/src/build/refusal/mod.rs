//! Locates failures in the user's source: refusals by Enzyme, and crashes of the worker.

pub(in crate::build) mod callees;
pub(crate) mod crash;
pub(crate) mod locate;
