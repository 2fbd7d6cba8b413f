//! The C ABI of ffgrad: what `ffgrad.h` declares and `libffgrad.so` exports. Julia and other languages call it.
//!
//! Every function answers with a status, writes its results to places that the caller gives, and explains a failure
//! through the last argument. Nothing here unwinds into the caller, and everything may be called from any thread.
//! Opening and describing is here, calling in `calls`; `handles` knows what is open, `interrupt` whether a build is to end, `arrays` lends the caller's memory
//! to the driver, `failure` is what went wrong, `abi` is types and numbers.

// The counts of an ABI stand beside their pointers.
#![allow(clippy::too_many_arguments)]

pub mod abi;
mod arrays;
mod calls;
mod describe;
mod failure;
mod handles;
mod interrupt;

pub use abi::{Array, Copies, Handle, Shape};
pub use calls::{ffgrad_call, ffgrad_hvp, ffgrad_jvp, ffgrad_output_shapes, ffgrad_sizes, ffgrad_vjp};
pub use failure::Failure;

use compile_driver::call::copies::COPIES;
use compile_driver::{Function, Spec};
use failure::{Outcome, c_text};
use handles::FUNCTIONS;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::Ordering;

/// Runs `body`; a failure goes to `error`, if the caller wants it, and its status is returned.
///
/// # Safety
///
/// `error` is null or can be written to.
unsafe fn guard(error: *mut *mut Failure, body: impl FnOnce() -> Outcome<()>) -> i32 {
    let inside = interrupt::Inside::enter();
    let outcome = catch_unwind(AssertUnwindSafe(body));
    drop(inside);
    let outcome = outcome.unwrap_or_else(|payload| {
        let failure = Failure::panic(payload.as_ref());
        // A payload may panic when it is dropped.
        std::mem::forget(payload);
        Err(failure)
    });
    let (status, failure) = match outcome {
        Ok(()) => (abi::FFGRAD_OK, std::ptr::null_mut()),
        Err(failure) => (failure.status, if error.is_null() { std::ptr::null_mut() } else { Box::into_raw(failure) }),
    };
    if !error.is_null() {
        // SAFETY: not null, and the caller's promise.
        unsafe { error.write(failure) };
    }
    status
}

fn needed<T>(pointer: *mut T, what: &str) -> Outcome<*mut T> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Failure::misuse("null-pointer", format!("`{what}` is null or not aligned")));
    }
    Ok(pointer)
}

/// The version of the ABI that this library has. A caller compares it with `FFGRAD_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn ffgrad_abi_version() -> u32 {
    abi::FFGRAD_ABI_VERSION
}

/// ffgrad's version, for people. Lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn ffgrad_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Sets what is asked now and then while a call waits for a build: anything but 0 ends the call with
/// `FFGRAD_ERROR_INTERRUPTED`, and the compilers that it has started. Null: nothing is asked, as at first.
///
/// It is asked on the thread that made the call, must return (no exception, no `longjmp`), and must not call this library.
///
/// # Safety
///
/// `asked` may be called on every thread that calls this library, until another takes its place and all calls that
/// were running then have ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_on_interrupt(asked: Option<unsafe extern "C" fn() -> i32>) {
    interrupt::set(asked);
}

/// Opens a function: from the cache, else by compiling.
///
/// `spec` is a JSON object in UTF-8: `{"sources": ["mv.c"], "function": "matvec", "signature": "A[m,n], x[n] -> y[m]",
/// "options": {}}`; the last two may be left out. `*function` becomes a handle, 0 on failure.
///
/// # Safety
///
/// `spec` is a C string; `function` can be written to; `error` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_open(spec: *const c_char, function: *mut Handle, error: *mut *mut Failure) -> i32 {
    let body = || {
        let function = needed(function, "function")?;
        // SAFETY: not null, and the caller's promise.
        unsafe { function.write(0) };
        let spec = needed(spec.cast_mut(), "spec")?;
        // SAFETY: not null, and the caller's promise.
        let spec = read_spec(unsafe { CStr::from_ptr(spec) })?;
        find_worker_beside_this_library();
        let handle = FUNCTIONS.add(Function::open(spec)?);
        // SAFETY: as above.
        unsafe { function.write(handle) };
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}

fn read_spec(text: &CStr) -> Outcome<Spec> {
    let text = text.to_str().map_err(|e| Failure::misuse("spec", format!("the specification is not UTF-8: {e}")))?;
    let spec: Spec = serde_json::from_str(text)
        .map_err(|e| Failure::misuse("spec", format!("the specification of a function: {e}")))?;
    if spec.sources.is_empty() {
        return Err(Failure::misuse("spec", "the specification of a function has no `sources`"));
    }
    Ok(spec)
}

/// The worker is installed where this library is.
fn find_worker_beside_this_library() {
    static FOUND: Once = Once::new();
    FOUND.call_once(|| {
        // SAFETY: all-zero is valid for this struct of pointers, which dladdr fills.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        let own = ffgrad_abi_version as *const libc::c_void;
        // SAFETY: an address in this library, and room for the answer.
        if unsafe { libc::dladdr(own, &mut info) } == 0 || info.dli_fname.is_null() {
            return;
        }
        // SAFETY: dladdr gave a C string that lives as long as the library.
        let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
        let path = std::path::PathBuf::from(path);
        if let Some(folder) = path.canonicalize().unwrap_or(path).parent() {
            compile_driver::toolchain::add_worker_dir(folder.to_owned());
        }
    });
}

