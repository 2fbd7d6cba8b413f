//! A running worker: one `ffgrad-llvm` process that holds one function's module.

use crate::error::{Error, Result};
use crate::frontend;
use crate::toolchain::Tools;
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::{Request, Response};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The process and its two ends.
pub struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    errors: Receiver<String>,
    function: String,
    timeout: Duration,
}

impl Worker {
    /// Starts a worker for one function.
    pub fn start(tools: &Tools, function: &str, timeout: Duration) -> Result<Self> {
        let mut command = tools.worker_command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|e| broken(function, format!("cannot be started: {e}"), ""))?;
        let input = child.stdin.take();
        let answers = lines_of(child.stdout.take());
        let errors = lines_of(child.stderr.take());
        Ok(Worker { child, input, answers, errors, function: function.to_owned(), timeout })
    }

    /// Runs one job.
    ///
    /// # Errors
    ///
    /// The worker's own refusal, a crash, or silence beyond the time limit, as a differentiation error.
    pub fn request(&mut self, request: &Request) -> Result<Response> {
        let line = serde_json::to_string(request).map_err(|e| broken(&self.function, e.to_string(), ""))?;
        let sent = self.input.as_mut().map(|i| writeln!(i, "{line}").and_then(|()| i.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.crashed(stage(request)));
        }
        match self.answers.recv_timeout(self.timeout) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(Response::Failed { diagnosis: Some(mut diagnosis), .. }) => {
                    diagnosis.function.clone_from(&self.function);
                    diagnosis.location = diagnosis.location.map(frontend::with_text);
                    Err(Error::Differentiation(diagnosis))
                }
                Ok(Response::Failed { message, .. }) => Err(broken(&self.function, message, "")),
                Ok(response) => Ok(response),
                Err(e) => Err(broken(&self.function, format!("answered nonsense: {e}"), &text)),
            },
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.timeout.as_secs();
                let reason = format!("{} took longer than {seconds} s (option `timeout`)", stage(request));
                Err(broken(&self.function, reason, ""))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.crashed(stage(request))),
        }
    }

    fn crashed(&mut self, stage: &str) -> Error {
        let reason = match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => format!("crashed while {stage} (signal {signal})"),
                None => format!("ended early, while {stage} ({status})"),
            },
            Err(e) => format!("was lost: {e}"),
        };
        let output: Vec<String> = self.errors.iter().take(12).collect();
        broken(&self.function, reason, &output.join("\n"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Closing its input ends an idle worker; one that hangs is killed. Neither can fail in a way
        // that matters here.
        self.input = None;
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn lines_of(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(stream) = stream {
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(std::io::Result::ok) {
                if sender.send(line).is_err() {
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
        Request::Load { .. } => "reading the compiled sources",
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
    Error::Differentiation(Box::new(Diagnosis::new("worker-failed", function, headline).quote(output).advise(
        "Run `ffgrad doctor`; if all is well there, this is a bug of ffgrad: please report it with the source.",
    )))
}
