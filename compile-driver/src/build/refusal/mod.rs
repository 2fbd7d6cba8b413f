//! Where a refusal comes from: the user's line for what Enzyme refused, and for a crash of the worker.

pub(crate) mod crash;
pub(crate) mod locate;
