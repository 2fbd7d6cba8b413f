//! The caller's side: starts provers, keeps them, asks them.
//!
//! A prover ends when its socket closes: with this process, however that ends, or where a call is interrupted. It is in a process group of its
//! own: a Ctrl-C in a terminal goes to the group of whoever is there, and this process is asked what becomes of the check.

use crate::error::{Error, Result};
use crate::os::{interrupt, progress};
use crate::prover::protocol::{HELLO, Reply, Request};
use crate::toolchain;
use crate::verify::sample::Point;
use crate::verify::stage::Stage;
use once_cell::race::OnceBox;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How often a wait looks whether the user still wants the answer.
const LOOK: Duration = Duration::from_millis(50);

/// The longest wait for a prover to start, and to end after its socket has closed.
const START: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(1);

/// Provers that are kept, one for each thread that checks at the same time.
const MOST: usize = 4;

struct Prover {
    /// The process that started it: after a fork the child must not talk to it.
    process: u32,
    child: Child,
    socket: UnixStream,
    answers: BufReader<UnixStream>,
    is_ready: bool,
}

static KEPT: Mutex<Vec<Prover>> = Mutex::new(Vec::new());

/// Starts a prover, if none is kept, for the check that comes after a build. Nothing is waited for.
pub fn warm() {
    let is_kept = || kept().is_none_or(|all| !all.is_empty());
    if let Some(program) = program().filter(|_| !is_kept())
        && let Ok(prover) = Prover::start(&program)
    {
        keep(prover);
    }
}

/// Asks a prover; `None` where there is none.
///
/// # Errors
///
/// The user's wish to end.
pub fn ask(request: &Request, values: &Point) -> Result<Option<Reply>> {
    let Some(program) = program() else { return Ok(None) };
    // A kept one may have been killed meanwhile.
    for _ in 0..2 {
        let kept = kept().and_then(|mut all| all.pop());
        let Ok(mut prover) = kept.map_or_else(|| Prover::start(&program), Ok) else { return Ok(None) };
        match prover.answer(request, values) {
            Ok(reply) => {
                keep(prover);
                return Ok(Some(reply));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted || interrupt::requested() => {
                return Err(Error::Interrupted);
            }
            Err(_) => {}
        }
    }
    Ok(None)
}

/// The command with the prover; `None` where there is none, or `FFGRAD_PROVER=none`.
fn program() -> Option<PathBuf> {
    // Lock-free: a search that another thread had begun before a fork never ends in the child.
    static FOUND: OnceBox<Option<PathBuf>> = OnceBox::new();
    match std::env::var_os("FFGRAD_PROVER") {
        // Searched anew: a test or a person may change it while the process runs.
        Some(_) => toolchain::find_prover(),
        None => FOUND.get_or_init(|| Box::new(toolchain::find_prover())).clone(),
    }
}

fn keep(prover: Prover) {
    if let Some(mut all) = kept().filter(|all| all.len() < MOST) {
        all.push(prover);
    }
}

/// The provers that this process keeps. `None` while another thread has them, which after a fork may be for ever.
fn kept() -> Option<MutexGuard<'static, Vec<Prover>>> {
    let mut all = match KEPT.try_lock() {
        Ok(all) => all,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    let own = std::process::id();
    if all.iter().any(|kept| kept.process != own) {
        // The parent's provers are the parent's to end.
        std::mem::take(&mut *all).into_iter().for_each(std::mem::forget);
    }
    Some(all)
}

impl Prover {
    fn start(program: &PathBuf) -> io::Result<Prover> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_read_timeout(Some(LOOK))?;
        let mut command = Command::new(program);
        command.arg("prove").stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn()?;
        let answers = BufReader::new(socket.try_clone()?);
        Ok(Prover { process: std::process::id(), child, socket, answers, is_ready: false })
    }

    fn answer(&mut self, request: &Request, values: &Point) -> io::Result<Reply> {
        if !self.is_ready {
            let hello = self.line(Some(Instant::now() + START))?;
            if hello != HELLO {
                return Err(io::Error::other("a prover of another version"));
            }
            self.is_ready = true;
        }
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.socket.write_all(&line)?;
        for words in values {
            // SAFETY: the words as bytes; any byte may be read.
            let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 8 * words.len()) };
            self.socket.write_all(bytes)?;
        }
        let mut is_said = false;
        loop {
            match serde_json::from_str(&self.line(None)?)? {
                Reply::Running(Stage::Function, passed) if !std::mem::replace(&mut is_said, true) => {
                    progress::notice(&endless(&request.function, passed));
                }
                Reply::Running(..) => {}
                reply => return Ok(reply),
            }
        }
    }

    /// The next line. [`ErrorKind::Interrupted`] where the user wants the call to end.
    fn line(&mut self, until: Option<Instant>) -> io::Result<String> {
        let mut line = Vec::new();
        loop {
            match self.answers.read_until(b'\n', &mut line) {
                Ok(_) if line.last() == Some(&b'\n') => break,
                Ok(_) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    progress::tick();
                    if interrupt::requested() {
                        return Err(ErrorKind::Interrupted.into());
                    }
                    if until.is_some_and(|until| Instant::now() > until) {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        line.pop();
        String::from_utf8(line).map_err(io::Error::other)
    }
}

/// What is said of a function that has not come to an end.
fn endless(function: &str, passed: Duration) -> String {
    format!(
        "`{function}` has run for {} s at the arguments given, and has not ended: ffgrad runs it before its gradient is verified, and waits. \
         If a run of it should take less than that, a loop may never end at these values: interrupt (Ctrl-C), and check them.",
        passed.as_secs()
    )
}

impl Drop for Prover {
    fn drop(&mut self) {
        // It kills the check that it runs, and ends.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        let until = Instant::now() + END;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
