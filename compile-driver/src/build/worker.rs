//! A running worker: one `ffgrad-llvm` process that holds one function's module.

use crate::error::{Error, Result};
use crate::os::process::capture::{Capture, Keep};
use crate::os::process::clock::Clock;
use crate::os::process::group::Group;
use crate::os::process::{ProcessError, block_sigpipe};
use crate::os::{interrupt, progress};
use crate::source_text;
use crate::toolchain::{self, Tools};
use core_ad::diagnostics::{Diagnosis, worker};
use core_ad::protocol::{Request, Response};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// More than any answer: those hold prototypes and notes, not code.
const LONGEST_ANSWER: u64 = 64 << 20;

/// Kept of the beginning and of the end of standard error.
const COMPLAINTS: usize = 1 << 16;

/// The longest wait for a dying worker's last words.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often a wait looks whether the user still wants the answer.
const LOOK: Duration = Duration::from_millis(50);

/// The process and its two ends.
pub struct Worker {
    // Dropped first: its input closes, then the group is killed.
    requests: Sender<String>,
    group: Group,
    child: Child,
    answers: Receiver<String>,
    errors: Option<Capture>,
    errors_end: Receiver<()>,
    function: String,
    /// Its file, and the folders of its libraries.
    program: (PathBuf, Vec<PathBuf>),
    timeout: Duration,
    failure: Option<Failure>,
    loads: usize,
}

/// How a worker failed, for who looks for the place.
pub struct Failure {
    /// What it was asked for.
    pub request: String,
    /// What it had written to standard error.
    pub printed: String,
    /// The informative lines of it.
    pub words: String,
    /// When those were its last words: `when it crashed`.
    pub when: &'static str,
}

impl Worker {
    /// Starts a worker for one function.
    pub fn start(tools: &Tools, function: &str, timeout: Duration) -> Result<Self> {
        let mut command = tools.worker_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::guarded();
        let mut child =
            group.spawn(&mut command).map_err(|e| broken(function, format!("cannot be started: {e}"), ""))?;
        let requests = sender_to(child.stdin.take());
        let answers = lines_of(child.stdout.take());
        let (done, errors_end) = channel();
        let errors = child.stderr.take().map(|pipe| Capture::of(pipe, Keep::Ends(COMPLAINTS), done));
        Ok(Worker {
            requests,
            group,
            child,
            answers,
            errors,
            errors_end,
            function: function.to_owned(),
            program: (tools.worker.path.clone(), tools.llvm_lib_dirs.clone()),
            timeout,
            failure: None,
            loads: 0,
        })
    }

