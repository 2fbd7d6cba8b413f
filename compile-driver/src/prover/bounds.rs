//! Arguments between pages without access, so that a function that reads or writes behind an array ends here, and says which array it was.

use crate::verify::sample::Point;
use crate::verify::stage::Note;
use std::ffi::{c_int, c_void};
use std::io;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Bytes without access in front of each argument and behind it. They take up addresses, and no memory.
const GUARD: usize = 64 << 20;

/// What the arrays that are written hold before: a NaN that no computation makes, in either precision.
pub const UNTOUCHED: u64 = 0xFFF7_5A5A_FFF7_5A5A;

/// Where each argument's guards are, and the note that outlives this process.
struct Watched {
    note: &'static Note,
    /// First byte of the guard in front, of the argument's pages, of the guard behind, and its end.
    ranges: Vec<[usize; 4]>,
}

/// What is watched now. Never freed: a handler may read it at any time.
static WATCHED: AtomicPtr<Watched> = AtomicPtr::new(std::ptr::null_mut());

/// Which end of an argument borders on a guard to the byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Front,
    Back,
}

/// Copies the first `bytes` of each argument to pages of its own, and returns where they begin. What runs into a guard is noted before it ends.
///
/// # Errors
///
/// The system's: no addresses to be had.
pub fn place(values: &Point, bytes: &[usize], side: Side, note: &'static Note) -> io::Result<Vec<*mut u8>> {
    // SAFETY: a plain call.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let (mut places, mut ranges) = (Vec::new(), Vec::new());
    for (value, &bytes) in values.iter().zip(bytes) {
        let bytes = bytes.min(8 * value.len());
        let room = bytes.next_multiple_of(page);
        // SAFETY: a new mapping, of which the middle becomes accessible and is as large as the value.
        unsafe {
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let start = libc::mmap(std::ptr::null_mut(), GUARD + room + GUARD, libc::PROT_NONE, kind, -1, 0);
            if start == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let middle = start.cast::<u8>().add(GUARD);
            if room > 0 && libc::mprotect(middle.cast(), room, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                return Err(io::Error::last_os_error());
            }
            let place = if side == Side::Back { middle.add(room - bytes) } else { middle };
            place.copy_from_nonoverlapping(value.as_ptr().cast(), bytes);
            places.push(place);
            let first = start as usize;
            ranges.push([first, first + GUARD, first + GUARD + room, first + room + 2 * GUARD]);
        }
    }
    WATCHED.store(Box::into_raw(Box::new(Watched { note, ranges })), Ordering::Release);
    watch()?;
    Ok(places)
}

fn watch() -> io::Result<()> {
    // SAFETY: a structure of zeros is a valid action; the handler does what a handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = noted as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        // Once: the instruction is repeated, and then ends the process.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESETHAND;
        for signal in [libc::SIGSEGV, libc::SIGBUS] {
            if libc::sigaction(signal, &action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

extern "C" fn noted(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: null, or a structure that is never freed; and the system's structure for this signal.
    let (watched, address) = unsafe { (WATCHED.load(Ordering::Acquire).as_ref(), (*info).si_addr() as usize) };
    let Some(watched) = watched else { return };
    for (argument, [first, start, end, last]) in watched.ranges.iter().enumerate() {
        if (*first..*start).contains(&address) || (*end..*last).contains(&address) {
            watched.note.set_argument(argument);
        }
    }
}
