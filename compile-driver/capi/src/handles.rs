//! Handles of open functions: numbers. A number is never used twice, so a closed handle is an error and not somebody
//! else's function.
//!
//! A handle is the place in the table (low half, counted from 1) and the place's generation (high half), which closing
//! raises. A call holds its function by reference count: closing during a call ends when the call does.

use crate::failure::{Failure, Outcome};
use compile_driver::Function;
use std::sync::{Arc, PoisonError, RwLock};

/// A table of what is open.
pub struct Table<T> {
    places: RwLock<Vec<Place<T>>>,
}

struct Place<T> {
    generation: u32,
    held: Option<Arc<T>>,
}

/// All functions opened by this process.
pub static FUNCTIONS: Table<Function> = Table { places: RwLock::new(Vec::new()) };

impl<T> Table<T> {
    /// Adds a value and returns its handle, which is not 0.
    pub fn add(&self, value: T) -> u64 {
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        // A place whose generations are used up stays empty.
        let free = places.iter().position(|p| p.held.is_none() && p.generation < u32::MAX);
        let index = free.unwrap_or_else(|| {
            places.push(Place { generation: 0, held: None });
            places.len() - 1
        });
        places[index].held = Some(Arc::new(value));
        handle(index, places[index].generation)
    }

    /// The value behind a handle.
    ///
    /// # Errors
    ///
    /// A handle that is closed or never was.
    pub fn get(&self, handle: u64) -> Outcome<Arc<T>> {
        let places = self.places.read().unwrap_or_else(PoisonError::into_inner);
        let found = place(handle).and_then(|(index, generation)| {
            let place = places.get(index).filter(|p| p.generation == generation)?;
            place.held.clone()
        });
        found.ok_or_else(|| not_open(handle))
    }

    /// Closes a handle.
    ///
    /// # Errors
    ///
    /// As [`Table::get`].
    pub fn remove(&self, handle: u64) -> Outcome<()> {
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        let removed = place(handle).and_then(|(index, generation)| {
            let place = places.get_mut(index).filter(|p| p.generation == generation)?;
            let removed = place.held.take()?;
            place.generation += 1;
            Some(removed)
        });
        // What it holds is released after the table is unlocked.
        drop(places);
        removed.map(drop).ok_or_else(|| not_open(handle))
    }
}

fn handle(index: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | (index as u64 + 1)
}

fn place(handle: u64) -> Option<(usize, u32)> {
    let index = (handle & u64::from(u32::MAX)).checked_sub(1)?;
    Some((usize::try_from(index).ok()?, (handle >> 32) as u32))
}

fn not_open(handle: u64) -> Box<Failure> {
    let message = match handle {
        0 => "the handle 0 is no function: ffgrad_open gives one".to_owned(),
        _ => format!("the handle {handle:#x} is not open: it was closed, or ffgrad_open never gave it"),
    };
    Failure::misuse("closed-handle", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_handle_never_names_the_next_value() {
        let table = Table { places: RwLock::new(Vec::new()) };
        let first = table.add("first");
        assert!(table.remove(first).is_ok());
        let second = table.add("second");
        assert_ne!(first, second);
        assert!(table.get(first).is_err() && table.remove(first).is_err());
        assert_eq!(table.get(second).ok().as_deref(), Some(&"second"));
    }

    #[test]
    fn what_was_never_given_is_refused() {
        let table = Table::<u8> { places: RwLock::new(Vec::new()) };
        for handle in [0, 1, 1 << 32, u64::MAX] {
            assert!(table.get(handle).is_err() && table.remove(handle).is_err());
        }
    }

    #[test]
    fn closing_leaves_a_call_in_progress_its_function() {
        let table = Table { places: RwLock::new(Vec::new()) };
        let handle = table.add(vec![1, 2, 3]);
        let held = table.get(handle).ok();
        assert!(table.remove(handle).is_ok());
        assert_eq!(held.as_deref(), Some(&vec![1, 2, 3]));
    }
}
