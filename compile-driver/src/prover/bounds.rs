//! Arguments between pages without access, so that a function that reads or writes behind an array ends here, and says which array it was.

use crate::load::artifact::AccessNote;
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
    /// Where the code notes its lines.
    accesses: Option<AccessNote>,
    ranges: Vec<Range>,
}

/// Addresses of an argument, its guards included: first to last, and where it begins.
struct Range {
    first: usize,
    last: usize,
    place: usize,
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
pub fn place(
    values: &Point,
    bytes: &[usize],
    side: Side,
    (note, accesses): (&'static Note, Option<AccessNote>),
) -> io::Result<Vec<*mut u8>> {
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
            ranges.push(Range { first, last: first + room + 2 * GUARD, place: place as usize });
        }
    }
    WATCHED.store(Box::into_raw(Box::new(Watched { note, accesses, ranges })), Ordering::Release);
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

extern "C" fn noted(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: null, or a structure that is never freed; and the system's structure for this signal.
    let (watched, address) = unsafe { (WATCHED.load(Ordering::Acquire).as_ref(), (*info).si_addr() as usize) };
    let Some(watched) = watched else { return };
    let argument = watched.ranges.iter().position(|range| (range.first..range.last).contains(&address));
    let offset = |argument: usize| address.wrapping_sub(watched.ranges[argument].place).cast_signed() as i64;
    watched.note.set_access(argument.map(|argument| (argument, offset(argument))), is_write(context));
    if let Some((line, file)) = watched.accesses.and_then(AccessNote::last) {
        watched.note.set_line(line, file);
    }
}

/// Whether the access was a write, where the processor says that.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn is_write(context: *mut c_void) -> Option<bool> {
    /// Bit 1 of a page fault's error code.
    const WRITE: i64 = 2;
    // SAFETY: the structure that the system gives to a handler of this kind.
    let context = unsafe { context.cast::<libc::ucontext_t>().as_ref() };
    context.map(|context| context.uc_mcontext.gregs[libc::REG_ERR as usize] & WRITE != 0)
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn is_write(_: *mut c_void) -> Option<bool> {
    None
}
