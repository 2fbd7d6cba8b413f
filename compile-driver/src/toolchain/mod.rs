//! The programs ffgrad drives: found, installed, checked.
//!
//! Input: the environment, PATH, the system's folders and ffgrad's own tool folder. Output: [`Tools`], which the build
//! stages take as given. [`find`] looks and starts nothing when it has seen the same files before; [`install`] fetches
//! pinned builds through pip, without root; [`doctor`] tries everything and says what to do about what fails.
//!
//! | tool | looked for in this order |
//! |---|---|
//! | clang, clang++ | `FFGRAD_CLANG` (`FFGRAD_CLANGXX`), `clang-22` then `clang` on PATH, `/usr/lib/llvm-22/bin`, installed |
//! | ld.lld | `FFGRAD_LLD`, beside clang, `ld.lld-22` on PATH, installed; optional |
//! | catalyst | `FFGRAD_CATALYST`, installed |
//! | plugin, opt | the option, `FFGRAD_ENZYME_PLUGIN`, well-known places; `FFGRAD_OPT`, `opt-NN` |
//! | LLVM 15 and its Enzyme plugin (for CUDA) | installed, by `ffgrad toolchain install cuda` |
//! | libdevice, ptxas (for CUDA) | a CUDA toolkit that fits: `CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`; installed with the above |
//! | ffgrad-llvm | `FFGRAD_WORKER`, beside this program, [`add_worker_dir`], PATH |
//! | flang | `FFGRAD_FLANG`, `flang-22`, `flang-new`, `flang` of LLVM 22 on PATH, installed; for Fortran sources only |
//! | libLLVM | `FFGRAD_LLVM_LIB_DIR`, the system's folders, installed |
//! | libomp | the one that the process has loaded, `FFGRAD_OPENMP`, the system's, installed; looked for when a program
//! | | that uses OpenMP is loaded |

mod apt;
mod blas;
mod clang;
mod cuda;
mod doctor;
mod engine;
mod error;
mod fortran;
mod install;
mod memo;
mod mpi;
mod openmp;
mod pins;
mod pip;
mod place;
mod probe;
mod progress;
mod stdlib;
mod toolkit;
mod unpack;
mod worker;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

pub use blas::{Blas, find_blas, install_blas};
pub use cuda::CudaTools;
pub use doctor::{Check, Status, doctor, render};
pub use error::ToolchainError;
pub use fortran::{Fortran, find_fortran, install_fortran};
pub use install::{Installed, Report, install, install_missing};
pub use mpi::{Mpi, mpi};
pub use openmp::{openmp_candidates, openmp_headers};
pub use pins::Component;
pub use place::{add_worker_dir, add_worker_dir_beside};
pub use progress::{Progress, Silent, progress_on_stderr};

use memo::Memo;
use place::Place;

/// How a tool came to be the one that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Named in the call's options.
    Option,
    /// Named by an environment variable.
    Env,
    /// Found on the system.
    System,
    /// Installed by `ffgrad toolchain install`.
    Installed,
}

/// A program and what it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    /// The program's file.
    pub path: PathBuf,
    /// Its version, as it says itself: `22.1.8`.
    pub version: String,
    /// How it was found.
    pub origin: Origin,
    /// SHA-256 of the program's file; for an installed tool, of the wheel it came from.
    pub digest: String,
}

/// What differentiates.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The `catalyst` driver, a filter on LLVM 22's textual IR.
    Catalyst(Tool),
    /// An Enzyme pass plugin and the `opt` that loads it.
    Plugin {
        /// `opt-NN`.
        opt: Tool,
        /// `LLVMEnzyme-NN.so`.
        plugin: PathBuf,
        /// NN: the LLVM both were built for.
        llvm_major: u32,
        /// SHA-256 of the plugin's file.
        digest: String,
    },
}

impl Engine {
    /// What kind of engine, which version, and the digest of its content: all a cache key needs.
    pub fn version(&self) -> String {
        match self {
            Self::Catalyst(tool) => format!("catalyst {} {}", tool.version, tool.digest),
            Self::Plugin { opt, llvm_major, digest, .. } => {
                format!("plugin LLVM {llvm_major} {digest}, opt {} {}", opt.version, opt.digest)
            }
        }
    }
}

/// Which engine the caller wants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum EngineChoice {
    /// Catalyst if it is there, else a plugin.
    #[default]
    Auto,
    /// Catalyst or nothing.
    Catalyst,
    /// A plugin: this one, or where there is none the one found by itself.
    Plugin(Option<PathBuf>),
}

