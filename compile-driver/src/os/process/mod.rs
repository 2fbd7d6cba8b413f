//! Starts every other program that ffgrad runs: arguments and standard input in, status and both outputs out, within limits of time,
//! memory and output. Compilers, Enzyme, the worker and pip are all started here.
//!
//! The child is in a process group of its own ([`group`]), which ends with it, with its time, and with this process, however that ends;
//! a Ctrl-C in a terminal is the caller's to handle, who is asked while we wait ([`crate::os::interrupt`]). Pipes are read by threads, so
//! no amount of output can block either side, and what is kept of it is bounded ([`capture`]). [`memory`] has the limit of
//! memory, [`clock`] the time that counts.

pub mod capture;
pub mod clock;
pub mod group;
pub mod memory;

use crate::os::size;
use crate::os::{interrupt, progress};
use capture::{Capture, Keep};
use clock::Clock;
use group::Group;
use std::fs::File;
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
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
    /// The program was still running when its time ([`clock`]) was up, and was killed with its children.
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
        /// What it wrote to standard error before; it often has the reason.
        stderr: String,
    },
    /// The program was allowed less memory than it needs.
    #[error(
        "`{}` got no more memory: its limit is {}. Set FFGRAD_MEMORY_LIMIT to more (16G), or to none",
        .program.display(), size::written(*.limit)
    )]
    OutOfMemory {
        /// The program as it was asked for.
        program: PathBuf,
        /// Bytes that it was allowed.
        limit: u64,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The program could not write a file: the disk, or the user's part of it, is full.
    #[error("`{}` found no room on the disk", .program.display())]
    DiskFull {
        /// The program as it was asked for.
        program: PathBuf,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The program wrote more to its standard output than any result can be, and was killed.
    #[error("`{}` was stopped after {} of output", .program.display(), size::written(*.limit as u64))]
    TooMuch {
        /// The program as it was asked for.
        program: PathBuf,
        /// Bytes that it may write.
        limit: usize,
    },
    /// The user wanted the call to end; the program was killed with its children.
    #[error("`{}` was interrupted", .program.display())]
    Interrupted {
        /// The program as it was asked for.
        program: PathBuf,
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
            Self::TimedOut { stderr, .. }
            | Self::Signal { stderr, .. }
            | Self::OutOfMemory { stderr, .. }
            | Self::DiskFull { stderr, .. } => stderr,
            Self::NotFound { .. } | Self::TooMuch { .. } | Self::Interrupted { .. } | Self::Io { .. } => "",
        }
    }
}

/// How a compiler reports a full disk. The linker maps its output: a page for which the disk has no room is a bus error.
const FULL_DISK: [&str; 4] =
    ["No space left on device", "Disk quota exceeded", "File too large", "unable to execute command: Bus error"];

impl ProcessError {
    /// The resource that a failed program lacked, where its output reports one.
    pub fn lack(program: &Path, printed: &str) -> Option<Self> {
        let (program, stderr) = (program.to_owned(), printed.to_owned());
        if FULL_DISK.iter().any(|words| printed.contains(words)) {
            return Some(Self::DiskFull { program, stderr });
        }
        let limit = memory::allowed().filter(|_| memory::was_short(printed))?;
        Some(Self::OutOfMemory { program, limit, stderr })
    }
}

pub(crate) fn name_of(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (abort)",
        libc::SIGSEGV => " (segmentation fault)",
        libc::SIGBUS => " (bus error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGFPE => " (arithmetic exception)",
        libc::SIGKILL => " (killed, perhaps because memory ran out)",
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
    run_to_last_words(cmd, stdin, timeout, None)
}

/// As [`run`]; a program that writes these words to standard error is killed, as one that has crashed.
///
/// # Errors
/// As [`run`].
pub fn run_to_last_words(
    cmd: &mut Command,
    stdin: Option<&[u8]>,
    timeout: Duration,
    words: Option<&'static str>,
) -> Result<Output, ProcessError> {
    let program = PathBuf::from(cmd.get_program());
    let output = run_here(cmd, stdin, timeout, words, &mut || ())?;
    let printed = text(&output.stderr);
    match ProcessError::lack(&program, &printed).filter(|_| !output.status.success()) {
        Some(lack) => Err(lack),
        None => of_signal(program, output),
    }
}