/// Closes a function. A call that is running ends first; the handle is never given again.
///
/// # Safety
///
/// `error` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_close(function: Handle, error: *mut *mut Failure) -> i32 {
    // SAFETY: passed on from the caller.
    unsafe { guard(error, || FUNCTIONS.remove(function)) }
}

/// Describes a function: `*json` becomes a JSON object, to be freed with `ffgrad_free_text`.
///
/// # Safety
///
/// `json` can be written to; `error` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_describe(function: Handle, json: *mut *mut c_char, error: *mut *mut Failure) -> i32 {
    // SAFETY: passed on from the caller.
    unsafe { text_of(function, json, error, |function| Some(describe::describe(function))) }
}

/// Has `*json` receive a text about a function, or null where there is none.
///
/// # Safety
///
/// As `ffgrad_describe`.
unsafe fn text_of(
    function: Handle,
    json: *mut *mut c_char,
    error: *mut *mut Failure,
    value: impl FnOnce(&Function) -> Option<serde_json::Value>,
) -> i32 {
    let body = || {
        let json = needed(json, "json")?;
        // SAFETY: not null, and the caller's promise.
        unsafe { json.write(std::ptr::null_mut()) };
        if let Some(value) = value(&*FUNCTIONS.get(function)?) {
            // SAFETY: as above.
            unsafe { json.write(c_text(&value.to_string()).into_raw()) };
        }
        Ok(())
    };
    // SAFETY: passed on from the caller.
    unsafe { guard(error, body) }
}

/// Takes the warnings that arose since the last call of this: `*json` becomes a JSON array of texts, to be freed
/// with `ffgrad_free_text`, or null where there are none. Costs next to nothing then.
///
/// # Safety
///
/// As `ffgrad_describe`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_take_warnings(
    function: Handle,
    json: *mut *mut c_char,
    error: *mut *mut Failure,
) -> i32 {
    let warnings = |function: &Function| function.has_warnings().then(|| serde_json::json!(function.take_warnings()));
    // SAFETY: passed on from the caller.
    unsafe { text_of(function, json, error, warnings) }
}

/// What the last reverse sweep of a loop over steps, or of a checkpointed loop inside the function, did: `*json` becomes a JSON object with
/// `steps`, `snapshots`, `on_disk`, `disk_bytes`, `forward`, `recomputed`, `state_bytes`, `peak_bytes` and `seconds`, to be
/// freed with `ffgrad_free_text`, or null before the first one.
///
/// # Safety
///
/// As `ffgrad_describe`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_checkpointing(
    function: Handle,
    json: *mut *mut c_char,
    error: *mut *mut Failure,
) -> i32 {
    // SAFETY: passed on from the caller.
    unsafe { text_of(function, json, error, |function| function.checkpointing().as_ref().map(describe::checkpointing)) }
}

/// Bytes copied by this process so far.
///
/// # Safety
///
/// `copies` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_copied(copies: *mut Copies) -> i32 {
    let body = || {
        let copies = needed(copies, "copies")?;
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let now = Copies {
            gathered: load(&COPIES.gathered),
            in_place: load(&COPIES.in_place),
            cotangents: load(&COPIES.cotangents),
        };
        // SAFETY: not null, and the caller's promise.
        unsafe { copies.write(now) };
        Ok(())
    };
    // SAFETY: no error is wanted.
    unsafe { guard(std::ptr::null_mut(), body) }
}

/// The message of an error: what happened, where, and what to do next. Lives as long as the error.
///
/// # Safety
///
/// `error` is null or from a function of this library, and not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_error_message(error: *const Failure) -> *const c_char {
    // SAFETY: null or valid, by the caller's promise.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |failure| failure.message.as_ptr())
}

/// The same for programs: a JSON object with `kind`, `code` and, where they apply, `function`, `file`, `line`,
/// `expected`, `found`, `hints`, `output`, `kept`, `argument`, `problems`, `prototype`, `suggestion`. Lives as long as the error.
///
/// # Safety
///
/// As `ffgrad_error_message`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_error_details(error: *const Failure) -> *const c_char {
    // SAFETY: null or valid, by the caller's promise.
    unsafe { error.as_ref() }.map_or(c"{}".as_ptr(), |failure| failure.details.as_ptr())
}

/// Frees an error; null is nothing.
///
/// # Safety
///
/// As `ffgrad_error_message`; the error is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_error_free(error: *mut Failure) {
    if !error.is_null() {
        // SAFETY: from `Box::into_raw` in `guard`, and released once.
        drop(unsafe { Box::from_raw(error) });
    }
}

/// Frees a text that a function of this library gave; null is nothing.
///
/// # Safety
///
/// The text is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_free_text(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: from `CString::into_raw`, and released once.
        drop(unsafe { CString::from_raw(text) });
    }
}
