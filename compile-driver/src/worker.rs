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
            return Err(self.crashed());
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
                Err(broken(&self.function, format!("took longer than {seconds} s (option `timeout`)"), ""))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.crashed()),
        }
    }

    fn crashed(&mut self) -> Error {
        let reason = match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => format!("crashed (signal {signal})"),
                None => format!("ended early ({status})"),
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

fn broken(function: &str, reason: String, output: &str) -> Error {
    let headline = format!("the worker failed on `{function}`: {reason}");
    Error::Differentiation(Box::new(Diagnosis::new("worker-failed", function, headline).quote(output).advise(
        "Run `ffgrad doctor`; if all is well there, this is a bug of ffgrad: please report it with the source.",
    )))
}
