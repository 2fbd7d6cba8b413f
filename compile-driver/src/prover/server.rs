//! The prover's side: reads requests, forks for each, and reports what the child found, or how it died.
//!
//! This process stays single-threaded and loads nothing of the user's, so that a fork is a fresh process.

use crate::call::arguments::{Call, is_produced};
use crate::call::crash_guard;
use crate::call::scratch::Frame;
use crate::error::Error;
use crate::load::artifact::Artifact;
use crate::prover::bounds::{self, Side};
use crate::prover::protocol::{HELLO, Reply, Request, Watch};
use crate::verify;
use crate::verify::sample::Point;
use crate::verify::stage::{self, Note, Stage};
use core_ad::Role;
use core_ad::protocol::Entry;
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// A function that takes longer is looked at once.
const QUICK: Duration = Duration::from_millis(100);

/// After so long without an end it reports to the caller what is being evaluated, and whether this process still has its parent is looked at.
const LOOK: Duration = Duration::from_secs(5);

/// Kept of what a check wrote to standard error before it died.
const LAST_WORDS: u64 = 4096;

/// Serves requests from the socket that is standard input, until it closes. A check begins with `isolate`, in a process of its own.
///
/// # Errors
///
/// The system's: no memory to share, no process to be had.
pub fn serve(isolate: fn()) -> io::Result<()> {
    // SAFETY: plain calls on descriptors of this process, which has one thread; the copies are new, and owned here.
    let mut socket = unsafe {
        let socket = UnixStream::from_raw_fd(checked(libc::fcntl(0, libc::F_DUPFD_CLOEXEC, 3))?);
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        for standard in 0..3 {
            checked(libc::dup2(nothing.as_raw_fd(), standard))?;
        }
        socket
    };
    let note = shared_note()?;
    socket.write_all(format!("{HELLO}\n").as_bytes())?;
    let mut requests = BufReader::new(socket.try_clone()?);
    let mut line = String::new();
    while requests.read_line(&mut line)? > 0 {
        let request: Request = serde_json::from_str(&line)?;
        let values = read_values(&mut requests, &request.words)?;
        let Some(reply) = checked_in_child(&request, values, (note, isolate), &socket)? else { return Ok(()) };
        socket.write_all(&reply)?;
        line.clear();
    }
    Ok(())
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Memory that this process and its children share.
fn shared_note() -> io::Result<&'static Note> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of zeros, which are a valid note, never unmapped.
    unsafe {
        match libc::mmap(std::ptr::null_mut(), size_of::<Note>(), access, kind, -1, 0) {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            page => Ok(&*page.cast::<Note>()),
        }
    }
}

fn read_values(input: &mut impl Read, words: &[usize]) -> io::Result<Point> {
    let mut values = Vec::with_capacity(words.len());
    for &count in words {
        let mut words = vec![0u64; count];
        // SAFETY: the words as bytes, each of which may have any value.
        input.read_exact(unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), 8 * count) })?;
        values.push(words);
    }
    Ok(values)
}

