//! Keeps the user's files out of the prover's reach, on Linux.
//!
//! A check runs the user's function some dozens of times, and a function may write a log or a result. This program defines libc's
//! functions that open and remove files, and its own definitions come before libc's for everything that it loads. In a check a file opened for
//! writing is a copy in memory, which later opens in the same check see, and nothing is removed.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, IntoRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The copies in memory, by the path of what they stand for; `None` outside of checks.
static COPIES: Mutex<Option<BTreeMap<PathBuf, CString>>> = Mutex::new(None);

/// From now on this process writes to no file.
pub(super) fn isolate() {
    *COPIES.lock().unwrap_or_else(PoisonError::into_inner) = Some(BTreeMap::new());
}

/// The path to open instead of `path`; `None`: itself.
fn instead_of(path: &CStr, writes: bool) -> Option<CString> {
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    let copies = copies.as_mut()?;
    let path = absolute(path)?;
    if let Some(copy) = copies.get(&path) {
        return Some(copy.clone());
    }
    if !writes {
        return None;
    }
    let copy = copy_in_memory(&path).ok()?;
    copies.insert(path, copy.clone());
    Some(copy)
}

/// The path as seen from any folder; `None` for devices, which are no files.
fn absolute(path: &CStr) -> Option<PathBuf> {
    let path = std::path::absolute(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()))).ok()?;
    (!path.starts_with("/dev") && !path.starts_with("/proc")).then_some(path)
}

fn copy_in_memory(path: &Path) -> io::Result<CString> {
    // SAFETY: the name ends with a zero byte; the descriptor, if there is one, is new and nobody else's.
    let mut copy = match unsafe { libc::memfd_create(c"ffgrad".as_ptr(), 0) } {
        -1 => return Err(io::Error::last_os_error()),
        // SAFETY: as above.
        descriptor => unsafe { File::from_raw_fd(descriptor) },
    };
    if let Some(mut original) = real_open(path) {
        io::copy(&mut original, &mut copy)?;
    }
    // It stays open until the process ends.
    Ok(CString::new(format!("/proc/self/fd/{}", copy.into_raw_fd()))?)
}

/// The file itself, for reading.
fn real_open(path: &Path) -> Option<File> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: a system call with a C string; the descriptor, if there is one, is new.
    unsafe {
        let opened =
            libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0);
        c_int::try_from(opened).ok().filter(|fd| *fd >= 0).map(|fd| File::from_raw_fd(fd))
    }
}

fn is_checking() -> bool {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Forgets the copy of a file that is removed, or gives it to another path.
fn moved(path: *const c_char, target: Option<*const c_char>) {
    // SAFETY: the caller's C strings.
    let name = |path: *const c_char| absolute(unsafe { CStr::from_ptr(path) });
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some(copies), Some(path)) = (copies.as_mut(), name(path))
        && let Some(copy) = copies.remove(&path)
        && let Some(target) = target.and_then(name)
    {
        copies.insert(target, copy);
    }
}

/// libc's own function of a name.
fn next(name: &CStr) -> *mut c_void {
    // SAFETY: only an address is looked up.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// Opens by the system call, as libc does: it is called before anything can be looked up.
unsafe fn open_instead(folder: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    let writes = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) != 0;
    // SAFETY: the caller's C string.
    let given = unsafe { CStr::from_ptr(path) };
    let is_known = folder == libc::AT_FDCWD || given.to_bytes().starts_with(b"/");
    let other = if is_known { instead_of(given, writes) } else { None };
    let (path, flags) = match &other {
        // It exists, whatever the flags ask.
        Some(other) => (other.as_ptr(), flags & !(libc::O_EXCL | libc::O_NOFOLLOW)),
        None => (path, flags),
    };
    // SAFETY: the caller's arguments, or a path that lives until the call returns.
    let opened = unsafe { libc::syscall(libc::SYS_openat, folder, path, flags, mode) };
    opened as c_int
}

