//! Runs a verb that calls the user's function in a child of this process: the function may end its process, or crash, and what it was doing
//! is then an error of the command.

use std::error::Error;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

/// Names the descriptor on which the child says that it has come to its end. Private: only this program sets and reads it.
const VARIABLE: &str = "FFGRAD_WITHIN";

/// Where this process is the child: its end of the pipe.
static OUTSIDE: OnceLock<OwnedFd> = OnceLock::new();

/// Where this process is the child: what was its standard output.
static OUTPUT: OnceLock<File> = OnceLock::new();

/// Takes note of whether this process is the child. To be called before anything else.
pub fn begin() {
    let Some(text) = std::env::var_os(VARIABLE) else { return };
    // SAFETY: this process has one thread yet.
    unsafe { std::env::remove_var(VARIABLE) };
    let Some(number) = text.to_str().and_then(|text| text.parse::<i32>().ok()).filter(|&number| number > 2) else {
        return;
    };
    // SAFETY: plain calls on a number; nobody else owns the descriptor, if there is one. Compilers do not inherit it.
    unsafe {
        if libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) == 0 {
            let _ = OUTSIDE.set(OwnedFd::from_raw_fd(number));
        }
        keep_output();
    }
}

/// Has what the function prints go to standard error: standard output, which others may read as JSON, is the command's own ([`output`]).
///
/// # Safety
///
/// This process has one thread.
unsafe fn keep_output() {
    // SAFETY: plain calls on the standard descriptors; the copy is new. Without one, all is as it was.
    unsafe {
        let copy = libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3);
        if copy >= 0 && libc::dup2(2, 1) == 1 {
            let _ = OUTPUT.set(File::from_raw_fd(copy));
        }
    }
}

/// What was this process's standard output when it began; `None` where it still is.
pub fn output() -> Option<&'static File> {
    OUTPUT.get()
}

/// Whether this process is the child.
pub fn is_inside() -> bool {
    OUTSIDE.get().is_some()
}

/// Says that this process has come to its end by itself; without one that waits it does nothing.
pub fn done() {
    if let Some(outside) = OUTSIDE.get() {
        // SAFETY: one byte of this stack. Who does not read it is gone.
        unsafe { libc::write(outside.as_raw_fd(), [1u8].as_ptr().cast(), 1) };
    }
}

/// Runs this command again in a child, which prints for itself. Its exit status.
///
/// # Errors
///
/// The function's end: it exited or crashed.
pub fn run(function: &str) -> Result<ExitCode, Box<dyn Error>> {
    let (mut ours, theirs) = io::pipe()?;
    let number = theirs.as_raw_fd();
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).env(VARIABLE, number.to_string());
    let parent = std::process::id();
    // SAFETY: between fork and exec only calls that are safe there: the descriptor outlives the exec, the child does not outlive us.
    unsafe {
        command.pre_exec(move || {
            if libc::fcntl(number, libc::F_SETFD, 0) != 0 {
                return Err(io::Error::last_os_error());
            }
            #[cfg(target_os = "linux")]
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // It may have ended before.
            if u32::try_from(libc::getppid()) != Ok(parent) {
                libc::_exit(1);
            }
            Ok(())
        });
    }
    let status = command.status()?;
    drop(theirs);
    match (has_said(&mut ours), status.code()) {
        (true, Some(code)) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        _ => Err(compile_driver::prover::ended(function, status).into()),
    }
}

/// Whether the child has written its byte. What the function has started may hold the pipe open: nothing is waited for.
fn has_said(pipe: &mut PipeReader) -> bool {
    let mut end = libc::pollfd { fd: pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure of this stack.
    let is_ready = unsafe { libc::poll(&raw mut end, 1, 0) } > 0 && end.revents & libc::POLLIN != 0;
    is_ready && pipe.read(&mut [0; 1]).is_ok_and(|count| count == 1)
}