/// The reply as a line; `None` where the caller has gone.
fn checked_in_child(
    request: &Request,
    values: Point,
    (note, isolate): (&'static Note, fn()),
    caller: &UnixStream,
) -> io::Result<Option<Vec<u8>>> {
    let (result, theirs) = io::pipe()?;
    let mut printed = crate::os::process::nameless()?;
    note.clear();
    let prover = std::process::id();
    // SAFETY: this process has one thread, so the child may do all that this one may.
    let child = unsafe { checked(libc::fork())? };
    if child == 0 {
        end_with(prover);
        drop(result);
        isolate();
        run(request, values, note, &printed, theirs.into());
    }
    drop(theirs);
    // SAFETY: a plain call. The child does the same; whoever is first makes the group.
    unsafe { libc::setpgid(child, child) };
    let mut reply = Vec::new();
    let is_asked = wait_for_end(caller, result.as_raw_fd(), note);
    if is_asked {
        // A line, not the pipe's end: what the user's code has started may hold that open.
        BufReader::new(result).read_until(b'\n', &mut reply)?;
    }
    let is_whole = reply.last() == Some(&b'\n');
    let status = end(child, !is_asked || is_whole)?;
    if is_asked && !is_whole {
        let died = Reply::Died {
            stage: note.stage(),
            how: how(status),
            printed: last_words(&mut printed),
            access: note.access(),
        };
        reply = serde_json::to_vec(&died)?;
        reply.push(b'\n');
    }
    Ok(is_asked.then_some(reply))
}

/// Has the kernel end this process when its parent ends, however that happens: the user's function may never end by itself.
fn end_with(parent: u32) {
    #[cfg(target_os = "linux")]
    // SAFETY: plain calls. The parent has one thread, whose end is the process's.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // It may have ended before.
        if u32::try_from(libc::getppid()) != Ok(parent) {
            libc::_exit(1);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
}

/// Waits until the result can be read, or its other end is closed; `false` where the caller has gone. Tells the caller what takes long.
fn wait_for_end(mut caller: &UnixStream, result: RawFd, note: &Note) -> bool {
    let poll = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut ends = [poll(result), poll(caller.as_raw_fd())];
    // SAFETY: a plain call.
    let parent = unsafe { libc::getppid() };
    let (mut stage, mut since) = (None, Instant::now());
    loop {
        // SAFETY: two structures of this stack.
        let count = unsafe { libc::poll(ends.as_mut_ptr(), 2, LOOK.as_millis() as i32) };
        if count > 0 {
            // The caller writes nothing while it waits: what it has is its end.
            return ends[0].revents != 0;
        }
        if count < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return false;
        }
        // A process that the caller has forked may hold its end of the socket open.
        // SAFETY: a plain call.
        if unsafe { libc::getppid() } != parent {
            return false;
        }
        let now = note.stage();
        if stage.replace(now) != Some(now) {
            since = Instant::now();
        }
        let line = serde_json::to_vec(&Reply::Running(now, LOOK + since.elapsed())).unwrap_or_default();
        if caller.write_all(&[&line[..], b"\n"].concat()).is_err() {
            return false;
        }
    }
}

/// The child's status, at its end or, where it is `done`, at once. What it has started ends too.
fn end(child: i32, done: bool) -> io::Result<ExitStatus> {
    let mut status = 0;
    // SAFETY: the child is reaped here and nowhere else, so the number is its own, and that of its group. The structure may be zeros.
    unsafe {
        if !done {
            let mut info = std::mem::zeroed();
            checked(libc::waitid(libc::P_PID, child as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT))?;
        }
        libc::kill(-child, libc::SIGKILL);
        checked(libc::waitpid(child, &mut status, 0))?;
    }
    Ok(ExitStatus::from_raw(status))
}

pub(super) fn how(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(libc::SIGALRM), _) => "did not end in time".to_owned(),
        (Some(signal), _) => format!("crashed{}", crate::os::process::name_of(signal)),
        (None, code) => format!("ended its process with exit status {}", code.unwrap_or_default()),
    }
}