type OpenStream = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut libc::FILE;
type ReopenStream = unsafe extern "C" fn(*const c_char, *const c_char, *mut libc::FILE) -> *mut libc::FILE;
type OnPath = unsafe extern "C" fn(*const c_char) -> c_int;
type OnPaths = unsafe extern "C" fn(*const c_char, *const c_char) -> c_int;
type OnPathWithMode = unsafe extern "C" fn(*const c_char, libc::mode_t) -> c_int;

/// The path for a stream of this mode.
unsafe fn stream_instead(path: *const c_char, mode: *const c_char) -> Option<CString> {
    if path.is_null() || mode.is_null() {
        return None;
    }
    // SAFETY: the caller's C strings.
    let (path, mode) = unsafe { (CStr::from_ptr(path), CStr::from_ptr(mode)) };
    instead_of(path, mode.to_bytes().iter().any(|c| b"wa+".contains(c)))
}

macro_rules! opens {
    ($($name:ident)*) => {$(
        // SAFETY: takes the place of libc's function, with its arguments.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
            // SAFETY: passed on from the caller.
            unsafe { open_instead(libc::AT_FDCWD, path, flags, mode) }
        }
    )*};
}
macro_rules! opens_at {
    ($($name:ident)*) => {$(
        // SAFETY: takes the place of libc's function, with its arguments.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(folder: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
            // SAFETY: passed on from the caller.
            unsafe { open_instead(folder, path, flags, mode) }
        }
    )*};
}
macro_rules! opens_streams {
    ($($name:ident $real:literal)*) => {$(
        // SAFETY: takes the place of libc's function, with its arguments.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
            // SAFETY: passed on from the caller; libc's function has this type.
            unsafe {
                let other = stream_instead(path, mode);
                let real = std::mem::transmute::<*mut c_void, OpenStream>(next($real));
                real(other.as_ref().map_or(path, |other| other.as_ptr()), mode)
            }
        }
    )*};
}
macro_rules! reopens_streams {
    ($($name:ident $real:literal)*) => {$(
        // SAFETY: takes the place of libc's function, with its arguments.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char, file: *mut libc::FILE) -> *mut libc::FILE {
            // SAFETY: passed on from the caller; libc's function has this type.
            unsafe {
                let other = stream_instead(path, mode);
                let real = std::mem::transmute::<*mut c_void, ReopenStream>(next($real));
                real(other.as_ref().map_or(path, |other| other.as_ptr()), mode, file)
            }
        }
    )*};
}
/// What removes or makes names does nothing in a check, and succeeds.
macro_rules! does_nothing {
    ($($name:ident $real:literal $ty:ty [$($arg:ident: $arg_ty:ty),*] $target:expr;)*) => {$(
        // SAFETY: takes the place of libc's function, with its arguments.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char $(, $arg: $arg_ty)*) -> c_int {
            if is_checking() {
                moved(path, $target);
                return 0;
            }
            // SAFETY: passed on from the caller; libc's function has this type.
            unsafe { std::mem::transmute::<*mut c_void, $ty>(next($real))(path $(, $arg)*) }
        }
    )*};
}

opens! { open open64 }
opens_at! { openat openat64 }
opens_streams! { fopen c"fopen" fopen64 c"fopen64" }
reopens_streams! { freopen c"freopen" freopen64 c"freopen64" }
does_nothing! {
    unlink c"unlink" OnPath [] None;
    remove c"remove" OnPath [] None;
    rmdir c"rmdir" OnPath [] None;
    rename c"rename" OnPaths [target: *const c_char] Some(target);
    mkdir c"mkdir" OnPathWithMode [mode: libc::mode_t] None;
}

// SAFETY: takes the place of libc's function, with its arguments.
#[unsafe(no_mangle)]
unsafe extern "C" fn creat(path: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: passed on from the caller.
    unsafe { open_instead(libc::AT_FDCWD, path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode) }
}
