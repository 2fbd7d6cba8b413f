//! The sizes at which a function was seen to stay inside of its arrays, here and by earlier processes.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls of so many sizes are looked at.
const MOST_SIZES: usize = 8;

/// The sizes at which a function was seen to stay inside of its arrays.
#[derive(Default)]
pub(crate) struct InsideSizes {
    /// No more calls are looked at.
    pub all: AtomicBool,
    /// The size of the last call.
    pub last: AtomicU64,
    /// `None` before the file was read.
    seen: Mutex<Option<HashSet<u64>>>,
}

impl InsideSizes {
    /// Whether a call of this size is to be looked at. `file`: what earlier processes have seen.
    pub fn is_due(&self, size: u64, file: &Path) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let read =
            || fs::read_to_string(file).unwrap_or_default().lines().filter_map(|line| line.parse().ok()).collect();
        let seen = seen.get_or_insert_with(read);
        if seen.len() >= MOST_SIZES {
            self.all.store(true, Ordering::Release);
        }
        let is_due = seen.len() < MOST_SIZES && !seen.contains(&size);
        if !is_due {
            self.last.store(size, Ordering::Release);
        }
        is_due
    }

    /// Remembers a size, for later processes too where there is a file.
    pub fn add(&self, size: u64, file: Option<&Path>) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(size);
        self.last.store(size, Ordering::Release);
        if let Some(mut file) = file.and_then(|file| fs::File::options().append(true).create(true).open(file).ok()) {
            // Without it the next process looks again.
            let _ = writeln!(file, "{size}");
        }
    }
}
