//! Notes what a verification is doing, so that the death of its process can be judged.
//!
//! The prover watches: it gives a page of memory that outlives the verifying process, and each evaluation is noted there before it
//! begins, with a time limit for those that can be abandoned. In a process that nobody watches all of this does nothing.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
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
    /// The same, for as long as it takes.
    AllBounds,
}

impl Stage {
    const ALL: [Stage; 8] = [
        Stage::Loading,
        Stage::Function,
        Stage::MovedFunction,
        Stage::Derivative,
        Stage::OtherFunction,
        Stage::OtherDerivative,
        Stage::Bounds,
        Stage::AllBounds,
    ];

    /// How long an evaluation may take where the function took `usual` at the caller's values; `None`: as long as it takes.
    fn limit(self, usual: Duration) -> Option<Duration> {
        let (least, times) = match self {
            Stage::Loading | Stage::Function | Stage::AllBounds => return None,
            Stage::MovedFunction | Stage::OtherFunction => (2, 20),
            Stage::Derivative => (60, 200),
            Stage::OtherDerivative => (10, 200),
            Stage::Bounds => (1, 0),
        };
        Some(Duration::from_secs(least) + times * usual)
    }
}

/// The longest name of a file that is noted.
const LONGEST: usize = 1024;

/// The stage in a page that the prover reads after the process's death, and which access of memory it died of.
pub struct Note {
    stage: AtomicU8,
    is_outside: AtomicBool,
    /// 1 more than the argument whose bounds were left.
    argument: AtomicU8,
    offset: AtomicI64,
    /// 1 more than whether it was a write.
    write: AtomicU8,
    line: AtomicU32,
    file: [AtomicU8; LONGEST],
}

/// An access of memory that is none of the function's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The argument in front of which or behind which it is.
    pub argument: Option<usize>,
    /// Bytes from the start of that.
    pub offset: i64,
    /// Whether it is a write, where that is known.
    pub is_write: Option<bool>,
    /// File and line, where they are known.
    pub line: Option<(String, u32)>,
}

impl Default for Note {
    fn default() -> Self {
        Note {
            stage: AtomicU8::new(0),
            is_outside: AtomicBool::new(false),
            argument: AtomicU8::new(0),
            offset: AtomicI64::new(0),
            write: AtomicU8::new(0),
            line: AtomicU32::new(0),
            file: [const { AtomicU8::new(0) }; LONGEST],
        }
    }
}

impl Note {
    /// What was being evaluated last.
    pub fn stage(&self) -> Stage {
        Stage::ALL[usize::from(self.stage.load(Ordering::Relaxed)).min(Stage::ALL.len() - 1)]
    }

    /// Forgets an earlier process's.
    pub fn clear(&self) {
        self.stage.store(Stage::Loading as u8, Ordering::Relaxed);
        self.is_outside.store(false, Ordering::Relaxed);
        self.argument.store(0, Ordering::Relaxed);
        self.write.store(0, Ordering::Relaxed);
        self.line.store(0, Ordering::Relaxed);
    }

    /// The access that ended the process, where one did.
    pub fn access(&self) -> Option<Access> {
        let byte = |place: &AtomicU8| place.load(Ordering::Relaxed);
        let name: Vec<u8> = self.file.iter().map(byte).take_while(|byte| *byte != 0).collect();
        let line = self.line.load(Ordering::Relaxed);
        self.is_outside.load(Ordering::Relaxed).then(|| Access {
            argument: usize::from(byte(&self.argument)).checked_sub(1),
            offset: self.offset.load(Ordering::Relaxed),
            is_write: byte(&self.write).checked_sub(1).map(|write| write == 1),
            line: (line > 0).then(|| (String::from_utf8_lossy(&name).into_owned(), line)),
        })
    }

    /// Notes an access. `argument`: whose bounds were left, and by how many bytes from its start. May be called by a signal's handler.
    pub fn set_access(&self, argument: Option<(usize, i64)>, is_write: Option<bool>) {
        let (argument, offset) = argument.map_or((0, 0), |(argument, offset)| (argument + 1, offset));
        self.argument.store(u8::try_from(argument).unwrap_or(0), Ordering::Relaxed);
        self.offset.store(offset, Ordering::Relaxed);
        self.write.store(is_write.map_or(0, |write| 1 + u8::from(write)), Ordering::Relaxed);
        self.is_outside.store(true, Ordering::Relaxed);
    }

    /// Notes its line. May be called by a signal's handler.
    pub fn set_line(&self, line: u32, file: impl Iterator<Item = u8>) {
        self.line.store(line, Ordering::Relaxed);
        let bytes = file.take(LONGEST - 1).chain(std::iter::once(0));
        self.file.iter().zip(bytes).for_each(|(place, byte)| place.store(byte, Ordering::Relaxed));
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
    note.stage.store(stage as u8, Ordering::Relaxed);
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
            note.stage.store(stage as u8, Ordering::Relaxed);
            assert_eq!(note.stage(), stage);
        }
        note.clear();
        assert_eq!(note.stage(), Stage::Loading);
    }

    #[test]
    fn a_note_holds_an_access_with_its_line() {
        let note = Note::default();
        assert_eq!(note.access(), None);
        note.set_access(Some((2, -8)), Some(true));
        note.set_line(7, "a longer name.c".bytes());
        note.set_line(31, "pick.c".bytes());
        let expected =
            Access { argument: Some(2), offset: -8, is_write: Some(true), line: Some(("pick.c".to_owned(), 31)) };
        assert_eq!(note.access(), Some(expected));
        note.clear();
        assert_eq!(note.access(), None);
        note.set_access(None, None);
        assert_eq!(note.access(), Some(Access { argument: None, offset: 0, is_write: None, line: None }));
    }

    #[test]
    fn what_the_caller_asked_for_may_take_as_long_as_it_takes() {
        let second = Duration::from_secs(1);
        assert_eq!(Stage::Function.limit(second), None);
        assert_eq!(Stage::OtherFunction.limit(second), Some(22 * second));
        assert!(Stage::ALL.iter().filter_map(|s| s.limit(Duration::ZERO)).all(|limit| limit >= second));
    }
}
