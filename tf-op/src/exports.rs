//! What `ffgrad/tf.py` calls directly: opening a function, and where warnings go.

use crate::registry::{self, Trouble};
use std::ffi::{CStr, CString, c_char};
use std::sync::Mutex;

/// Takes the text of a warning.
pub type Warn = unsafe extern "C" fn(*const c_char);

static WARN: Mutex<Option<Warn>> = Mutex::new(None);

/// Sets the function that takes warnings; null drops them to standard error.
#[unsafe(no_mangle)]
pub extern "C" fn ffgrad_tf_on_warning(warn: Option<Warn>) {
    *WARN.lock().unwrap_or_else(|e| e.into_inner()) = warn;
}

/// Hands a warning on. The lock is not held while the other side runs.
pub fn warn(text: &str) {
    let handler = *WARN.lock().unwrap_or_else(|e| e.into_inner());
    match (handler, CString::new(text.replace('\0', " "))) {
        // SAFETY: the handler is Python's and lives until it is taken back; the text outlives the call.
        (Some(handler), Ok(text)) => unsafe { handler(text.as_ptr()) },
        _ => eprintln!("ffgrad: {text}"),
    }
}

/// Opens the function of an attribute now, while its sources are as they were when the caller looked at them.
/// Returns 0 if it is open.
///
/// # Safety
///
/// `attribute` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_tf_open(attribute: *const c_char) -> i32 {
    // SAFETY: promised by the caller.
    let Ok(attribute) = unsafe { CStr::from_ptr(attribute) }.to_str() else { return 1 };
    match registry::entry(attribute).function(attribute) {
        Ok(_) => 0,
        Err(Trouble::Attribute(_) | Trouble::Driver(_)) => 1,
    }
}

/// Adds the folder of this library to where the worker is looked for: they are packaged side by side.
pub fn find_worker() {
    // SAFETY: all zeros is a valid `Dl_info`.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let here = find_worker as fn() as *const libc::c_void;
    // SAFETY: an address within this library, and room for the answer.
    if unsafe { libc::dladdr(here, &mut info) } == 0 || info.dli_fname.is_null() {
        return;
    }
    // SAFETY: a C string of the loader's.
    let file = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned();
    if let Some(folder) = std::path::Path::new(&file).parent() {
        compile_driver::toolchain::add_worker_dir(folder.to_owned());
    }
}
