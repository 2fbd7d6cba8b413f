//! The small C runtime that derivatives are linked with, compiled once per tool set and kept in the cache.

use crate::cache::{self, Cache, contents};
use crate::error::{Error, Result};
use crate::os::process;
use crate::toolchain::{self, Tools};
use core_ad::diagnostics::Diagnosis;
use core_ad::protocol::OpenMp;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const ARENA: &str = include_str!("../../runtime/arena.c");
const OPENMP: &str = include_str!("../../runtime/openmp.c");

const CHECKPOINT: &str = include_str!("../../runtime/checkpoint.c");
const LAUNCH: &str = include_str!("../../runtime/launch.c");

/// All of them, for keys.
pub const SOURCES: [&str; 4] = [ARENA, OPENMP, LAUNCH, CHECKPOINT];

/// Bitcode of the tape arena.
///
/// # Errors
///
/// A compile error where the C compiler cannot build it (no headers), or a cache error.
pub fn arena(tools: &Tools, cache: &Cache) -> Result<PathBuf> {
    // Memory that held floating-point values is reused for headers and links of free blocks. Separated by TBAA, and inlined
    // into the derivative, LLVM exchanges the stores to both.
    bitcode(tools, cache, "arena", ARENA, &["-O2", "-fno-strict-aliasing"])
}

/// Bitcode of the loops that run a CUDA kernel on the CPU.
///
/// # Errors
///
/// As [`arena`].
pub fn launch(tools: &Tools, cache: &Cache) -> Result<PathBuf> {
    bitcode(tools, cache, "launch", LAUNCH, &["-O2"])
}

/// Bitcode of what runs and reverses checkpointed loops.
///
/// # Errors
///
/// As [`arena`].
pub fn checkpoint(tools: &Tools, cache: &Cache) -> Result<PathBuf> {
    // It copies memory of any type.
    bitcode(tools, cache, "checkpoint", CHECKPOINT, &["-O2", "-fno-strict-aliasing"])
}

/// Bitcode of what takes the place of OpenMP's runtime around differentiation.
///
/// # Errors
///
/// As [`arena`].
pub fn openmp(tools: &Tools, cache: &Cache) -> Result<OpenMp> {
    // Differentiated code is to be plain, and vectors of loop bounds are not.
    let compiled = |part: &str| {
        bitcode(tools, cache, "openmp", OPENMP, &["-O1", "-fno-vectorize", "-fno-slp-vectorize", &format!("-D{part}")])
    };
    Ok(OpenMp { one: compiled("ONE")?, many: compiled("MANY")?, team: compiled("TEAM")?, is_for_one: false })
}

/// One of the sources as bitcode, from the cache or compiled now.
fn bitcode(tools: &Tools, cache: &Cache, name: &str, text: &str, flags: &[&str]) -> Result<PathBuf> {
    let digest = blake3::hash(format!("{}\n{}\n{text}", tools.clang.version, flags.join(" ")).as_bytes()).to_hex();
    let folder = cache.root().join("runtime").join(&digest[..16]);
    let bitcode = folder.join(format!("{name}.bc"));
    if contents::is_whole(&folder) {
        return Ok(bitcode);
    }
    let staging = cache.staging()?;
    let source = staging.path().join(format!("{name}.c"));
    std::fs::write(&source, text).map_err(cache::io("write", &source))?;
    let mut command = Command::new(&tools.clang.path);
    command.args(flags).args(["-fPIC", "-c", "-emit-llvm", "-o"]);
    command.arg(staging.path().join(format!("{name}.bc"))).arg(&source);
    let failed = |text: String| {
        Error::compile(
            Diagnosis::new("runtime", name, "ffgrad's own C runtime does not compile")
                .quote(text)
                .advise("Run `ffgrad doctor`: the C library's headers may be missing. arena=False does not need it."),
        )
    };
    let output = process::run(&mut command, None, Duration::from_secs(60)).map_err(|e| {
        let damage = toolchain::of_compiler(&tools.clang.path);
        damage.map_or_else(|| Error::of_child(e, name, |e| failed(e.to_string())).while_compiling(), Error::from)
    })?;
    if !output.status.success() {
        if let Some(damage) = toolchain::of_compiler(&tools.clang.path) {
            return Err(damage.into());
        }
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    contents::publish(cache, staging, &folder)?;
    Ok(bitcode)
}
