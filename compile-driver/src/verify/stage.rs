//! Notes what a verification is doing, so that the death of its process can be judged.
//!
//! The prover watches: it gives a page of memory that outlives the verifying process, and each evaluation is noted there before it
//! begins, with a time limit for those that can be abandoned. In a process that nobody watches all of this does nothing.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// What is being evaluated, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Stage {
    /// The artifact is loaded.
    Loading,
    /// The function, at the caller's values.
    Function,
    /// The function, at values moved by the step of a finite difference.
    MovedFunction,
    /// A derivative, at the caller's values or moved from them.
    Derivative,
    /// The function, at other values.
    OtherFunction,
    /// A derivative, at other values, where the function itself has ended.
    OtherDerivative,
    /// The function, at the caller's values, between pages without access.
    Bounds,
}

impl Stage {
    const ALL: [Stage; 7] = [
        Stage::Loading,
        Stage::Function,
        Stage::MovedFunction,
        Stage::Derivative,
        Stage::OtherFunction,
        Stage::OtherDerivative,
        Stage::Bounds,
    ];

    /// How long an evaluation may take where the function took `usual` at the caller's values; `None`: as long as it takes.
    fn limit(self, usual: Duration) -> Option<Duration> {
        let (least, times) = match self {
            Stage::Loading | Stage::Function => return None,
            Stage::MovedFunction | Stage::OtherFunction => (2, 20),
            Stage::Derivative => (60, 200),
            Stage::OtherDerivative => (10, 200),
            Stage::Bounds => (1, 0),
        };
        Some(Duration::from_secs(least) + times * usual)
    }
}

/// The stage in a page that the prover reads after the process's death, and 1 more than the argument whose bounds were left.
#[derive(Default)]
pub struct Note(AtomicU8, AtomicU8);

impl Note {
    /// What was being evaluated last.
    pub fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.0.load(Ordering::Relaxed)).min(Stage::ALL.len() - 1)]
    }

    /// Forgets an earlier process's.
    pub fn clear(&self) {
        self.0.store(Stage::Loading as u8, Ordering::Relaxed);
        self.1.store(0, Ordering::Relaxed);
    }

    /// The argument whose bounds were left.
    pub fn argument(&self) -> Option<usize> {
        usize::from(self.1.load(Ordering::Relaxed)).checked_sub(1)
    }

    /// Notes that its bounds were left. May be called by a signal's handler.
    pub fn set_argument(&self, argument: usize) {
        self.1.store(u8::try_from(argument + 1).unwrap_or(0), Ordering::Relaxed);
    }
}

static NOTE: AtomicPtr<Note> = AtomicPtr::new(std::ptr::null_mut());

/// What the function took at the caller's values, in nanoseconds.
static USUAL: AtomicU64 = AtomicU64::new(0);

/// Lets this process be watched.
pub fn watch(note: &'static Note) {
    NOTE.store(std::ptr::from_ref(note).cast_mut(), Ordering::Relaxed);
}

/// Whether this process is watched, so that what dies here is not the caller.
pub(super) fn is_watched() -> bool {
    !NOTE.load(Ordering::Relaxed).is_null()
}

/// Notes what comes next. After its time limit the process ends by SIGALRM.
pub(crate) fn enter(stage: Stage) {
    // SAFETY: null, or the reference that `watch` was given, which lives as long as the process.
    let Some(note) = (unsafe { NOTE.load(Ordering::Relaxed).as_ref() }) else { return };
    note.0.store(stage as u8, Ordering::Relaxed);
    let usual = Duration::from_nanos(USUAL.load(Ordering::Relaxed));
    set_alarm(stage.limit(usual).unwrap_or_default());
}

/// Remembers what the function took at the caller's values.
pub(super) fn set_usual(time: Duration) {
    USUAL.store(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Sets the process's timer; zero stops it.
fn set_alarm(after: Duration) {
    let value = libc::timeval {
        tv_sec: after.as_secs().min(1 << 30) as libc::time_t,
        tv_usec: after.subsec_micros() as libc::suseconds_t,
    };
    let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: reads the structure, and the old value is not asked for.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_holds_each_stage() {
        let note = Note::default();
        for stage in Stage::ALL {
            note.0.store(stage as u8, Ordering::Relaxed);
            assert_eq!(note.stage(), stage);
        }
        note.clear();
        assert_eq!(note.stage(), Stage::Loading);
    }

    #[test]
    fn what_the_caller_asked_for_may_take_as_long_as_it_takes() {
        let second = Duration::from_secs(1);
        assert_eq!(Stage::Function.limit(second), None);
        assert_eq!(Stage::OtherFunction.limit(second), Some(22 * second));
        assert!(Stage::ALL.iter().filter_map(|s| s.limit(Duration::ZERO)).all(|limit| limit >= second));
    }
}
