//! Calls the entry points of derivatives so that a crash in one is an error of the call, not the end of the process.
//!
//! Checks run in a process of their own, but values decide paths, and what a path does is seen only when a call takes it: a derivative may crash
//! where the function does not, recurse too deeply, or be short of memory. The jump out of it crosses frames of foreign code only; what
//! that code had allocated outside the arena is lost. Ranks of an MPI program and threads of parallel regions are not guarded: others wait for them.

use crate::error::Error;
use crate::load::artifact::{Artifact, EntryPoint};
use crate::os::process::name_of;
use core_ad::diagnostics::{Diagnosis, callees};
use core_ad::protocol::Entry;
use libc::{c_int, c_void};
use std::cell::RefCell;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    fn ffgrad_guard_install();
    fn ffgrad_guarded_call(
        entry: EntryPoint,
        arguments: *const *mut c_void,
        status: *mut i32,
        crashes: c_int,
        checks: c_int,
    ) -> c_int;
}

/// What a call gives for a failed check, in place of a signal.
const FAILED_CHECK: c_int = 1000;

/// Code of the error for a derivative that came to a failed check.
const STOPPED: &str = "derivative-stopped";

/// Code of the error for a derivative that crashed in the caller's process.
const CRASHED: &str = "derivative-crashed";

/// Code of the error for a derivative that memory was short for.
pub(crate) const OUT_OF_MEMORY: &str = "derivative-out-of-memory";

/// Bytes for the handler of a crash at the end of a stack.
const HANDLER_STACK: usize = 64 << 10;

thread_local! {
    /// The handler's stack of this thread, where it had none.
    static STACK: RefCell<Option<HandlerStack>> = const { RefCell::new(None) };
}

static INSTALLED: Once = Once::new();

static OFF: AtomicBool = AtomicBool::new(false);

/// Lets crashes end this process: for the prover, whose end by a signal is its answer.
pub fn switch_off() {
    OFF.store(true, Ordering::Relaxed);
}

/// Whether this process is the prover.
pub fn is_off() -> bool {
    OFF.load(Ordering::Relaxed)
}

/// What is caught in a call.
#[derive(Clone, Copy)]
pub struct Guard {
    crashes: bool,
    checks: bool,
}

/// What is caught in calls of this entry point. Of the function itself nothing: without ffgrad it would crash as well.
pub fn guard(artifact: &Artifact, entry: Entry) -> Guard {
    let is_alone = entry != Entry::Primal && artifact.ranks.is_none() && artifact.teams.is_none();
    Guard { crashes: is_alone && !is_off(), checks: is_alone && artifact.has_checks }
}

/// Makes this thread ready for guarded calls.
fn prepare() {
    // SAFETY: called once.
    INSTALLED.call_once(|| unsafe { ffgrad_guard_install() });
    // While a thread ends there is nothing to prepare.
    let _ = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        if stack.is_none() {
            *stack = Some(HandlerStack::new());
        }
    });
}

/// Calls an entry point; what was caught, if anything.
///
/// # Safety
///
/// `arguments` are what the entry point takes.
pub unsafe fn call(entry: EntryPoint, arguments: *const *mut c_void, guard: Guard) -> Result<i32, c_int> {
    let Guard { crashes, checks } = guard;
    if !crashes && !checks {
        // SAFETY: by contract.
        return Ok(unsafe { entry(arguments) });
    }
    if crashes {
        prepare();
    }
    let mut status = 0;
    // SAFETY: by contract; the jump ends in the function called here.
    match unsafe { ffgrad_guarded_call(entry, arguments, &raw mut status, crashes.into(), checks.into()) } {
        0 => Ok(status),
        caught => Err(caught),
    }
}

/// The error for a derivative that crashed or came to a failed check, whose memory is then given back.
pub fn error(function: &str, artifact: &Artifact, signal: c_int) -> Error {
    // SAFETY: the entry point will not go on.
    let was_short = artifact.after_crash.is_some_and(|settle| unsafe { settle() } != 0);
    if signal == FAILED_CHECK {
        return stopped(function, artifact.record.threads.as_ref());
    }
    if was_short {
        let headline = format!("the derivative of `{function}` needs more memory than there is");
        return Error::Memory(Box::new(Diagnosis::new(OUT_OF_MEMORY, function, headline).advise(
            "Its reverse sweep keeps values of every iteration. Use forward mode (`jvp`), or let the function do fewer iterations in a call.",
        )));
    }
    if artifact.has_mixed_blocks() {
        return mixed_blocks(function);
    }
    let headline = format!("the derivative of `{function}` crashed{} in this call", name_of(signal));
    Error::Differentiation(Box::new(Diagnosis::new(CRASHED, function, headline).advise(
        "The call took a path that no verified call has taken. Memory of this process may be damaged: save what matters and start it again.",
    )))
}

/// The error for a failed check that the function itself passes, or for a start of threads; where the function ends, its own exception or end is the
/// answer.
fn stopped(function: &str, threads: Option<&String>) -> Error {
    if let Some(name) = threads {
        return Error::Differentiation(Box::new(callees::threads(function, name.clone())));
    }
    let headline =
        format!("the derivative of `{function}` stops at a check of its arguments or results that the function passes");
    Error::Differentiation(Box::new(Diagnosis::new(STOPPED, function, headline).advise(
        "Rounding decides it: optimised code rounds sums and products in another order. Leave some room in the test.",
    )))
}

