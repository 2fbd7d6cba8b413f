//! Access to LLVM IR for the passes: value handles, CFG edges, attributes, callers, texts of IR, markers for Enzyme, metadata, and the crash trace.

pub mod callers;
pub mod count_markers;
pub mod crash_trace;
pub mod edges;
pub mod identity;
pub mod markers;
pub mod metadata;
pub mod path_markers;
pub mod texts;

mod attributes;
mod bodies;
mod result;
mod value;

pub use attributes::{allow_inlining, is_inactive, set_string_attribute, stated_alignment};
pub use bodies::move_body;
pub use result::Result;
pub use value::{Block, CONTRACT, Op, REASSOCIATE, Value, all_instructions, arguments, blocks, functions, is_argument};
