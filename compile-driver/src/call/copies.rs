//! Counts the bytes that calls copy, by reason. Zero-copy is tested by these counters too.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes copied so far in this process, by reason.
#[derive(Debug, Default)]
pub struct Copies {
    /// Inputs and results whose layout is not the function's.
    pub gathered: AtomicU64,
    /// Arguments updated in place.
    pub in_place: AtomicU64,
    /// Cotangents, and tangents in the memory of their inputs.
    pub cotangents: AtomicU64,
}

/// The counters.
pub static COPIES: Copies =
    Copies { gathered: AtomicU64::new(0), in_place: AtomicU64::new(0), cotangents: AtomicU64::new(0) };

thread_local! {
    /// This thread copies for a look at the function, not for a call of it.
    static ASIDE: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn count(counter: &AtomicU64, bytes: usize) {
    if !ASIDE.get() {
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Does something whose copies are none of the caller's.
pub(crate) fn uncounted<T>(copy: impl FnOnce() -> T) -> T {
    let outer = ASIDE.replace(true);
    let done = copy();
    ASIDE.set(outer);
    done
}
