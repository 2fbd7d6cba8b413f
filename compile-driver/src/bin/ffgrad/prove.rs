//! `ffgrad prove`: the prover's process.

#[cfg(target_os = "linux")]
mod files;

use std::process::ExitCode;

/// Serves the process at the other end of standard input, which is all that hears of an error: by its end.
pub fn run() -> ExitCode {
    ExitCode::from(u8::from(compile_driver::prover::server::serve(isolate).is_err()))
}

/// From now on this process writes to no file, and memory that nobody has written to holds no zeros.
fn isolate() {
    fill_new_memory();
    // Elsewhere a function that writes files writes them in checks too. macOS binds each library to the library that a name is from, so that
    // definitions in this program would be its own alone, and Rust's `File` would call them: dyld's interposing is what would do there.
    #[cfg(target_os = "linux")]
    files::isolate();
}

/// Has malloc fill its blocks with 0x40: as a double 32.5, as a float 3, as an address one that faults. Fresh memory of a process is zeros, so a
/// derivative that reads what it has not written would be right here, and wrong in a process that has used its memory before.
fn fill_new_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number of the allocator's, whose complement fills new blocks; this process has one thread.
    unsafe {
        libc::mallopt(libc::M_PERTURB, 0xbf);
    }
}