/// Whether a derivative came to a failed check.
pub fn is_stop(error: &Error) -> bool {
    matches!(error, Error::Differentiation(diagnosis) if [STOPPED, callees::THREADS].contains(&diagnosis.code.as_str()))
}

/// What `runtime/checkpoint.c` prints before it stops a loop for that reason.
pub(crate) const MIXED_BLOCKS: &str = "ffgrad: a checkpointed loop uses two blocks of one allocation";

/// The error for a checkpointed loop whose addresses lead to different blocks of what the code shows as one allocation.
pub(crate) fn mixed_blocks(function: &str) -> Error {
    let headline = format!(
        "a loop of `{function}` cannot be checkpointed: it uses memory that one line of the program allocates several times"
    );
    let advice = "Allocate each array in a line of its own, before the loop.";
    Error::Differentiation(Box::new(Diagnosis::new("checkpoint", function, headline).advise(advice)))
}

/// Whether the error is such a crash, and not for want of memory.
pub fn is_crash(error: &Error) -> bool {
    matches!(error, Error::Differentiation(diagnosis) if diagnosis.code == CRASHED)
}

/// A stack for handlers, which goes with the thread. Empty where the thread had one, or there is no memory.
struct HandlerStack(*mut c_void);

impl HandlerStack {
    fn new() -> Self {
        let none = HandlerStack(ptr::null_mut());
        // SAFETY: reads this thread's setting, maps memory and gives it to the thread.
        unsafe {
            let mut present: libc::stack_t = std::mem::zeroed();
            if libc::sigaltstack(ptr::null(), &raw mut present) != 0 || present.ss_flags & libc::SS_DISABLE == 0 {
                return none;
            }
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(ptr::null_mut(), HANDLER_STACK, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return none;
            }
            let wanted = libc::stack_t { ss_sp: start, ss_flags: 0, ss_size: HANDLER_STACK };
            if libc::sigaltstack(&raw const wanted, ptr::null_mut()) != 0 {
                libc::munmap(start, HANDLER_STACK);
                return none;
            }
            HandlerStack(start)
        }
    }
}

impl Drop for HandlerStack {
    fn drop(&mut self) {
        if self.0.is_null() {
            return;
        }
        // SAFETY: the mapping made above, which no handler uses now. A stack that someone has set since stays.
        unsafe {
            let mut present: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(ptr::null(), &raw mut present);
            if present.ss_sp == self.0 {
                let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
                libc::sigaltstack(&raw const none, ptr::null_mut());
            }
            libc::munmap(self.0, HANDLER_STACK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn writes_to_null(arguments: *const *mut c_void) -> i32 {
        // SAFETY: none; this is the crash.
        unsafe { (*arguments).cast::<i32>().write_volatile(1) };
        0
    }

    unsafe extern "C" fn returns_seven(_: *const *mut c_void) -> i32 {
        7
    }

    unsafe extern "C" fn recurses(arguments: *const *mut c_void) -> i32 {
        let frame = std::hint::black_box([1_u8; 4096]);
        if std::hint::black_box(frame[17]) == 0 {
            return 0;
        }
        // SAFETY: calls itself with what it was given.
        i32::from(frame[18]) + std::hint::black_box(unsafe { recurses(std::hint::black_box(arguments)) })
    }

    fn guarded(entry: EntryPoint) -> Result<i32, c_int> {
        let null: *mut c_void = ptr::null_mut();
        // SAFETY: what these functions take.
        unsafe { call(entry, &raw const null, Guard { crashes: true, checks: false }) }
    }

    #[test]
    fn a_crash_is_a_result_each_time() {
        for _ in 0..3 {
            assert_eq!(guarded(writes_to_null), Err(libc::SIGSEGV));
            assert_eq!(guarded(returns_seven), Ok(7));
        }
    }

    #[test]
    fn a_recursion_without_end_is_one_too_on_any_thread() {
        let run = || guarded(recurses);
        assert_eq!(std::thread::spawn(run).join().expect("no panic"), Err(libc::SIGSEGV));
        assert_eq!(
            std::thread::spawn(move || (run(), run())).join().expect("no panic"),
            (Err(libc::SIGSEGV), Err(libc::SIGSEGV))
        );
    }

    #[test]
    fn signals_that_are_sent_and_crashes_elsewhere_end_the_process_as_ever() {
        for sends in [true, false] {
            // SAFETY: the child only crashes or ends.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: no destructor and no lock of the parent's is needed.
                unsafe {
                    // Not Rust's own handler, which takes a sent signal for nothing.
                    libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                    ffgrad_guard_install();
                    if sends {
                        libc::kill(libc::getpid(), libc::SIGSEGV);
                    } else {
                        ptr::null_mut::<i32>().write_volatile(1);
                    }
                    libc::_exit(0);
                }
            }
            let mut status = 0;
            // SAFETY: waits for the child made above.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV);
        }
    }
}
