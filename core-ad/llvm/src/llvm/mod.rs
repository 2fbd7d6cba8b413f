//! LLVM's own machinery: pass pipelines, linkage, code generation.

pub mod codegen;
pub mod debug_info;
pub mod linkage;
pub mod pipelines;
pub mod symbols;
