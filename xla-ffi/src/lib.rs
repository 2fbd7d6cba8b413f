//! The handler behind `ffgrad.jax`: one function, registered with XLA once a process, that runs any foreign function
//! and any of its derivatives.
//!
//! ```text
//! jit ── XLA executable ── custom call "ffgrad" ──► handler ──► compile-driver ──► entry point of an artifact
//!                          attribute `op` ───────────┘
//! ```
//!
//! XLA's buffers go to the entry point without a copy, and results are written where XLA wants them. What is to be computed stands in
//! the attribute `op` ([`op`]): a digest and JSON that names the sources, so that an executable that outlives the
//! Python objects, or was read from XLA's compilation cache, needs nothing else.
//!
//! No header and no library of XLA is needed to build this: [`api`] declares what of its C API is used, which has been
//! the same from jaxlib 0.5.0 to 0.10.2. The crate knows no Python; `py` hands [`handler`] to JAX in a capsule.

mod api;
mod frame;
mod handler;
pub mod op;

pub use handler::handler;

use std::sync::OnceLock;

/// Takes the text of a warning; an error means that the call is to fail with that text.
pub type Warn = fn(&str) -> Result<(), String>;

static WARN: OnceLock<Warn> = OnceLock::new();

/// Sets the function that takes warnings, once; without it they go to standard error.
pub fn on_warning(warn: Warn) {
    WARN.get_or_init(|| warn);
}

fn warn(text: &str) -> Result<(), String> {
    match WARN.get() {
        Some(warn) => warn(text),
        None => {
            eprintln!("ffgrad: {text}");
            Ok(())
        }
    }
}
