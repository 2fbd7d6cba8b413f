//! Keeps the worker of a finished analysis for the first build of a derivative, which then neither starts a process nor
//! reads the module again.
//!
//! A worker serves a build where it would load the same: the bitcode of the entry is the one that it has read, once, and nothing
//! around it has changed. It is kept for a moment only, since most functions are called right after they are opened.
//!
//! A kept worker needs threads of this process beyond the call. So only who is loaded for good asks for it ([`allow`]): a library that a
//! program may close, or ends with under a leak checker, has none.

use crate::build::worker::Worker;
use crate::os::process::memory;
use crate::toolchain::Tools;
use core_ad::Manifest;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// The most that are kept.
const MOST: usize = 4;

/// How long one is kept.
const KEPT_FOR: Duration = Duration::from_secs(10);

struct Kept {
    /// The process that started it: after a fork the child must not talk to it.
    process: u32,
    since: Instant,
    entry: PathBuf,
    manifest: Manifest,
    program: PathBuf,
    memory: Option<u64>,
    worker: Worker,
}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Lets this process keep workers. The code must stay loaded until it ends.
pub fn allow() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// Keeps the worker that has loaded the bitcode of an entry and nothing else.
pub fn keep(entry: PathBuf, manifest: Manifest, tools: &Tools, worker: Worker) {
    if !ALLOWED.load(Ordering::Relaxed) {
        return;
    }
    let (process, since) = (std::process::id(), Instant::now());
    let (program, memory) = (tools.worker.path.clone(), memory::allowed());
    let kept = Kept { process, since, entry, manifest, program, memory, worker };
    let Some(mut all) = locked() else { return };
    all.truncate(MOST - 1);
    all.insert(0, kept);
    drop(all);
    // Where no thread can be started the worker stays until it is used, or this process ends.
    let _ = std::thread::Builder::new().name("ffgrad-kept-worker".to_owned()).spawn(|| {
        std::thread::sleep(KEPT_FOR);
        if let Some(mut all) = locked() {
            all.retain(|kept| kept.since.elapsed() < KEPT_FOR);
        }
    });
}

/// The worker that has loaded an entry's bitcode, if one is kept and would be started alike now.
pub fn take(entry: &Path, manifest: &Manifest, tools: &Tools, timeout: Duration) -> Option<Worker> {
    let mut all = locked()?;
    let is_it = |kept: &Kept| {
        kept.entry == entry
            && kept.manifest.digests == manifest.digests
            && kept.manifest.modules == manifest.modules
            && kept.program == tools.worker.path
            && kept.memory == memory::allowed()
    };
    let at = all.iter().position(is_it)?;
    let mut worker = all.remove(at).worker;
    drop(all);
    worker.is_alive().then(|| worker.with_timeout(timeout))
}

/// The workers that this process keeps. `None` while another thread has them, which after a fork may be for ever.
fn locked() -> Option<MutexGuard<'static, Vec<Kept>>> {
    let mut all = match KEPT.try_lock() {
        Ok(all) => all,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    let own = std::process::id();
    if all.iter().any(|kept| kept.process != own) {
        // The parent's workers are the parent's to end.
        std::mem::take(&mut *all).into_iter().for_each(std::mem::forget);
    }
    Some(all)
}
