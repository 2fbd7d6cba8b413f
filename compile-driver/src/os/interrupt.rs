//! Interrupts: while ffgrad waits, the host program is polled for Ctrl-C.
//!
//! The program that embeds the driver is a [`Host`] ([`embed`]); without one nothing is polled, and signals keep their handlers.
//! Everything that waits long asks: for a child process, for another build's lock, for another thread's build.

use crate::os::progress::Patience;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The host program. C functions, so that one host can serve several copies of the driver: each library that a framework loads has
/// one of its own.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Host {
    /// Whether the call of the thread that asks is to end. Once true, it stays true until that call has returned: what was
    /// begun is then given up step by step.
    pub asked: extern "C" fn() -> bool,
    /// A call begins on this thread that does not come from the host itself, see [`Call`].
    pub begun: extern "C" fn(),
    /// It has ended.
    pub ended: extern "C" fn(),
}

static HOST: OnceLock<Host> = OnceLock::new();

/// Sets the host, once in the process: the first one stays.
pub fn embed(host: Host) {
    let _ = HOST.set(host);
}

thread_local! {
    /// Whether this thread is the driver's own, of which no host knows.
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as started by the driver: the host is not asked about it.
pub fn ask_nobody_here() {
    IS_OWN.set(true);
}

/// Whether this thread's call is to end.
pub fn requested() -> bool {
    !IS_OWN.get() && HOST.get().is_some_and(|host| (host.asked)())
}

/// A call that a framework makes, of which the host knows nothing. As long as it lives this thread's call can be interrupted.
pub struct Call {
    host: Option<&'static Host>,
}

impl Call {
    /// Notifies the host.
    pub fn begin() -> Self {
        let host = HOST.get();
        if let Some(host) = host {
            (host.begun)();
        }
        Call { host }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(host) = self.host {
            (host.ended)();
        }
    }
}

/// Pauses that grow from quick to bearable while something is waited for.
#[derive(Default)]
pub struct Pauses {
    count: u32,
}

impl Pauses {
    /// Sleeps a little longer than last time; `false` where the call is to end.
    pub fn pause(&mut self) -> bool {
        let longest = Duration::from_millis(20);
        std::thread::sleep(Duration::from_micros(50 << self.count.min(10)).min(longest));
        self.count += 1;
        !requested()
    }
}

/// A lock between the threads of a process, for work that takes long. A thread that waits for it can be interrupted, and in a forked
/// process it is free: the thread that held it is not there.
#[derive(Default)]
pub struct InterruptibleLock {
    /// Process of the holder, 0 where it is free.
    holder: AtomicU32,
}

/// Held: releases its [`InterruptibleLock`].
pub struct LockGuard<'a> {
    lock: &'a InterruptibleLock,
}

/// The user does not want to wait any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl InterruptibleLock {
    /// Waits until this thread holds the lock.
    ///
    /// # Errors
    ///
    /// [`Interrupted`].
    pub fn lock(&self) -> Result<LockGuard<'_>, Interrupted> {
        let (mut pauses, mut patience) = (Pauses::default(), Patience::begin());
        loop {
            let own = std::process::id();
            let held = self.holder.load(Ordering::Relaxed);
            let is_free = held != own;
            if is_free && self.holder.compare_exchange(held, own, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Ok(LockGuard { lock: self });
            }
            patience.tick(|| "waiting for another thread of this process, which builds the same derivative".to_owned());
            if !pauses.pause() {
                return Err(Interrupted);
            }
        }
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        self.lock.holder.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn one_thread_at_a_time_holds_the_lock() {
        let (lock, inside, passed) = (InterruptibleLock::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _guard = lock.lock();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        passed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(passed.into_inner(), 200);
    }

    #[test]
    fn what_another_process_held_when_it_forked_is_free() {
        let lock = InterruptibleLock { holder: AtomicU32::new(std::process::id() ^ 1) };
        assert!(lock.lock().is_ok());
    }
}
