//! What is known of a derivative: how it was verified, and at which shapes.

pub(crate) mod check;
pub(crate) mod checked_shapes;
pub(crate) mod status;
