//! Where an artifact keeps reports of solvers that have not solved (`core-ad/llvm/src/lowering/unsolved.rs`).

use core_ad::protocol::Unsolved;
use std::sync::atomic::{AtomicU32, Ordering};

/// The function that tells where.
#[derive(Clone, Copy)]
pub struct Notes {
    find: unsafe extern "C" fn(i32) -> *mut Unsolved,
}

impl Notes {
    /// By the function that an artifact exports.
    pub fn new(find: unsafe extern "C" fn(i32) -> *mut Unsolved) -> Self {
        Notes { find }
    }

    /// Writes the calling thread's note and returns what it was. No derivative of the artifact may run on the thread.
    pub fn exchange(self, new: Unsolved) -> Unsolved {
        // SAFETY: the artifact's function takes any number, and returns the address of a thread-local variable of this type, which
        // nobody else has while no derivative runs on this thread.
        unsafe { (self.find)(0).replace(new) }
    }

    /// How many reports there were in threads of teams, and the last one.
    pub fn others(self) -> (u32, Unsolved) {
        // SAFETY: the artifact's function returns the address of a variable that lives as long as the artifact. Its threads count in
        // one atomic operation; the rest is for the message alone, and any bits are numbers.
        unsafe {
            let note = (self.find)(1);
            let reports = AtomicU32::from_ptr(&raw mut (*note).reports).load(Ordering::Acquire);
            (reports, note.read_volatile())
        }
    }
}
