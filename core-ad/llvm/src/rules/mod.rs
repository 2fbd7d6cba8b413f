//! Custom derivatives (rules): the library's (`compile-driver/rules/`) and those of the user's source.
//!
//! A rule defines how the function `f` is differentiated: a forward function that computes `f` and propagates tangents, a
//! reverse function that adds to adjoints, and, where the reverse function needs more than the arguments, a function that
//! runs `f` and saves it (`docs/custom-derivatives.md`).
//!
//! Enzyme's own interface for custom derivatives fails on inactive arguments, on numbers by value and on functions without a
//! return value. So it is given one form only. Every call of `f` becomes
//!
//! ```text
//! call:  block = { arguments of f, room for its value };  ffgrad.shim.f(&block);  return block.value
//! ```
//!
//! and `ffgrad.shim.f` is a function without a body whose derivatives are registered with Enzyme: `ffgrad.save.f` (first it
//! copies the block and its shadow, since a loop uses the same block again), `ffgrad.reverse.f` and `ffgrad.forward.f`, which
//! unpack the blocks and call the rule. There an inactive pointer is its own shadow; the rule gets a null pointer for it.
//! After Enzyme, the shim gets a body, a call of `f`, and everything is inlined. [`collect`](collect()) finds the rules;
//! `shim` registers them.

mod collect;
mod refusals;
mod rule;
mod shim;
mod validate;

pub mod inactive;
pub mod lapack;
pub mod lifetimes;
pub mod newton_matrices;
pub mod solvers;

pub use collect::{are_declared, collect, forget, parts};
pub use refusals::no_arena;
pub use rule::{Rule, text};
pub use shim::{Installed, finish, install, installed, keep, targets};
pub use validate::given;
