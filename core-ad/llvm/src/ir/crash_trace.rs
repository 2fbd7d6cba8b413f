//! Crash trace: names the step and the function that the worker was processing when it crashed.
//!
//! LLVM does the same for its own passes (pretty stack trace). Both are written by handlers of the signals that a crash
//! raises, so that keeping the trace costs a copy of a few bytes. The driver reads it (`core_ad::diagnostics::worker`).

use core_ad::diagnostics::worker::{AT, FUNCTION};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::raw::c_int;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// Longer names are cut.
const MOST: usize = 1024;

/// The line: the step, then the function that it processes. Only the worker's one thread writes it, and reads it in a handler.
static LINE: [AtomicU8; MOST] = [const { AtomicU8::new(0) }; MOST];
static STEP_END: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// Signals of a crash. The driver sends SIGABRT to a worker whose time is up.
const CRASHES: [c_int; 5] = [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];

/// Handlers that were there before, LLVM's.
static BEFORE: OnceLock<Vec<(c_int, libc::sigaction)>> = OnceLock::new();

/// Installs the crash handlers.
pub fn keep() {
    // SAFETY: sets handlers of LLVM's own; called once, before anything else of LLVM, on the only thread.
    unsafe { llvm_sys::error_handling::LLVMEnablePrettyStackTrace() };
    BEFORE.get_or_init(|| CRASHES.into_iter().filter_map(take_over).collect());
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print_trace();
        others(panic);
    }));
}

/// A file to which each step adds its name and the milliseconds that it took: for those who make the worker faster.
const STEP_TIMES: &str = "FFGRAD_STEP_TIMES";

/// Begins a step.
pub fn step(name: &str) {
    note_time(name);
    let end = [AT, name].iter().fold(0, |at, text| write(at, text.as_bytes()));
    STEP_END.store(end, Ordering::Relaxed);
    END.store(end, Ordering::Relaxed);
}

/// Names the function that the step is at.
pub fn function(name: &[u8]) {
    let end = [FUNCTION.as_bytes(), name].iter().fold(STEP_END.load(Ordering::Relaxed), |at, text| write(at, text));
    END.store(end, Ordering::Relaxed);
}

/// Adds the step that ends here to [`STEP_TIMES`].
fn note_time(next: &str) {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    static LAST: Mutex<Option<(Instant, String)>> = Mutex::new(None);
    let open = || OpenOptions::new().create(true).append(true).open(std::env::var_os(STEP_TIMES)?).ok();
    let (Some(mut file), Ok(mut last)) = (FILE.get_or_init(open).as_ref(), LAST.lock()) else { return };
    let now = Instant::now();
    if let Some((since, name)) = last.replace((now, next.to_owned())) {
        // A measurement that cannot be written is no reason to fail.
        let _ = writeln!(file, "{:8} {name}", now.duration_since(since).as_millis());
    }
}

fn write(at: usize, text: &[u8]) -> usize {
    let room = &LINE[at.min(MOST)..];
    room.iter().zip(text).for_each(|(cell, byte)| cell.store(*byte, Ordering::Relaxed));
    at + text.len().min(room.len())
}

/// Puts [`crashed`] in the place of a signal's handler, and returns that.
fn take_over(signal: c_int) -> Option<(c_int, libc::sigaction)> {
    // SAFETY: all bytes zero is a valid `sigaction`; both structures live on this stack, and the handler does only what a handler
    // may.
    unsafe {
        let (mut ours, mut before): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        ours.sa_sigaction = crashed as extern "C" fn(c_int) as usize;
        // On the stack that LLVM has made for handlers: that of the thread may be what is used up.
        ours.sa_flags = libc::SA_ONSTACK | libc::SA_NODEFER;
        (libc::sigaction(signal, &raw const ours, &raw mut before) == 0).then_some((signal, before))
    }
}

/// Writes the trace, lets LLVM write its own, and ends the worker.
extern "C" fn crashed(signal: c_int) {
    print_trace();
    let before = BEFORE.get().and_then(|all| all.iter().find(|(s, _)| *s == signal));
    // SAFETY: sigaction, signal and raise may be called in a handler; the structure is one that the system gave.
    unsafe {
        if let Some((_, before)) = before {
            libc::sigaction(signal, before, std::ptr::null_mut());
            libc::raise(signal);
        }
        // What the other handler does about a signal that was sent, not caused, is its own affair: here it ends the worker.
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn print_trace() {
    let newline = AtomicU8::new(b'\n');
    for (start, length) in [(LINE.as_ptr(), END.load(Ordering::Relaxed)), (&raw const newline, 1)] {
        // SAFETY: so many bytes of a live array; an AtomicU8 is laid out as a byte, and nobody writes meanwhile. That standard
        // error is closed cannot be helped here.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, start.cast(), length) };
    }
}
