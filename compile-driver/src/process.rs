//! The one way ffgrad starts another program: arguments and standard input in, status and both outputs out, within a
//! time limit. Compilers, engines, the worker and pip all go through here.
//!
//! The child leads a process group of its own, so a time-out ends its children too, and a Ctrl-C in a terminal is the
//! caller's to handle. Pipes are served by threads, so no amount of input or output can block either side.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

pub use std::process::Output;

/// Why a program gave no exit status of its own.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such program, or it names an interpreter or loader that does not exist.
    #[error("cannot start `{}`: no such program", .program.display())]
    NotFound {
        /// The program as it was asked for.
        program: PathBuf,
    },
    /// The program was still running when its time was up, and was killed with its children.
    #[error("`{}` was stopped after {} s without an answer", .program.display(), .after.as_secs_f32())]
    TimedOut {
        /// The program as it was asked for.
        program: PathBuf,
        /// The time it was given.
        after: Duration,
        /// What it had written to standard error by then.
        stderr: String,
    },
    /// The program was ended by a signal: it crashed, aborted or was killed.
    #[error("`{}` was ended by signal {signal}{}", .program.display(), name_of(*.signal))]
    Signal {
        /// The program as it was asked for.
        program: PathBuf,
        /// The number of the signal.
        signal: i32,
        /// What it wrote to standard error before; it often says why.
        stderr: String,
    },
    /// The operating system refused to start the program or to pass data.
    #[error("cannot run `{}`", .program.display())]
    Io {
        /// The program as it was asked for.
        program: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

impl ProcessError {
    /// What the program had written to standard error, as text; empty where it never started.
    pub fn stderr(&self) -> &str {
        match self {
            Self::TimedOut { stderr, .. } | Self::Signal { stderr, .. } => stderr,
            Self::NotFound { .. } | Self::Io { .. } => "",
        }
    }
}

fn name_of(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (abort)",
        libc::SIGSEGV => " (segmentation fault)",
        libc::SIGBUS => " (bus error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGFPE => " (arithmetic exception)",
        libc::SIGKILL => " (killed, perhaps for want of memory)",
        libc::SIGTERM => " (terminated)",
        libc::SIGINT => " (interrupted)",
        _ => "",
    }
}

/// Runs `cmd` to its end in a process group of its own, feeding it `stdin` (nothing: an empty input), and captures both
/// outputs. An exit status other than 0 is not an error here.
///
/// # Errors
/// [`ProcessError`]: not found, not startable, out of time, or ended by a signal.
pub fn run(cmd: &mut Command, stdin: Option<&[u8]>, timeout: Duration) -> Result<Output, ProcessError> {
    cmd.process_group(0);
    run_here(cmd, stdin, timeout, Group::Own)
}

/// As [`run`], but in the caller's process group: a Ctrl-C in the terminal ends the child too. For downloads.
///
/// # Errors
/// As [`run`].
pub fn run_foreground(cmd: &mut Command, stdin: Option<&[u8]>, timeout: Duration) -> Result<Output, ProcessError> {
    run_here(cmd, stdin, timeout, Group::Shared)
}

/// A command as a person would type it, for manifests and messages: quoted where a shell needs it.
pub fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./,:+%@^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[derive(Clone, Copy, PartialEq)]
enum Group {
    Own,
    Shared,
}

/// How long a pipe may stay open, held by a grandchild, after the child itself has ended.
const GRACE: Duration = Duration::from_secs(1);

fn run_here(cmd: &mut Command, stdin: Option<&[u8]>, timeout: Duration, group: Group) -> Result<Output, ProcessError> {
    let program = PathBuf::from(cmd.get_program());
    let io_error = |source| ProcessError::Io { program: program.clone(), source };
    cmd.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = spawn(cmd).map_err(|source| match source.kind() {
        ErrorKind::NotFound => ProcessError::NotFound { program: program.clone() },
        _ => io_error(source),
    })?;

    let (done, finished) = mpsc::channel();
    let stdout = child.stdout.take().map(|pipe| collect(pipe, done.clone()));
    let stderr = child.stderr.take().map(|pipe| collect(pipe, done));
    let taken = |buffer: &Option<Buffer>| buffer.as_ref().map(take).unwrap_or_default();

    let ended = thread::scope(|scope| {
        if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), stdin) {
            // A child that stops reading early has its own reasons: its status and its stderr tell them.
            scope.spawn(move || {
                block_sigpipe();
                drop(pipe.write_all(bytes));
            });
        }
        wait(&mut child, &finished, started, timeout, group)
    });
    let Some(status) = ended.map_err(io_error)? else {
        return Err(ProcessError::TimedOut { program, after: timeout, stderr: text(&taken(&stderr)) });
    };
    let output = Output { status, stdout: taken(&stdout), stderr: taken(&stderr) };
    match status.signal() {
        Some(signal) => Err(ProcessError::Signal { program, signal, stderr: text(&output.stderr) }),
        None => Ok(output),
    }
}

