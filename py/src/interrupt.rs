//! Python's signals while the driver waits: Ctrl-C during a build raises `KeyboardInterrupt` before the build is done.
//!
//! Python runs its signal handlers on the main thread between two instructions of a program, so never during a call into native
//! code. Calls go through [`detached`]; while the driver waits on that thread it asks here, the handlers run, and what they
//! raise ends the build and is raised by the call. An operator or kernel that a framework calls on that thread registers its
//! call ([`HOST`]); its failure reaches Python as the framework's own, in whose place [`interruption`] gives what was raised. On other
//! threads nothing can be asked: handlers run on the main thread alone.

use compile_driver::os::interrupt::Host;
use compile_driver::os::progress::Level;
use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Python's main thread, as the system numbers it.
static MAIN: AtomicUsize = AtomicUsize::new(0);
/// Calls of [`detached`] that the main thread is in.
static INSIDE: AtomicU32 = AtomicU32::new(0);
/// Whether a handler has raised.
static RAISED: AtomicBool = AtomicBool::new(false);
/// What it has raised.
static ERROR: Mutex<Option<PyErr>> = Mutex::new(None);

/// What drivers ask: this library's, and those in the operation libraries of frameworks.
pub static HOST: Host = Host { asked, begun, ended };

/// Has the driver ask here.
pub fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?.extract::<usize>()?;
    MAIN.store(main, Ordering::Relaxed);
    compile_driver::os::interrupt::embed(HOST);
    compile_driver::os::progress::log_to(log);
    let forked = wrap_pyfunction!(forked, module)?;
    let arguments = pyo3::types::PyDict::new(py);
    arguments.set_item("after_in_child", forked)?;
    py.import("os")?.call_method("register_at_fork", (), Some(&arguments)).map(drop)
}

/// In a forked process the thread that forked is the main one.
#[pyfunction]
fn forked() {
    MAIN.store(this_thread(), Ordering::Relaxed);
    INSIDE.store(0, Ordering::Relaxed);
    RAISED.store(false, Ordering::Relaxed);
}

/// Runs native code without the GIL, as `Python::detach`. An exception of a signal's handler takes the place of what it returns.
pub fn detached<T: Send>(py: Python<'_>, run: impl FnOnce() -> T + Send) -> PyResult<T> {
    if this_thread() != MAIN.load(Ordering::Relaxed) {
        return Ok(py.detach(run));
    }
    let inside = Inside::enter();
    let outcome = py.detach(run);
    drop(inside);
    match RAISED.load(Ordering::Relaxed) && INSIDE.load(Ordering::Relaxed) == 0 {
        true => taken().map_or(Ok(outcome), Err),
        false => Ok(outcome),
    }
}

/// Where [`HOST`] is, for a library with a driver of its own.
#[pyfunction]
pub fn interrupt_host() -> usize {
    (&raw const HOST) as usize
}

/// What a signal's handler has raised during a call that a framework made on this thread; `None` where none did.
#[pyfunction]
pub fn interruption(py: Python<'_>) -> Option<Py<PyAny>> {
    let is_over = this_thread() == MAIN.load(Ordering::Relaxed) && INSIDE.load(Ordering::Relaxed) == 0;
    let raised = (is_over && RAISED.load(Ordering::Relaxed)).then(taken).flatten()?;
    Some(raised.into_value(py).into_any())
}

fn taken() -> Option<PyErr> {
    RAISED.store(false, Ordering::Relaxed);
    ERROR.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The main thread is inside a call, also if that panics.
struct Inside;

impl Inside {
    fn enter() -> Self {
        begun();
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        ended();
    }
}

/// A call begins on this thread.
extern "C" fn begun() {
    if this_thread() == MAIN.load(Ordering::Relaxed) && INSIDE.fetch_add(1, Ordering::Relaxed) == 0 {
        // An interrupt of an earlier call that was never polled is dropped.
        RAISED.store(false, Ordering::Relaxed);
    }
}

/// It has ended.
extern "C" fn ended() {
    if this_thread() == MAIN.load(Ordering::Relaxed) {
        INSIDE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The driver's question: whether its call is to end. Once yes, it stays so until that call has returned.
extern "C" fn asked() -> bool {
    if this_thread() != MAIN.load(Ordering::Relaxed) || INSIDE.load(Ordering::Relaxed) == 0 {
        return false;
    }
    if RAISED.load(Ordering::Relaxed) {
        return true;
    }
    // Not `Python::try_attach`: below a call of ours a framework may have let go of the interpreter, which PyO3 does not see.
    // SAFETY: the main thread is inside a call of Python's, so it has a state to go on with; it is released below.
    let raised = unsafe {
        if ffi::Py_IsInitialized() == 0 {
            return false;
        }
        let state = ffi::PyGILState_Ensure();
        let raised = Python::assume_attached().check_signals().err();
        ffi::PyGILState_Release(state);
        raised
    };
    let Some(error) = raised else { return false };
    keep(error);
    true
}

/// Keeps what the call will raise.
fn keep(error: PyErr) {
    *ERROR.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    RAISED.store(true, Ordering::Relaxed);
}

/// Passes what a build is at to `logging`, on the main thread inside a call; logging may run any code of the user's, so elsewhere it is not
/// asked to.
fn log(level: Level, line: &str) {
    if this_thread() != MAIN.load(Ordering::Relaxed) || INSIDE.load(Ordering::Relaxed) == 0 {
        return;
    }
    let method = match level {
        Level::Info => "info",
        Level::Notice => "warning",
    };
    // SAFETY: as in `asked`.
    unsafe {
        if ffi::Py_IsInitialized() == 0 {
            return;
        }
        let state = ffi::PyGILState_Ensure();
        let py = Python::assume_attached();
        let logged = py
            .import("logging")
            .and_then(|logging| logging.call_method1("getLogger", ("ffgrad",)))
            .and_then(|logger| logger.call_method1(method, ("%s", line)).map(drop));
        // A handler of logging that raises has no say in the build; one of a signal, which may run in there, has.
        if let Err(error) = logged
            && !error.is_instance_of::<PyException>(py)
        {
            keep(error);
        }
        ffi::PyGILState_Release(state);
    }
}

fn this_thread() -> usize {
    // SAFETY: it has no preconditions and cannot fail.
    unsafe { libc::pthread_self() as usize }
}
