//! Functions that `ffgrad/_tf/library.py` calls directly: opening a function, checking the inputs of a node before it runs, and
//! where warnings go.

use crate::api::from_tensorflow;
use compile_driver::call::arguments;
use compile_driver::os::interrupt::{self, Host};
use compile_driver::registry::{self, Trouble};
use compile_driver::{Function, Input, View};
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
        // SAFETY: the handler is Python's and lives until it is withdrawn; the text outlives the call.
        (Some(handler), Ok(text)) => unsafe { handler(text.as_ptr()) },
        _ => eprintln!("ffgrad: {text}"),
    }
}

/// Sets the host program, which is asked during builds whether they are to end.
///
/// # Safety
///
/// `host` is null or a host whose functions live as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_tf_embed(host: *const Host) {
    // SAFETY: promised by the caller.
    if let Some(host) = unsafe { host.as_ref() } {
        interrupt::embed(*host);
    }
}

/// Opens the function of an attribute now, while its sources are as the caller read them.
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

/// What is known of a node's inputs while its graph is built.
#[repr(C)]
pub struct Known {
    /// Number of inputs.
    count: usize,
    /// `TF_DataType` of each.
    types: *const i32,
    /// Rank of each; null where a shape is not known, and then only types are checked.
    ranks: *const i32,
    /// All dimensions, one input after the other.
    dims: *const i64,
}

/// Checks inputs as the kernel will. Returns 0 if they fit, else writes the reason.
///
/// # Safety
///
/// `attribute` is a C string, the arrays of `known` have the lengths in it, `message` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ffgrad_tf_check(
    attribute: *const c_char,
    known: *const Known,
    message: *mut u8,
    size: usize,
) -> i32 {
    // SAFETY: promised by the caller.
    let (attribute, known) = unsafe { (CStr::from_ptr(attribute), &*known) };
    let Ok(attribute) = attribute.to_str() else { return 0 };
    let entry = registry::entry(attribute);
    // A failure to open is reported when it runs.
    let Ok(function) = entry.function(attribute) else { return 0 };
    // SAFETY: promised by the caller.
    let Some(text) = (unsafe { misfit(function, known) }) else { return 0 };
    let length = text.len().min(size.saturating_sub(1));
    // SAFETY: at most `size` bytes.
    unsafe {
        message.copy_from_nonoverlapping(text.as_ptr(), length);
        message.add(length).write(0);
    }
    1
}

/// Why the inputs do not fit.
///
/// # Safety
///
/// The arrays have the lengths in `known`.
unsafe fn misfit(function: &Function, known: &Known) -> Option<String> {
    let mut inputs = Vec::with_capacity(known.count);
    let mut at = 0;
    for i in 0..known.count {
        // SAFETY: within the arrays.
        let dtype = from_tensorflow(unsafe { *known.types.add(i) })?;
        let shape: &[i64] = match known.ranks.is_null() {
            true => &[],
            // SAFETY: within the arrays.
            false => unsafe {
                let rank = *known.ranks.add(i) as usize;
                at += rank;
                if rank == 0 { &[] } else { std::slice::from_raw_parts(known.dims.add(at - rank), rank) }
            },
        };
        inputs.push(Input::Array(View { data: std::ptr::null(), dtype, shape, strides: None }));
    }
    let outcome = match known.ranks.is_null() {
        true => arguments::check_types(&function.spec().function, &function.manifest().plan, &inputs),
        false => function.resolve(&inputs).map(drop),
    };
    outcome.err().map(|e| e.to_string())
}
