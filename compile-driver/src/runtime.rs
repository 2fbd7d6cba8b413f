//! The small C runtime that derivatives are linked with, compiled once per tool set and kept in the cache.

use crate::cache::{self, Cache};
use crate::error::Result;
use crate::frontend;
use crate::process;
use crate::toolchain::Tools;
use core_ad::diagnostics::Diagnosis;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const ARENA: &str = include_str!("../runtime/arena.c");

/// Bitcode of the tape arena.
///
/// # Errors
///
/// A compile error where the C compiler cannot build it (no headers), or a cache error.
pub fn arena(tools: &Tools, cache: &Cache) -> Result<PathBuf> {
    let digest = blake3::hash(format!("{}\n{ARENA}", tools.clang.version).as_bytes()).to_hex();
    let folder = cache.root().join("runtime").join(&digest[..16]);
    let bitcode = folder.join("arena.bc");
    if bitcode.is_file() {
        return Ok(bitcode);
    }
    let staging = cache.staging()?;
    let source = staging.path().join("arena.c");
    std::fs::write(&source, ARENA).map_err(cache::io("write", &source))?;
    let mut command = Command::new(&tools.clang.path);
    command.args(["-O2", "-fPIC", "-c", "-emit-llvm", "-o"]).arg(staging.path().join("arena.bc")).arg(&source);
    let failed = |text: String| {
        frontend::compile_error(
            Diagnosis::new("runtime", "arena", "ffgrad's own C runtime does not compile")
                .quote(text)
                .advise("Run `ffgrad doctor`: the C library's headers may be missing. arena=False does without."),
        )
    };
    let output = process::run(&mut command, None, Duration::from_secs(60)).map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    cache.publish(staging, &folder)?;
    Ok(bitcode)
}
