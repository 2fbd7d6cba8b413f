//! Writing packs: [`export`] builds what is missing, copies it and lists it in the index.

pub(crate) mod export;
pub(crate) mod gpu;
pub(crate) mod notices;

pub use export::{Wish, export};