/// The last line that a child wrote to standard error.
fn last_words(printed: &mut File) -> String {
    let mut bytes = Vec::new();
    let length = printed.metadata().map_or(0, |meta| meta.len());
    // Without them the message says less.
    let _ =
        printed.seek(SeekFrom::Start(length.saturating_sub(LAST_WORDS))).and_then(|_| printed.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes)
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

/// The child: checks, writes the reply, ends.
fn run(request: &Request, values: Point, note: &'static Note, printed: &File, result: OwnedFd) -> ! {
    // SAFETY: plain calls that concern this process alone, which has one thread.
    unsafe {
        libc::setpgid(0, 0);
        libc::dup2(printed.as_raw_fd(), 2);
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        for (name, value) in &request.environment {
            std::env::set_var(name, value);
        }
    }
    if let Some(folder) = &request.folder {
        // A folder that is gone is gone for the caller too.
        let _ = std::env::set_current_dir(folder);
    }
    crash_guard::switch_off();
    stage::watch(note);
    let mut line = serde_json::to_vec(&of_derivative(reply(request, values, note), note)).unwrap_or_default();
    line.push(b'\n');
    let is_written = File::from(result).write_all(&line).is_ok();
    // SAFETY: ends the process without the destructors of the user's statics.
    unsafe { libc::_exit(i32::from(!is_written)) }
}

/// An exception that the derivative throws where the function, which ran before, does not is a fault of the derivative.
fn of_derivative(reply: Reply, note: &Note) -> Reply {
    match (reply, note.stage()) {
        (Reply::Foreign(thrown), stage @ (Stage::Derivative | Stage::OtherDerivative)) => {
            let how = "threw an exception that the function does not throw".to_owned();
            Reply::Died { stage, how, printed: thrown.headline, access: None }
        }
        (reply, _) => reply,
    }
}

/// Runs the function once; which of the first words of each array it has written, where it has written only those.
fn run_between_guards(
    call: &Call<'_>,
    artifact: &Artifact,
    mut values: Point,
    (note, watch): (&'static Note, Watch),
) -> Result<Vec<Option<usize>>, String> {
    let roles: Vec<Role> = call.plan.args.iter().map(|arg| arg.role).collect();
    for (value, _) in values.iter_mut().zip(&roles).filter(|(_, role)| is_produced(**role)) {
        value.fill(bounds::UNTOUCHED);
    }
    let bytes: Vec<usize> = (0..roles.len()).map(|arg| call.bytes(arg)).collect();
    let run = |side| {
        let watched = (note, artifact.accesses());
        let places = bounds::place(&values, &bytes, side, watched).map_err(|e| e.to_string())?;
        let mut slots: Vec<*mut c_void> = places.iter().map(|place| place.cast()).collect();
        stage::enter(if watch == Watch::Fully { Stage::AllBounds } else { Stage::Bounds });
        let started = Instant::now();
        call.run(artifact, Entry::Primal, &mut slots).map_err(|e| e.to_string())?;
        Ok::<_, String>((places, started.elapsed()))
    };
    let (places, took) = run(Side::Back)?;
    // Indices below zero are rarer.
    if took < QUICK || watch == Watch::Fully {
        run(Side::Front)?;
    }
    let written = places.iter().zip(&bytes).zip(&roles).map(|((place, bytes), role)| {
        let mut now = vec![bounds::UNTOUCHED; bytes.div_ceil(8)];
        // SAFETY: what was placed there, as large as the argument, and words for as many bytes.
        unsafe { now.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(*place, *bytes) };
        let first = now.iter().take_while(|word| **word != bounds::UNTOUCHED).count();
        let is_rest_untouched = now[first..].iter().all(|word| *word == bounds::UNTOUCHED);
        (*role == Role::Output && is_rest_untouched).then_some(first)
    });
    Ok(written.collect())
}

fn reply(request: &Request, values: Point, note: &'static Note) -> Reply {
    let artifact = match Artifact::open(request.record.clone(), &request.library) {
        Ok(artifact) => artifact,
        Err(error) => return Reply::Unable(error.to_string()),
    };
    let frame = Frame::open();
    let call = Call {
        plan: &request.plan,
        resolved: &request.resolved,
        function: &request.function,
        threads: request.threads,
        frame: &frame,
    };
    if let Some(watch) = request.bounds {
        return match run_between_guards(&call, &artifact, values, (note, watch)) {
            Ok(written) => Reply::Inside(written),
            Err(reason) => Reply::Unable(reason),
        };
    }
    let done = match request.budget {
        Some(budget) => verify::time_vjp(&call, &artifact, &values, budget).map(Reply::Timed),
        None => {
            verify::check(&call, &artifact, values, request.single, request.seed, request.allowed).map(Reply::Checked)
        }
    };
    match done {
        Ok(reply) => reply,
        Err(Error::Foreign(diagnosis)) => Reply::Foreign(diagnosis),
        Err(Error::Differentiation(diagnosis)) => Reply::Differentiation(diagnosis),
        Err(Error::Memory(diagnosis)) => Reply::Memory(diagnosis),
        Err(other) => Reply::Unable(other.to_string()),
    }
}
