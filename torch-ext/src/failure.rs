//! Reports a kernel's failure as a C++ exception, which PyTorch converts to a `RuntimeError`.
//!
//! The text reaches the caller whatever stands between. The error itself waits in the thread until Python, which knows
//! our exceptions, fetches it ([`take`]) and raises the right one instead.

use crate::api::Api;
use compile_driver::Error;
use std::cell::RefCell;
use std::ffi::CString;

thread_local! {
    static LAST: RefCell<Option<Box<Error>>> = const { RefCell::new(None) };
}

/// Why a kernel fails.
pub struct Failure {
    /// For people.
    text: String,
    /// For programs, where the driver refused.
    error: Option<Box<Error>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { text: error.to_string(), error: Some(Box::new(error)) }
    }
}

impl Failure {
    /// A failure without a structure.
    pub fn plain(text: impl Into<String>) -> Self {
        Failure { text: text.into(), error: None }
    }

    /// Throws it. Nothing that needs to be dropped may be alive in the caller.
    pub fn throw(self, api: &Api) -> ! {
        LAST.set(self.error);
        let text = CString::new(self.text.replace('\0', " ")).unwrap_or_default();
        let throw = &api.throw;
        // SAFETY: the C++ runtime's own functions, in the order that its ABI asks for; a `std::runtime_error` is two
        // pointers, which 64 bytes hold. It copies the text.
        unsafe {
            let exception = (throw.allocate)(64);
            (throw.construct)(exception, text.as_ptr());
            drop(text);
            (throw.throw)(exception, throw.kind, throw.destroy)
        }
    }
}

/// The driver's error behind the last failure of this thread, once.
pub fn take() -> Option<Box<Error>> {
    LAST.take()
}
