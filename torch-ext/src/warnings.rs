//! Where warnings of the driver go: to standard error, or, once Python has asked for it, into a list that Python empties
//! after each operator that it sees.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static KEPT: AtomicBool = AtomicBool::new(false);
static TEXTS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static ANY: AtomicBool = AtomicBool::new(false);

/// Keeps warnings from now on.
pub fn keep() {
    KEPT.store(true, Ordering::Release);
}

/// The warnings since the last call of this, oldest first. Costs next to nothing where there are none.
pub fn take() -> Vec<String> {
    if !ANY.swap(false, Ordering::AcqRel) {
        return Vec::new();
    }
    std::mem::take(&mut *TEXTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Warns.
pub(crate) fn warn(text: String) {
    if !KEPT.load(Ordering::Acquire) {
        return eprintln!("ffgrad: {text}");
    }
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    ANY.store(true, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_warnings_are_taken_once() {
        keep();
        warn("a".to_owned());
        warn("b".to_owned());
        assert_eq!(take(), ["a", "b"]);
        assert!(take().is_empty());
    }
}
