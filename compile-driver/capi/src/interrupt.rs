//! Interrupts: a function of the caller's, polled while a call waits, that can end the call.
//!
//! It is asked on the thread that made the call, and on no other: a language's own threads are the only ones that may run its code.

use compile_driver::os::interrupt::{self, Host};
use std::cell::Cell;
use std::sync::{PoisonError, RwLock};

/// Answers whether the call of this thread is to end: anything but 0 is yes.
pub type Asked = unsafe extern "C" fn() -> i32;

static ASKED: RwLock<Option<Asked>> = RwLock::new(None);

thread_local! {
    /// Calls that this thread is in, and whether the outermost is to end.
    static CALL: Cell<(u32, bool)> = const { Cell::new((0, false)) };
}

/// Sets the function, or none.
pub fn set(function: Option<Asked>) {
    *ASKED.write().unwrap_or_else(PoisonError::into_inner) = function;
    // Where no framework calls, nothing begins that is not known here.
    interrupt::embed(Host { asked, begun: nothing, ended: nothing });
}

extern "C" fn nothing() {}

extern "C" fn asked() -> bool {
    let (depth, is_over) = CALL.get();
    if depth == 0 || is_over {
        return is_over;
    }
    // Not held while the function runs, which may take it away.
    let function = *ASKED.read().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: who set it promised that it may be called on any thread that calls us, until it is taken away.
    let ends = function.is_some_and(|function| unsafe { function() } != 0);
    CALL.set((depth, ends));
    ends
}

/// A call of the ABI, as long as it lives.
pub struct Inside;

impl Inside {
    /// Begins.
    pub fn enter() -> Self {
        let (depth, is_over) = CALL.get();
        CALL.set((depth + 1, is_over && depth > 0));
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let (depth, is_over) = CALL.get();
        CALL.set((depth.saturating_sub(1), is_over && depth > 1));
    }
}