    /// Runs one job.
    ///
    /// # Errors
    ///
    /// The worker's own refusal, a crash, or silence beyond the time limit, as a differentiation error; the user's wish to end.
    pub fn request(&mut self, request: &Request) -> Result<Response> {
        self.loads += usize::from(matches!(request, Request::Load { .. }));
        let line = serde_json::to_string(request).map_err(|e| broken(&self.function, e.to_string(), ""))?;
        if self.requests.send(line).is_err() {
            return Err(self.crashed(request));
        }
        match self.answer()? {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(Response::Failed { diagnosis: Some(mut diagnosis), .. }) => {
                    diagnosis.function.clone_from(&self.function);
                    diagnosis.location = diagnosis.location.map(source_text::with_text);
                    Err(Error::Differentiation(diagnosis))
                }
                Ok(Response::Failed { message, .. }) => {
                    Err(self.failed(&message, broken(&self.function, message.clone(), "")))
                }
                Ok(response) => Ok(response),
                Err(e) => Err(broken(&self.function, format!("answered nonsense: {e}"), &text)),
            },
            Err(RecvTimeoutError::Timeout) => Err(self.late(request)),
            Err(RecvTimeoutError::Disconnected) => Err(self.crashed(request)),
        }
    }

    /// Whether it is still running, for all that is known.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The same with another time limit for each job.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often it has loaded modules.
    pub fn loads(&self) -> usize {
        self.loads
    }

    /// How it failed, where it did.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The next line, within the time limit.
    fn answer(&mut self) -> Result<std::result::Result<String, RecvTimeoutError>> {
        let mut clock = Clock::of(self.child.id());
        loop {
            match self.answers.recv_timeout(LOOK) {
                Err(RecvTimeoutError::Timeout) if interrupt::requested() => return Err(Error::Interrupted),
                Err(RecvTimeoutError::Timeout) if clock.used() < self.timeout => progress::tick(),
                other => return Ok(other),
            }
        }
    }

    /// The resource that the machine lacked where the worker reports one, else the given error.
    fn failed(&self, printed: &str, otherwise: Error) -> Error {
        match ProcessError::lack(Path::new("ffgrad-llvm"), printed) {
            Some(lack) => Error::of_child(lack, &self.function, |_| otherwise),
            None => otherwise,
        }
    }

    fn crashed(&mut self, request: &Request) -> Error {
        // A worker that has closed its output and hangs is not waited for; one that crashed has printed the reason by now, or does at once.
        let _ = self.errors_end.recv_timeout(LAST_WORDS);
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.group.kill();
        }
        let stage = stage(request);
        let (reason, when) = match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => (format!("crashed while {stage} (signal {signal})"), "when it crashed"),
                None => (format!("ended early, while {stage} ({status})"), "when it ended"),
            },
            Err(e) => (format!("was lost: {e}"), "when it was lost"),
        };
        let (printed, words) = self.last_words(request, when);
        if let Some(damage) = toolchain::of_worker(&self.program.0, &self.program.1) {
            return damage.into();
        }
        self.failed(&printed, broken(&self.function, reason, &words))
    }

    /// Makes a worker that exceeded its time limit print what it is processing.
    fn late(&mut self, request: &Request) -> Error {
        if let Ok(process) = i32::try_from(self.child.id()) {
            // SAFETY: kill(2) takes plain numbers; the child was not reaped, so the number is its own.
            unsafe { libc::kill(process, libc::SIGABRT) };
            let _ = self.errors_end.recv_timeout(LAST_WORDS);
        }
        let (_, words) = self.last_words(request, "when its time was up");
        let seconds = self.timeout.as_secs();
        let reason = format!("{} took longer than {seconds} s (option `timeout`)", stage(request));
        let headline = format!("the worker failed on `{}`: {reason}", self.function);
        let diagnosis = Diagnosis::new(worker::TIMED_OUT, &self.function, headline).quote(words);
        Error::Differentiation(Box::new(
            diagnosis
                .advise(format!("Raise the limit, as with timeout={}, or split the function.", 4 * seconds.max(1))),
        ))
    }

    /// Its last output, whole, and the informative lines of it; remembered for [`Worker::failure`].
    fn last_words(&mut self, request: &Request, when: &'static str) -> (String, String) {
        let printed = self.errors.as_ref().map(Capture::take).unwrap_or_default();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let words = worker::words(&printed);
        let request = serde_json::to_string(request).unwrap_or_default();
        self.failure = Some(Failure { request, printed: printed.clone(), words: words.clone(), when });
        (printed, words)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It has nothing to lose: its files are complete, or of a build that is given up.
        self.group.kill();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes lines to the worker on a thread of its own: one that does not read must not hold the caller beyond the time limit.
fn sender_to(stream: Option<ChildStdin>) -> Sender<String> {
    let (sender, lines) = channel::<String>();
    if let Some(mut stream) = stream {
        std::thread::spawn(move || {
            block_sigpipe();
            for line in lines {
                // One that no longer reads has crashed, as its missing answer shows.
                if writeln!(stream, "{line}").and_then(|()| stream.flush()).is_err() {
                    break;
                }
            }
        });
    }
    sender
}

fn lines_of(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(stream) = stream {
        std::thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            loop {
                let mut line = Vec::new();
                let read = stream.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut line);
                let is_end = !matches!(read, Ok(n) if n > 0);
                if is_end || sender.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// What a job does, for a message about a worker that did not survive it.
fn stage(request: &Request) -> &'static str {
    match request {
        Request::Load { .. } | Request::Symbols { .. } | Request::Weaken { .. } => "reading the compiled sources",
        Request::CheckRules { .. } => "checking the derivatives given",
        Request::Describe { .. } => "finding out the prototype",
        Request::Primal { .. } => "compiling the function",
        Request::Derive { .. } => "preparing the function for differentiation",
        Request::Finish { .. } => "compiling the derivative",
        Request::Places { .. } | Request::Without { .. } => "looking for the place of a failure",
    }
}

fn broken(function: &str, reason: String, output: &str) -> Error {
    let headline = format!("the worker failed on `{function}`: {reason}");
    Error::Differentiation(Box::new(Diagnosis::new(worker::FAILED, function, headline).quote(output).advise(
        "Run `ffgrad doctor`; if all is well there, this is a bug of ffgrad: please report it with the source.",
    )))
}