/// As [`run`], for downloads: `tick` is called now and then, and pip's or apt's error for a full disk is read by the
/// called it.
///
/// # Errors
/// As [`run`].
pub fn run_watched(cmd: &mut Command, timeout: Duration, tick: &mut dyn FnMut()) -> Result<Output, ProcessError> {
    let program = PathBuf::from(cmd.get_program());
    of_signal(program, run_here(cmd, None, timeout, None, tick)?)
}

fn of_signal(program: PathBuf, output: Output) -> Result<Output, ProcessError> {
    match output.status.signal() {
        Some(signal) => Err(ProcessError::Signal { program, signal, stderr: text(&output.stderr) }),
        None => Ok(output),
    }
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

/// How long a pipe may stay open, held by a grandchild, after the child itself has ended.
const GRACE: Duration = Duration::from_secs(1);

/// More than the textual IR of any function: what a program may write to its standard output.
const MOST_OUTPUT: usize = 1536 << 20;

/// Kept of the beginning and of the end of standard error.
const COMPLAINTS: usize = 1 << 20;

fn run_here(
    cmd: &mut Command,
    stdin: Option<&[u8]>,
    timeout: Duration,
    last_words: Option<&'static str>,
    tick: &mut dyn FnMut(),
) -> Result<Output, ProcessError> {
    let mut group = Group::guarded();
    let program = PathBuf::from(cmd.get_program());
    let io_error = |source| ProcessError::Io { program: program.clone(), source };
    let input = stdin.map(as_file).transpose().map_err(io_error)?;
    cmd.stdin(input.map_or_else(Stdio::null, Stdio::from)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = group.spawn(cmd).map_err(|source| match source.kind() {
        ErrorKind::NotFound => ProcessError::NotFound { program: program.clone() },
        _ => io_error(source),
    })?;

    let (done, finished) = mpsc::channel();
    let stdout = child.stdout.take().map(|pipe| Capture::of(pipe, Keep::All(MOST_OUTPUT), done.clone()));
    let stderr = child.stderr.take();
    let stderr = stderr.map(|pipe| Capture::to_last_words(pipe, Keep::Ends(COMPLAINTS), last_words, done));
    let taken = |capture: &Option<Capture>| capture.as_ref().map(Capture::take).unwrap_or_default();

    let clock = Clock::of(child.id());
    let (out, complaints) = (stdout.as_ref(), stderr.as_ref());
    let wait = Wait { clock, child: &mut child, group: &mut group, stdout: out, stderr: complaints, finished, tick };
    let ended = wait.end(timeout);
    let status = match ended.map_err(io_error)? {
        Ended::Itself(status) => status,
        Ended::TimedOut => {
            return Err(ProcessError::TimedOut { program, after: timeout, stderr: text(&taken(&stderr)) });
        }
        Ended::LastWords => {
            return Err(ProcessError::Signal { program, signal: libc::SIGABRT, stderr: text(&taken(&stderr)) });
        }
        Ended::TooMuch => return Err(ProcessError::TooMuch { program, limit: MOST_OUTPUT }),
        Ended::Interrupted => return Err(ProcessError::Interrupted { program }),
    };
    Ok(Output { status, stdout: taken(&stdout), stderr: taken(&stderr) })
}

/// The bytes as an open file without a name. Not a pipe: a process that the host forks meanwhile would have its other end too, and
/// the child would wait for its input's end as long as that one lives.
fn as_file(bytes: &[u8]) -> io::Result<File> {
    let mut file = nameless()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// An open file without a name.
#[cfg(target_os = "linux")]
pub(crate) fn nameless() -> io::Result<File> {
    use std::os::fd::FromRawFd;
    // SAFETY: the name ends with a zero byte; the descriptor, if there is one, is new and nobody else's.
    unsafe {
        match libc::memfd_create(c"ffgrad".as_ptr(), libc::MFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(File::from_raw_fd(descriptor)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn nameless() -> io::Result<File> {
    tempfile::tempfile()
}

/// Keeps a broken pipe an error of `write`: a host program that is neither Rust nor Python may have left SIGPIPE deadly.
pub(crate) fn block_sigpipe() {
    // SAFETY: the set lives on this stack and is initialised by sigemptyset before it is read; the mask belongs to this
    // short-lived thread alone, and SIGPIPE is sent to the thread that writes.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// How it ended.
enum Ended {
    Itself(ExitStatus),
    TimedOut,
    LastWords,
    TooMuch,
    Interrupted,
}

/// Waiting for a child.
struct Wait<'a> {
    clock: Clock,
    child: &'a mut Child,
    group: &'a mut Group,
    stdout: Option<&'a Capture>,
    stderr: Option<&'a Capture>,
    /// Hears of each pipe that closes.
    finished: mpsc::Receiver<()>,
    /// Called each time it looks.
    tick: &'a mut dyn FnMut(),
}

impl Wait<'_> {
    /// Waits for both pipes to close and the child to end.
    fn end(mut self, timeout: Duration) -> io::Result<Ended> {
        let mut open = 2;
        let mut ended: Option<Instant> = None;
        let mut pause = Duration::from_micros(100);
        loop {
            (self.tick)();
            progress::tick();
            if self.stderr.is_some_and(Capture::said_last_words) {
                return self.kill().map(|()| Ended::LastWords);
            }
            if let Some(status) = self.child.try_wait()? {
                let since = *ended.get_or_insert_with(Instant::now);
                if self.stdout.is_some_and(Capture::overflowed) {
                    return Ok(Ended::TooMuch);
                }
                if open == 0 || since.elapsed() > GRACE {
                    return Ok(Ended::Itself(status));
                }
            } else if self.clock.used() >= timeout {
                return self.kill().map(|()| Ended::TimedOut);
            } else if self.stdout.is_some_and(Capture::overflowed) {
                return self.kill().map(|()| Ended::TooMuch);
            } else if interrupt::requested() {
                return self.kill().map(|()| Ended::Interrupted);
            }
            // While a pipe is open, its end is what wakes us; after that the child has only to be reaped.
            let look = timeout.clamp(Duration::from_millis(1), Duration::from_millis(50));
            if open == 0 {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            } else if self.finished.recv_timeout(look).is_ok() {
                open -= 1;
            }
        }
    }

    fn kill(&mut self) -> io::Result<()> {
        self.group.kill();
        // An error means that it has ended by itself.
        let _ = self.child.kill();
        self.child.wait().map(drop)
    }
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

    #[test]
    fn what_a_child_leaves_behind_ends_with_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let mark = dir.path().join("mark");
        let script = format!("(sleep 0.5; touch {}) >/dev/null 2>&1 &", mark.display());
        run(&mut sh(&script), None, LONG).expect("runs");
        thread::sleep(Duration::from_millis(800));
        assert!(!mark.exists(), "the grandchild lived on");
    }

    #[test]
    fn endless_output_is_stopped_and_endless_complaints_are_cut() {
        let error = run(&mut sh("yes"), None, LONG).expect_err("is too much");
        assert!(matches!(error, ProcessError::TooMuch { .. }), "{error}");
        let out = run(&mut sh("echo first >&2; yes | head -c 50000000 >&2; echo last >&2"), None, LONG).expect("runs");
        let printed = text(&out.stderr);
        assert!(
            printed.starts_with("first\n") && printed.ends_with("last\n") && printed.len() < 4 * COMPLAINTS,
            "{}",
            printed.len()
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_has_a_limit_of_memory_and_so_have_its_children() {
        let out = run(&mut sh("sleep 0.1; ulimit -d; sh -c 'ulimit -d'"), None, LONG).expect("runs");
        let limits = text(&out.stdout);
        assert!(limits.lines().count() == 2 && !limits.contains("unlimited"), "{limits}");
        let error = run(&mut sh("echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$"), None, LONG).expect_err("fails");
        assert!(matches!(error, ProcessError::OutOfMemory { .. }), "{error}");
        assert!(error.to_string().contains("FFGRAD_MEMORY_LIMIT"), "{error}");
    }
}
