//! ffgrad's data model: signatures, prototypes, call plans, shapes, diagnoses, manifests.
//!
//! This crate is pure: it reads text and returns data. It never spawns a process, opens a file or
//! loads a library (that is `compile-driver`), and it never sees LLVM (that is the worker in
//! `core-ad/llvm`). In: the debug metadata of an IR module, and a user's signature string. Out: a
//! [`Prototype`], a [`CallPlan`], and the [`Manifest`] every language binding reads.

pub mod adapter;
pub mod checkpoint;
pub mod cpu;
pub mod cuda;
pub mod definitions;
pub mod derivative_set;
pub mod diagnostics;
pub mod dtype;
pub mod fortran;
pub mod implicit;
pub mod manifest;
pub mod metadata;
pub mod names;
pub mod passes;
pub mod path_set;
pub mod plan;
pub mod protocol;
pub mod prototype;
pub mod shapes;
pub mod signature;
pub mod source_files;

pub use derivative_set::DerivativeSet;
pub use dtype::DType;
pub use manifest::Manifest;
pub use plan::{Arg, CallPlan, Dim, Passing, Role, Text};
pub use prototype::{Access, Param, ParamType, Prototype, ReturnType};
pub use signature::SignatureError;
