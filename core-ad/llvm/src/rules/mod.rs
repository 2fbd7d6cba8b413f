//! Derivatives given by people: rules of the library (`compile-driver/rules/`) and of the user's own source.
//!
//! A rule says how the function `f` is differentiated: a forward function that does what `f` does and carries
//! tangents along, a reverse function that adds to adjoints, and, where reverse needs more than the arguments, a
//! function that runs `f` and saves it (`docs/custom-derivatives.md`).
//!
//! The engine has a protocol of its own for this, which stumbles over arguments that carry no derivative, over
//! numbers by value and over functions without a value. So it is shown one shape only. Every call of `f` becomes
//!
//! ```text
//! call:  block = { arguments of f, room for its value };  ffgrad.shim.f(&block);  return block.value
//! ```
//!
//! and the engine knows `ffgrad.shim.f` as a function without body that has a derivative: `ffgrad.save.f` (before:
//! a copy of the block and its shadow, since a loop uses the same block again), `ffgrad.reverse.f` and
//! `ffgrad.forward.f`, which unpack the blocks and call the rule. A pointer that carries no derivative has itself as its
//! shadow there; the rule gets a null pointer. Once the engine is done, the shim gets its body, a call of `f`, and
//! everything is inlined away. Here rules are collected; [`shim`] shows them to the engine.

mod collect;
mod refusals;
mod rule;
mod shim;
mod validate;

pub mod lifetimes;

pub use collect::{check_inactive, collect, forget, parts};
pub use refusals::no_arena;
pub use rule::{Rule, text};
pub use shim::{Installed, finish, install, keep, targets};
pub use validate::given;