/// Keeps a broken pipe an error of `write`: a host program that is neither Rust nor Python may have left SIGPIPE deadly.
fn block_sigpipe() {
    // SAFETY: the set lives on this stack and is initialised by sigemptyset before it is read; the mask belongs to this
    // short-lived thread alone, and SIGPIPE is sent to the thread that writes.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// Starts the child; a file that another thread's fork still holds open for writing is tried again for a moment.
fn spawn(cmd: &mut Command) -> io::Result<Child> {
    for _ in 0..40 {
        match cmd.spawn() {
            Err(busy) if busy.kind() == ErrorKind::ExecutableFileBusy => thread::sleep(Duration::from_millis(5)),
            other => return other,
        }
    }
    cmd.spawn()
}

type Buffer = Arc<Mutex<Vec<u8>>>;

/// Reads a pipe to its end on a thread of its own. Not joined: a pipe that outlives the child must not hold the caller.
fn collect(mut pipe: impl Read + Send + 'static, done: mpsc::Sender<()>) -> Buffer {
    let buffer = Buffer::default();
    let target = Arc::clone(&buffer);
    thread::spawn(move || {
        let mut chunk = vec![0; 1 << 16];
        loop {
            match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => target.lock().unwrap_or_else(|e| e.into_inner()).extend_from_slice(&chunk[..n]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // The receiver may be gone already.
        let _ = done.send(());
    });
    buffer
}

fn take(buffer: &Buffer) -> Vec<u8> {
    std::mem::take(&mut buffer.lock().unwrap_or_else(|e| e.into_inner()))
}

/// Waits for both pipes to close and the child to end; `None` when its time was up first.
fn wait(
    child: &mut Child,
    finished: &mpsc::Receiver<()>,
    started: Instant,
    timeout: Duration,
    group: Group,
) -> io::Result<Option<std::process::ExitStatus>> {
    let mut open = 2;
    let mut ended: Option<Instant> = None;
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(status) = child.try_wait()? {
            let since = *ended.get_or_insert_with(Instant::now);
            if open == 0 {
                return Ok(Some(status));
            }
            if since.elapsed() > GRACE {
                kill(child, group);
                return Ok(Some(status));
            }
        } else if started.elapsed() >= timeout {
            kill(child, group);
            child.wait()?;
            return Ok(None);
        }
        // While a pipe is open, its end is what wakes us; after that the child has only to be reaped.
        let left = timeout.saturating_sub(started.elapsed()).max(Duration::from_millis(1));
        if open == 0 {
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        } else if finished.recv_timeout(left.min(Duration::from_millis(50))).is_ok() {
            open -= 1;
        }
    }
}

fn kill(child: &mut Child, group: Group) {
    if group == Group::Own
        && let Ok(id) = i32::try_from(child.id())
    {
        // SAFETY: kill(2) takes plain numbers and touches no memory. The id is that of the group this child leads,
        // which stays reserved while any member lives.
        unsafe { libc::kill(-id, libc::SIGKILL) };
    }
    // An error means that it has ended by itself.
    let _ = child.kill();
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn sh(script: &str) -> Command {
        let mut cmd = Command::new("/bin/sh");
        cmd.args(["-c", script]);
        cmd
    }

    #[test]
    fn status_and_both_outputs_are_captured() {
        let out = run(&mut sh("echo out; echo err >&2; exit 3"), None, LONG).expect("runs");
        assert_eq!((out.status.code(), &out.stdout[..], &out.stderr[..]), (Some(3), &b"out\n"[..], &b"err\n"[..]));
    }

    #[test]
    fn megabytes_through_both_pipes_do_not_deadlock() {
        let big = vec![b'x'; 8 << 20];
        let out = run(&mut Command::new("cat"), Some(&big), LONG).expect("runs");
        assert_eq!(out.stdout.len(), big.len());
    }

    #[test]
    fn a_child_that_ignores_its_input_is_not_an_error() {
        let out = run(&mut Command::new("true"), Some(&vec![0; 4 << 20]), LONG).expect("runs");
        assert!(out.status.success());
    }

    #[test]
    fn a_missing_program_is_not_found() {
        let err = run(&mut Command::new("/no/such/program"), None, LONG).expect_err("is missing");
        assert!(matches!(err, ProcessError::NotFound { .. }), "{err}");
    }

    #[test]
    fn a_signal_is_named_and_keeps_the_output() {
        let err = run(&mut sh("echo why >&2; kill -ABRT $$"), None, LONG).expect_err("aborts");
        assert!(matches!(&err, ProcessError::Signal { signal: 6, .. }), "{err}");
        assert_eq!(err.stderr(), "why\n");
        assert!(err.to_string().ends_with("signal 6 (abort)"), "{err}");
    }

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let mut cmd = Command::new("clang");
        cmd.args(["-O1", "-DX=a b", "it's.c", ""]);
        assert_eq!(command_line(&cmd), r"clang -O1 '-DX=a b' 'it'\''s.c' ''");
    }

    #[test]
    fn a_time_out_kills_the_grandchildren_too() {
        let dir = tempfile::tempdir().expect("a folder");
        let mark = dir.path().join("mark");
        let started = Instant::now();
        let script = format!("(sleep 0.6; touch {}) & echo begun >&2; sleep 20", mark.display());
        let err = run(&mut sh(&script), None, Duration::from_millis(200)).expect_err("is too slow");
        assert!(matches!(err, ProcessError::TimedOut { .. }), "{err}");
        assert_eq!(err.stderr(), "begun\n");
        assert!(started.elapsed() < Duration::from_secs(5));
        thread::sleep(Duration::from_millis(800));
        assert!(!mark.exists(), "the grandchild lived on");
    }

    #[test]
    fn a_daemon_that_keeps_the_pipe_does_not_hold_the_caller() {
        let started = Instant::now();
        let out = run(&mut sh("sleep 20 & echo done"), None, LONG).expect("runs");
        assert_eq!(out.stdout, b"done\n");
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