/// Everything a build needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tools {
    /// The C compiler.
    pub clang: Tool,
    /// The C++ compiler, of the same installation.
    pub clangxx: Tool,
    /// `ld.lld`, where there is one; else clang's default linker is used.
    pub linker: Option<PathBuf>,
    /// What differentiates.
    pub engine: Engine,
    /// The worker `ffgrad-llvm`.
    pub worker: Tool,
    /// The Fortran compiler, where a source needs it: [`Tools::with_fortran`].
    pub fortran: Option<Fortran>,
    /// Folders for the worker's `LD_LIBRARY_PATH`; empty where the system's loader finds libLLVM by itself.
    pub llvm_lib_dirs: Vec<PathBuf>,
    /// clang++ options that choose a standard library whose headers are there. For compiling.
    pub stdlib_flags: Vec<String>,
    /// clang++ options for linking against that library. Beside, not instead of, [`Tools::stdlib_flags`].
    pub stdlib_link_flags: Vec<String>,
}

impl Tools {
    /// What a cache key has to know of the tools: name, version and digest, in a fixed order, no paths, no times.
    pub fn identities(&self) -> Vec<(&'static str, String)> {
        let of = |tool: &Tool| format!("{} {}", tool.version, tool.digest);
        let mut all = vec![
            ("clang", of(&self.clang)),
            ("clang++", of(&self.clangxx)),
            ("worker", of(&self.worker)),
            ("engine", self.engine.version()),
            ("rules", crate::library::digest()),
            ("driver", driver()),
        ];
        all.extend(self.fortran.as_ref().map(Fortran::identity));
        all
    }

    /// The same tools with the Fortran compiler.
    ///
    /// # Errors
    /// As [`find_fortran`].
    pub fn with_fortran(self) -> Result<Self, ToolchainError> {
        Ok(Self { fortran: Some(find_fortran()?), ..self })
    }

    /// A command for the worker, with the library path it needs.
    pub fn worker_command(&self) -> Command {
        let mut command = Command::new(&self.worker.path);
        worker::with_libraries(&mut command, &self.llvm_lib_dirs);
        command
    }
}

/// What of ffgrad itself takes part in derivatives beside the worker and the rules: its version, what it asks of the engine, and the
/// runtime that it links.
fn driver() -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(crate::engine::defaults().as_bytes());
    for text in crate::runtime::SOURCES.iter().chain(&crate::mpi::SOURCES) {
        hash.update(text.as_bytes()).update(&[0]);
    }
    format!("{} {}", env!("CARGO_PKG_VERSION"), &hash.finalize().to_hex()[..12])
}

/// Finds every tool a build needs.
///
/// The first time this asks each tool for its version (about a second); after that it takes about a millisecond.
///
/// # Errors
/// [`ToolchainError`] for the first tool that is missing or unusable.
pub fn find(choice: &EngineChoice) -> Result<Tools, ToolchainError> {
    find_in(&Place::here(), choice)
}

/// The folder that holds `libLLVM.so.22.1`, for linking the worker against it.
///
/// # Errors
/// [`ToolchainError::Missing`] where there is none.
pub fn llvm_library_folder() -> Result<PathBuf, ToolchainError> {
    let place = Place::here();
    worker::library_folder(&place, &place.tools_dir()?)
}

fn find_in(place: &Place, choice: &EngineChoice) -> Result<Tools, ToolchainError> {
    let tools_dir = place.tools_dir()?;
    let mut memo = Memo::open(&tools_dir);
    let found = search(place, &tools_dir, choice, &mut memo);
    memo.keep();
    found
}

fn search(place: &Place, tools_dir: &Path, choice: &EngineChoice, memo: &mut Memo) -> Result<Tools, ToolchainError> {
    let clang = clang::find_clang(place, tools_dir, memo)?;
    let clangxx = clang::find_clangxx(place, &clang, memo)?;
    let linker = clang::find_linker(place, tools_dir, &clang);
    let engine = engine::find_engine(place, tools_dir, choice, memo)?;
    let llvm_lib_dirs = worker::find_llvm(place, tools_dir)?;
    let worker = worker::find_worker(place, &llvm_lib_dirs, memo)?;
    let stdlib = stdlib::choose(place, &clangxx, memo);
    Ok(Tools {
        linker,
        engine,
        worker,
        fortran: None,
        llvm_lib_dirs,
        stdlib_flags: stdlib.compile_flags(),
        stdlib_link_flags: stdlib.link_flags(tools_dir),
        clang,
        clangxx,
    })
}

/// `a:b` for a list of folders, before what the variable already held.
fn joined(dirs: &[PathBuf], old: Option<OsString>) -> Option<OsString> {
    let old: Vec<_> = old.iter().flat_map(std::env::split_paths).collect();
    // A folder with a colon in its name cannot be put on a search path at all.
    std::env::join_paths(dirs.iter().chain(&old)).ok()
}

#[cfg(test)]
mod install_tests;
#[cfg(test)]
mod tests;
